"""What an audit log says was asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.cluster.audit import USER, asked, used
from tests.helm.rights import Right

GROUP = "dns.appthrust.io"


def event(number: int, verb: str, code: int = 200, user: str = f"{USER}dns-api-manager", **reference: str) -> str:
    found: dict[str, Any] = {
        "auditID": f"id-{number}",
        "verb": verb,
        "user": {"username": user},
        "objectRef": {"apiGroup": GROUP, "resource": "zones", **reference},
        "responseStatus": {"code": code},
        "requestReceivedTimestamp": "2026-01-01T00:00:00.000000Z",
    }
    return json.dumps(found)


def log_of(folder: Path, *events: str) -> Path:
    path = folder / "audit.log"
    path.write_text("".join(f"{each}\n" for each in events))
    return path


def test_a_request_is_told_once_with_the_right_that_it_needs(tmp_path: Path) -> None:
    watch = event(1, "watch")
    patch = event(2, "patch", namespace="team", name="zone", subresource="status")
    stranger = event(3, "get", user="system:admin", name="zone")
    discovery = json.dumps({**json.loads(event(4, "get")), "objectRef": None})
    found = list(asked(log_of(tmp_path, watch, watch, patch, stranger, discovery)))
    assert [(each.account, each.right) for each in found] == [
        ("dns-api-manager", Right(GROUP, "zones", "watch")),
        ("dns-api-manager", Right(GROUP, "zones/status", "patch", "team", "zone")),
    ]
    assert [each.is_write for each in found] == [False, True]


def test_an_apply_that_made_its_object_needed_the_right_to_create_it(tmp_path: Path) -> None:
    made = event(1, "patch", 201, namespace="team", name="zone")
    rights = [right for _, right in used(asked(log_of(tmp_path, made)))]
    assert rights == [Right(GROUP, "zones", "patch", "team", "zone"), Right(GROUP, "zones", "create", "team")]


def test_refusals_and_questions_to_conversions_write_nothing(tmp_path: Path) -> None:
    refused = event(1, "create", 403)
    question = event(2, "create", 201, resource="endpointrecordsetconversions")
    assert [each.is_write for each in asked(log_of(tmp_path, refused, question))] == [False, False]


def test_a_control_plane_that_did_not_start_has_asked_nothing(tmp_path: Path) -> None:
    assert list(asked(tmp_path / "none.log")) == []
