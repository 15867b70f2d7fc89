{{/* Names are fixed: definitions are the cluster's, so there is one installation in it. */}}

{{- define "dns-api.labels" -}}
app.kubernetes.io/name: dns-api
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
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

{{/* Where a manager is asked whether it is well: there where it answers the API server, if it does. */}}
{{- define "dns-api.manager-port" -}}
{{- if .Values.webhook.service.enabled -}}
port: webhook
scheme: HTTPS
{{- else -}}
port: http
{{- end -}}
{{- end }}

{{- define "dns-api.certificate" -}}
{{- if .Values.webhook.certManager.enabled }}dns-api-webhook-tls{{ else }}{{ .Values.webhook.tls.secretName }}{{ end }}
{{- end }}

{{/* The port of a URL, said or meant. */}}
{{- define "dns-api.url-port" -}}
{{- $url := urlParse . -}}
{{- trimPrefix ":" (regexFind ":[0-9]+$" $url.host) | default (ternary "443" "80" (eq $url.scheme "https")) -}}
{{- end }}

{{/* The text of a generated manifest, `file`, with the labels of the release. */}}
{{- define "dns-api.manifest" -}}
{{- $labels := include "dns-api.labels" .root | nindent 4 }}
{{- regexReplaceAllLiteral "(?m)^metadata:$" (.root.Files.Get .file) (printf "metadata:\n  labels:%s" $labels) }}
{{- end }}

{{/* What pods of every component have in common; `part` are the component's values. */}}
{{- define "dns-api.pod" -}}
# Environment variables named after Services would only get in the way of those that options have.
enableServiceLinks: false
{{- if .part.hostNetwork }}
hostNetwork: true
dnsPolicy: ClusterFirstWithHostNet
{{- end }}
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .part.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .part.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .part.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .part.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
topologySpreadConstraints:
  {{- if .part.topologySpreadConstraints }}
  {{- toYaml .part.topologySpreadConstraints | nindent 2 }}
  {{- else }}
  {{- include "dns-api.spread" .component | trim | nindent 2 }}
  {{- end }}
{{- end }}

{{- define "dns-api.pod-labels" -}}
{{ include "dns-api.labels" .root }}
app.kubernetes.io/component: {{ .component }}
{{- with .part.podLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* How pods are replaced: a new one first, unless two cannot stand on one node because they have the node's ports. */}}
{{- define "dns-api.strategy" -}}
type: RollingUpdate
rollingUpdate:
  maxUnavailable: {{ ternary 1 0 . }}
  maxSurge: {{ ternary 0 1 . }}
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
