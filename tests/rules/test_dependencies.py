"""What is imported is declared: a clean environment holds it without anybody's help."""

from __future__ import annotations

import re
import sys
import tomllib
from importlib.metadata import packages_distributions

import pytest

from tests.rules.source import PACKAGES, ROOT, sources

# The extras of pyproject.toml that each package may count on; the distribution itself is a name server and its tools.
CLOUD = ("manager", "route53", "cloudflare")
EXTRAS = {
    "controllers": (*CLOUD, "tracing"),
    "standalone": CLOUD,
    "tests": (*CLOUD, "dnstap", "tracing", "test"),
    "bench": CLOUD,
}
OURS = {*PACKAGES, "tests", "bench"}
# What a declared library brings along on purpose: its core, its exceptions, its transport.
PART_OF = {"pydantic-core": "pydantic", "botocore": "boto3", "httpx": "cloudflare"}


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def declared(package: str) -> set[str]:
    """The distributions that are there wherever the package is."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [*project["dependencies"]]
    for extra in EXTRAS.get(package, ()):
        lines += project["optional-dependencies"][extra]
    return {canonical(re.split(r"[\[<>=!~ ;]", line, maxsplit=1)[0]) for line in lines}


def third_party(module: str) -> bool:
    return module not in OURS and module not in sys.stdlib_module_names


@pytest.mark.parametrize("package", sorted(OURS))
def test_a_package_imports_only_libraries_that_are_declared_for_it(package: str) -> None:
    wanted, providers = declared(package), packages_distributions()
    faults = []
    for source in sources(package):
        for each in source.imports:
            top = each.module.split(".", 1)[0]
            names = {canonical(name) for name in providers.get(top, ())}
            if each.checked_only or not third_party(top) or wanted & {PART_OF.get(name, name) for name in names}:
                continue
            faults.append(
                f"{source.path}:{each.line} imports {top}, which pyproject.toml does not declare for {package}"
            )
    assert faults == []
