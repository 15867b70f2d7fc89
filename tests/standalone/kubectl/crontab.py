"""The custom resource of these tests, and manifests of it."""

from __future__ import annotations

import json
from typing import Any

DEFINITION = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: crontabs.stable.example.com
spec:
  group: stable.example.com
  scope: Namespaced
  names: {plural: crontabs, singular: crontab, kind: CronTab, shortNames: [ct], categories: [all]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    additionalPrinterColumns:
    - {name: Schedule, type: string, jsonPath: .spec.schedule}
    - {name: Replicas, type: integer, jsonPath: .spec.replicas}
    - {name: Ready, type: string, jsonPath: '.status.conditions[?(@.type=="Ready")].status'}
    - {name: Image, type: string, jsonPath: .spec.image, priority: 1}
    - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}
    schema:
      openAPIV3Schema:
        type: object
        description: A job that runs on a schedule.
        required: [spec]
        properties:
          spec:
            type: object
            description: What is to run and when.
            required: [schedule]
            x-kubernetes-validations:
            - rule: "!has(self.mode) || self.mode != 'loud' || self.replicas >= 2"
              message: loud jobs need two replicas
            properties:
              schedule: {type: string, minLength: 5, description: When it runs.}
              image: {type: string, default: busybox, description: What it runs.}
              replicas: {type: integer, minimum: 0, maximum: 10, default: 1, description: How many of it run.}
              owner:
                type: string
                description: Whose it is.
                x-kubernetes-validations:
                - {rule: self == oldSelf, message: the owner cannot be changed}
              mode: {type: string, enum: [quiet, loud], description: How it runs.}
              steps:
                type: array
                description: The steps in order.
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items:
                  type: object
                  required: [name]
                  properties:
                    name: {type: string, description: The step.}
                    command: {type: string, description: Its command.}
          status:
            type: object
            description: How it goes.
            properties:
              conditions:
                type: array
                description: The observations.
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [type]
                items:
                  type: object
                  required: [type, status]
                  properties:
                    type: {type: string}
                    status: {type: string}
                    reason: {type: string}
                    message: {type: string}
                    lastTransitionTime: {type: string, format: date-time}
"""


def crontab(name: str = "nightly", *, labels: dict[str, str] | None = None, **spec: Any) -> str:
    """A manifest; JSON is YAML too."""
    metadata: dict[str, Any] = {"name": name} | ({"labels": labels} if labels else {})
    return json.dumps(
        {
            "apiVersion": "stable.example.com/v1",
            "kind": "CronTab",
            "metadata": metadata,
            "spec": {"schedule": "0 3 * * *"} | spec,
        }
    )
