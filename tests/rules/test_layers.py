"""Imports point downward only."""

from __future__ import annotations

import subprocess
import sys
from graphlib import CycleError, TopologicalSorter

import pytest

from controllers.registry import REGISTRATIONS
from tests.rules.source import PACKAGES, ROOT, Source, parse, sources

MAY_IMPORT = {
    "zonemodel": set(),
    "ownership": {"zonemodel"},
    "kube": set(),
    "server": {"zonemodel", "kube"},
    "controllers": {"zonemodel", "ownership", "kube"},
    "standalone": {"zonemodel", "ownership", "kube", "server", "controllers"},
    "cli": {"zonemodel", "ownership", "kube", "server", "controllers", "standalone"},
}

# Inside controllers: what each part may import of the others.
CONTROLLER_PARTS = {
    "api": set(),
    "runtime": set(),
    "core": {"api", "runtime"},
    "probe": {"runtime"},
    "ledger": {"api", "runtime", "probe"},
    "providers": {"api", "runtime", "ledger", "probe"},
    "apps": {"api", "runtime"},
}

# The contract that providers are written against is the one part of core that they, what they share, and apps with kinds of their own know.
PROVIDER_CONTRACT = "controllers.core.providercontract"

ONLY_HERE = {
    "kubernetes": ("kube.config",),
    # Two rule languages on one engine: that of Provider contracts and that of CustomResourceDefinitions.
    "cel_expr_python": ("controllers.core.cel", "standalone.schema.cel"),
    "re2": ("controllers.core.pattern", "standalone.schema"),
    "boto3": ("controllers.providers.route53",),
    "botocore": ("controllers.providers.route53",),
    "cloudflare": ("controllers.providers.cloudflare",),
}


def violations(source: Source) -> list[str]:
    """Name every import of the file that its package may not have."""
    allowed = MAY_IMPORT[source.package] | {source.package}
    return [
        f"{source.path}:{each.line} imports {each.module}"
        for each in source.imports
        if (top := each.module.split(".", 1)[0]) in {*PACKAGES, "tests", "bench"} and top not in allowed
    ]


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_imports_only_what_stands_below_it(package: str) -> None:
    assert [fault for source in sources(package) for fault in violations(source)] == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    below = {source.module: {each.module for each in source.imports} for source in sources()}
    ordered = TopologicalSorter({name: below[name] & below.keys() - {name} for name in below})
    try:
        ordered.prepare()
    except CycleError as circle:
        pytest.fail(" -> ".join(circle.args[1]))


def part_of(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[0] == "controllers" else ""


def provider_of(module: str) -> str:
    parts = module.split(".")
    return parts[2] if parts[:2] == ["controllers", "providers"] and len(parts) > 2 else ""


def test_core_providers_and_apps_stand_beside_one_another() -> None:
    faults = []
    for source in sources("controllers"):
        own = part_of(source.module)
        if own not in CONTROLLER_PARTS:
            continue
        for each in source.imports:
            other = part_of(each.module)
            if own in {"ledger", "providers", "apps"} and each.module.startswith(PROVIDER_CONTRACT):
                continue
            if other and other != own and other not in CONTROLLER_PARTS[own]:
                faults.append(f"{source.path}:{each.line} imports {each.module}")
    assert faults == []


def test_providers_never_import_one_another() -> None:
    faults = [
        f"{source.path}:{each.line} imports {each.module}"
        for source in sources("controllers")
        if (own := provider_of(source.module))
        for each in source.imports
        if provider_of(each.module) not in {"", own}
    ]
    assert faults == []


@pytest.mark.parametrize(("library", "homes"), ONLY_HERE.items())
def test_a_foreign_api_stays_in_its_module_trees(library: str, homes: tuple[str, ...]) -> None:
    faults = [
        f"{source.path}:{each.line} imports {each.module}"
        for source in sources()
        if not source.module.startswith(homes)
        for each in source.imports
        if each.module.split(".", 1)[0] == library
    ]
    assert faults == []


def test_the_layer_test_sees_a_wrong_import() -> None:
    wrong = next(sources("server"))
    assert violations(wrong) == []
    assert len(violations(parse(wrong.path, "import controllers.core\nfrom standalone import up"))) >= 2


def test_a_provider_that_nobody_runs_needs_no_library_of_its_own() -> None:
    code = "import controllers.manager, controllers.manifests, controllers.registry, sys; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    needed = {library for each in REGISTRATIONS for library in each.libraries}
    assert needed & set(run.stdout.split()) == set()
