{{/* Names are fixed: definitions are the cluster's, so there is one installation in it. */}}

{{- define "dns-api.labels" -}}
app.kubernetes.io/name: dns-api
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "dns-api.selector" -}}
app.kubernetes.io/name: dns-api
app.kubernetes.io/component: {{ . }}
{{- end }}

{{- define "dns-api.image" -}}
{{ .image.repository }}:{{ .image.tag | default .root.Chart.AppVersion }}
{{- end }}

{{/* The names of the providers that are on, as JSON. */}}
{{- define "dns-api.enabled" -}}
{{- $names := list }}
{{- range $name, $provider := .Values.providers }}{{ if $provider.enabled }}{{ $names = append $names $name }}{{ end }}{{ end }}
{{- $names | sortAlpha | toJson }}
{{- end }}

{{/* The names of the providers whose conversion API is served, as JSON. */}}
{{- define "dns-api.converting" -}}
{{- $names := list }}
{{- if .Values.webhook.service.enabled }}
{{- range $name := include "dns-api.enabled" . | fromJsonArray }}
{{- $provider := get $.Values.providers $name }}
{{- if dig "endpoint" "conversionAPI" "enabled" true $provider }}{{ $names = append $names $name }}{{ end }}
{{- end }}
{{- end }}
{{- $names | toJson }}
{{- end }}

{{- define "dns-api.certificate" -}}
{{- if .Values.webhook.certManager.enabled }}dns-api-webhook-tls{{ else }}{{ .Values.webhook.tls.secretName }}{{ end }}
{{- end }}

{{- define "dns-api.pod-security" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{/* Pods of one component on different machines and zones, as far as there are any. */}}
{{- define "dns-api.spread" -}}
{{- range $key := list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
- maxSkew: 1
  topologyKey: {{ $key }}
  whenUnsatisfiable: ScheduleAnyway
  labelSelector:
    matchLabels:
      {{- include "dns-api.selector" $ | nindent 6 }}
{{- end }}
{{- end }}
