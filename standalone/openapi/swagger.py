"""OpenAPI version 2: the one document of `GET /openapi/v2`, for clients that know nothing newer.

Owns the translation from the version 3 documents: another place for references and bodies, and a poorer schema
language, from which what it cannot say is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from standalone.openapi.document import info, v3_document
from standalone.resource import Resource

_SCHEMA_PREFIX = "#/components/schemas/"
_NOT_IN_V2 = frozenset({"anyOf", "default", "not", "nullable", "oneOf", "x-kubernetes-validations"})
_METHODS = frozenset({"delete", "get", "patch", "post", "put"})


def v2_document(resources: Sequence[Resource]) -> dict[str, Any]:
    """One document over every group version: `swagger: "2.0"`, definitions and paths."""
    paths: dict[str, Any] = {}
    definitions: dict[str, Any] = {}
    for group_version in sorted({resource.api_version for resource in resources}):
        document = v3_document(group_version, resources)
        if document is None:
            continue
        paths |= {path: _path_item(item) for path, item in document["paths"].items()}
        definitions |= {name: _schema(schema) for name, schema in document["components"]["schemas"].items()}
    return {
        "swagger": "2.0",
        "info": info(),
        "paths": dict(sorted(paths.items())),
        "definitions": dict(sorted(definitions.items())),
    }


def _schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema in version 2's words; open content and int-or-string carry no type there, as Kubernetes publishes it."""
    if len(schema.get("allOf", ())) == 1 and "$ref" in schema["allOf"][0]:
        return {"description": schema.get("description", ""), **_schema(schema["allOf"][0])}
    result: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "$ref":
            result[key] = f"#/definitions/{value.removeprefix(_SCHEMA_PREFIX)}"
        elif key == "properties":
            result[key] = {name: _schema(each) for name, each in value.items()}
        elif key in ("items", "additionalProperties") and isinstance(value, Mapping):
            result[key] = _schema(value)
        elif key == "allOf":
            result[key] = [_schema(each) for each in value]
        elif key not in _NOT_IN_V2:
            result[key] = value
    if schema.get("x-kubernetes-int-or-string") or schema.get("nullable"):
        result.pop("type", None)
    if schema.get("format") == "int-or-string":
        result["type"] = "string"
    return result


def _path_item(item: Mapping[str, Any]) -> dict[str, Any]:
    operations = {method: _operation(item[method]) for method in item if method in _METHODS}
    return {**operations, "parameters": [_parameter(each) for each in item["parameters"]]}


def _operation(operation: Mapping[str, Any]) -> dict[str, Any]:
    body = operation.get("requestBody")
    result = {key: value for key, value in operation.items() if key != "requestBody"}
    result["consumes"] = list(body["content"]) if body else ["*/*"]
    result["produces"] = ["application/json"]
    result["schemes"] = ["https"]
    result["parameters"] = [*_body_parameters(body), *(_parameter(each) for each in operation["parameters"])]
    result["responses"] = {code: _response(each) for code, each in operation["responses"].items()}
    return result


def _body_parameters(body: Mapping[str, Any] | None) -> Iterator[dict[str, Any]]:
    if body is not None:
        schema = next(iter(body["content"].values()))["schema"]
        yield {"name": "body", "in": "body", "required": body.get("required", False), "schema": _schema(schema)}


def _parameter(parameter: Mapping[str, Any]) -> dict[str, Any]:
    """Version 2 has a parameter's type on the parameter itself."""
    return {**{key: value for key, value in parameter.items() if key != "schema"}, **parameter["schema"]}


def _response(response: Mapping[str, Any]) -> dict[str, Any]:
    result = {"description": response["description"]}
    for media in response.get("content", {}).values():
        result["schema"] = _schema(media["schema"])
    return result
