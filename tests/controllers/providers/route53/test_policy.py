"""The IAM policy among the documents allows what the provider asks for, and nothing else."""

from __future__ import annotations

import ast
import json
from pathlib import Path

from botocore import xform_name
from botocore.loaders import Loader

from controllers.providers.route53 import client

ROOT = Path(__file__).resolve().parents[4]


def asked_for() -> set[str]:
    """The operations that the client names, as IAM actions."""
    model = Loader().load_service_model("route53", "service-2")
    by_method = {xform_name(name): name for name in model["operations"]}
    tree = ast.parse(Path(str(client.__file__)).read_text(encoding="utf-8"))
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return {f"route53:{by_method[text]}" for text in texts & by_method.keys()}


def test_the_policy_allows_exactly_what_is_asked_for() -> None:
    policy = json.loads((ROOT / "docs" / "route53-policy.json").read_text(encoding="utf-8"))
    allowed = set()
    for statement in policy["Statement"]:
        assert statement["Effect"] == "Allow"
        actions = statement["Action"]
        allowed |= set([actions] if isinstance(actions, str) else actions)
    assert allowed == asked_for()
    assert not [action for action in allowed if "*" in action]
