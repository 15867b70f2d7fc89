"""A Provider with as much to say of a RecordSet as that of a large DNS service: options, adoption, a dozen rules, toggles."""

from __future__ import annotations

from typing import Any, Final

from controllers.api.group import API_VERSION

NAME: Final = "edge.bench.test"
VERSION: Final = "v1"
REF: Final = {"name": NAME, "version": VERSION}

_AUTO: Final = "self.spec.?options.?ttl.orValue('') == 'Auto'"
_PROXIED: Final = "self.spec.?options.?proxied.orValue(false)"
_TAGS: Final = "self.spec.?options.?tags.orValue([])"
_IDS: Final = "self.spec.?adoption.?recordIDs.orValue([])"

RULES: Final = (
    (f"!({_AUTO}) || !has(self.spec.ttl)", "An automatic ttl leaves spec.ttl out."),
    ("!has(self.spec.ttl) || (self.spec.ttl >= 60 && self.spec.ttl <= 86400)", "A fixed ttl is 60 to 86400 seconds."),
    (f"!({_PROXIED}) || self.spec.type in ['A', 'AAAA', 'CNAME']", "Only A, AAAA and CNAME can be proxied."),
    (f"!({_PROXIED}) || {_AUTO}", "A proxied record has an automatic ttl."),
    (
        "self.spec.type != 'MX' || !has(self.spec.mx) || !self.spec.mx.records.exists(each, each.exchange == '.')",
        "A Null MX is not possible.",
    ),
    (f"{_TAGS}.all(tag, !tag.startsWith('cf-'))", "Names of tags do not begin with cf-."),
    (
        f"{_TAGS}.all(tag, {_TAGS}.exists_one(other, other.lowerAscii() == tag.lowerAscii()))",
        "Tags are different whatever their case.",
    ),
    (f"{_TAGS}.all(tag, tag.matches('^[A-Za-z0-9_-]{{1,32}}:[^\\\\n]{{0,100}}$'))", "A tag is name:value."),
    (f"{_IDS}.all(id, {_IDS}.exists_one(other, other == id))", "An adopted record is named once."),
    (
        f"self.spec.type != 'A' || !has(self.spec.a) || size({_IDS}) == 0 || size({_IDS}) == size(self.spec.a.addresses)",
        "Adoption names as many records as there are addresses.",
    ),
    ("self.spec.type != 'NS' || !has(self.spec.options)", "A delegation has no options."),
    ("self.spec.?options.?comment.orValue('').size() <= 100", "A comment has at most 100 characters."),
)
TOGGLES: Final = (
    ("require-ttl", _AUTO),
    ("forbid-cname-apex", "self.spec.type == 'CNAME'"),
    ("forbid-txt-non-printable-ascii", "self.spec.type == 'TXT'"),
)


def provider() -> dict[str, Any]:
    """Return the Provider."""
    options = {
        "ttl": {"type": "string", "enum": ["Auto"], "description": "Auto for the service's own choice."},
        "proxied": {"type": "boolean", "description": "Whether the service stands before the address."},
        "comment": {"type": "string", "maxLength": 100, "description": "Note for people."},
        "tags": {
            "type": "array",
            "maxItems": 20,
            "description": "Tags as name:value.",
            "items": {"type": "string", "maxLength": 133},
        },
    }
    ids = {
        "type": "array",
        "maxItems": 64,
        "description": "The records to take over.",
        "items": {"type": "string", "pattern": "^[0-9a-f]{32}$", "maxLength": 32},
    }
    contract = {
        "supportedTypes": ["A", "AAAA", "TXT", "CNAME", "MX", "CAA", "NS"],
        "schemas": {"options": _schema(options), "adoption": _schema({"recordIDs": ids})},
        "validationRules": [{"rule": rule, "message": message} for rule, message in RULES],
        "disableValidations": [{"name": name, "when": when} for name, when in TOGGLES],
    }
    version = {"name": VERSION, "served": True, "storage": True, "recordSet": contract}
    return {
        "apiVersion": API_VERSION,
        "kind": "Provider",
        "metadata": {"name": NAME},
        "spec": {"display": {"name": "Edge"}, "versions": [version]},
    }


def _schema(properties: dict[str, Any]) -> dict[str, Any]:
    return {"openAPIV3Schema": {"type": "object", "properties": properties}}
