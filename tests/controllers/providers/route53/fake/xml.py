"""The XML of both services, from and to plain values."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree
from xml.sax.saxutils import escape

NAMESPACE = "https://route53.amazonaws.com/doc/2013-04-01/"
LISTS = {
    "Changes": "Change",
    "ResourceRecords": "ResourceRecord",
    "ResourceRecordSets": "ResourceRecordSet",
    "HostedZones": "HostedZone",
    "NameServers": "NameServer",
    "AddTags": "Tag",
    "RemoveTagKeys": "Key",
    "Tags": "Tag",
    "Messages": "Message",
}


def read(body: bytes) -> dict[str, Any]:
    """Return the fields of a request's root element."""
    value = _value(ElementTree.fromstring(body))
    return value if isinstance(value, dict) else {}


def _value(element: ElementTree.Element) -> Any:
    tag = _local(element.tag)
    if tag in LISTS:
        return [_value(child) for child in element]
    if len(element):
        return {_local(child.tag): _value(child) for child in element}
    return element.text or ""


def _local(tag: str) -> str:
    return tag.rsplit("}", 1)[-1]


def write(root: str, value: dict[str, Any], namespace: str = NAMESPACE) -> bytes:
    """Return a document of one root element."""
    return f'<?xml version="1.0"?>\n<{root} xmlns="{namespace}">{_content("", value)}</{root}>'.encode()


def _content(tag: str, value: Any) -> str:
    if isinstance(value, dict):
        return "".join(f"<{key}>{_content(key, each)}</{key}>" for key, each in value.items() if each is not None)
    if isinstance(value, list):
        item = LISTS[tag]
        return "".join(f"<{item}>{_content(item, each)}</{item}>" for each in value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return escape(str(value))
