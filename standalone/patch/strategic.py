"""Strategic merge patch: a merge patch that merges the lists it knows keys for, and takes directives.

Owns the merge of maps and its directives (`$patch`, `$retainKeys`, `$setElementOrder/…`, `$deleteFromPrimitiveList/…`).
Lists are merged in `strategic_list`. Only built-in kinds take this format.
"""

from __future__ import annotations

from typing import Any, Final

from standalone.patch.error import malformed, unsupported
from standalone.patch.mergekey import MergeFields, merge_fields
from standalone.patch.strategic_list import in_order, merge_items, removed_values
from standalone.resource import Resource

_DIRECTIVE: Final = "$patch"
_RETAIN_KEYS: Final = "$retainKeys"
_SET_ORDER: Final = "$setElementOrder/"
_DELETE_VALUES: Final = "$deleteFromPrimitiveList/"

JsonObject = dict[str, Any]


def strategic_merge_patch(document: JsonObject, patch: Any, resource: Resource) -> JsonObject:
    """Return `document` with `patch` merged in by the rules of its kind.

    Raises PatchError: 400 for a malformed patch, 415 for custom resources, whose lists have no known merge keys, 422
    for list items without their key.
    """
    if resource.custom:
        raise unsupported(
            "the body of the request was in an unknown format - accepted media types include: "
            "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"
        )
    if not isinstance(patch, dict):
        raise malformed("error decoding patch: a strategic merge patch must be an object")
    return _merge_maps(document, patch, merge_fields(resource))


def _merge_maps(original: JsonObject, patch: JsonObject, fields: MergeFields) -> JsonObject:
    if _DIRECTIVE in patch:
        return _directed(patch)
    result = _retained(original, patch)
    ordered = {name.removeprefix(_SET_ORDER): order for name, order in patch.items() if name.startswith(_SET_ORDER)}
    for name, order in ordered.items():
        _set_list_in_order(result, name, patch.get(name), order, fields)
    for name, value in patch.items():
        if name.startswith(_DELETE_VALUES):
            _delete_values(result, name.removeprefix(_DELETE_VALUES), value)
        elif name != _RETAIN_KEYS and not name.startswith(_SET_ORDER) and name not in ordered:
            _set_member(result, name, value, fields)
    return result


def _directed(patch: JsonObject) -> JsonObject:
    directive = patch[_DIRECTIVE]
    if directive == "replace":
        return {name: value for name, value in patch.items() if name != _DIRECTIVE}
    if directive == "delete":
        return {}
    raise malformed(f"unknown patch type: {directive}; a map takes `$patch: replace` or `$patch: delete`")


def _retained(original: JsonObject, patch: JsonObject) -> JsonObject:
    if _RETAIN_KEYS not in patch:
        return dict(original)
    retained = patch[_RETAIN_KEYS]
    if not isinstance(retained, list):
        raise malformed("invalid patch format of retainKeys")
    for name, value in patch.items():
        if value is not None and not name.startswith("$") and name not in retained:
            raise malformed("invalid patch format of retainKeys")
    return {name: value for name, value in original.items() if name in retained}


def _set_member(result: JsonObject, name: str, value: Any, fields: MergeFields) -> None:
    current = result.get(name)
    if value is None:
        result.pop(name, None)
    elif isinstance(value, dict) and isinstance(current, dict):
        result[name] = _merge_maps(current, value, fields.below(name))
    elif isinstance(value, list) and isinstance(current, list) and name in fields.lists:
        result[name] = merge_items(current, value, fields.lists[name], _merge_maps)
    else:
        _replace_member(result, name, value, replaces_list=isinstance(value, list) and isinstance(current, list))


def _replace_member(result: JsonObject, name: str, value: Any, *, replaces_list: bool) -> None:
    """A list that replaces a list is taken word for word; anything else is taken without directives and nulls."""
    if replaces_list:
        result[name] = value
    elif isinstance(value, dict) and _DIRECTIVE in value:
        result.pop(name, None)
    else:
        result[name] = plain(value)


def plain(value: Any) -> Any:
    """Return a patch's value where there is nothing to merge it with: without directives and null members."""
    if isinstance(value, dict):
        return {
            name: plain(member)
            for name, member in value.items()
            if member is not None
            and not name.startswith("$")
            and not (isinstance(member, dict) and _DIRECTIVE in member)
        }
    if isinstance(value, list):
        return [plain(item) for item in value if not (isinstance(item, dict) and _DIRECTIVE in item)]
    return value


def _set_list_in_order(result: JsonObject, name: str, wanted: Any, order: Any, fields: MergeFields) -> None:
    if not isinstance(order, list) or not isinstance(wanted, list | None):
        raise malformed("invalid patch format of setElementOrder list")
    current = result.get(name)
    if not isinstance(current, list | None):
        raise malformed(f"expected a list in {name}, but found something else")
    if current is None and wanted is None:
        return
    merged_list = fields.lists.get(name)
    key = merged_list.key if merged_list is not None else ""
    if wanted is None or current is None:
        merged = current if wanted is None else plain(wanted)
    elif merged_list is None:
        merged = wanted
    else:
        merged = merge_items(current, wanted, merged_list, _merge_maps)
    result[name] = in_order(merged or [], order, current or [], key)


def _delete_values(result: JsonObject, name: str, values: Any) -> None:
    if not isinstance(values, list):
        raise malformed("invalid patch format of primitive list")
    current = result.get(name)
    if isinstance(current, list):
        result[name] = removed_values(current, values)
