"""The images: what goes in, as whom they run, and that the name server's holds no more than it needs."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from typing import Any

import pytest

from tests.helm.chart import EVERYTHING, container, one, render
from tests.helm.place import ROOT

CLOUD_AND_CEL = {"boto3", "botocore", "cloudflare", "cel_expr_python", "re2", "jsonschema", "google.protobuf"}


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage with its instructions as (word, rest)."""

    name: str
    parent: str
    instructions: tuple[tuple[str, str], ...]

    def all_of(self, word: str) -> list[str]:
        return [rest for each, rest in self.instructions if each == word]


def stages() -> dict[str, Stage]:
    text = re.sub(r"\\\n\s*", "", (ROOT / "Dockerfile").read_text(encoding="utf-8"))
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    found: dict[str, Stage] = {}
    for line in lines:
        word, _, rest = line.partition(" ")
        if word == "FROM":
            parent, _, name = rest.partition(" AS ")
            found[name] = Stage(name, parent, ())
        elif found:
            last = found[next(reversed(found))]
            found[last.name] = Stage(last.name, last.parent, (*last.instructions, (word, rest)))
    return found


def project() -> Any:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_instructions_are_ones_that_exist_and_stages_are_named_before_they_are_used() -> None:
    known = {"RUN", "WORKDIR", "COPY", "ENV", "USER", "ENTRYPOINT", "EXPOSE", "CMD", "ARG", "LABEL"}
    seen: set[str] = set()
    for stage in stages().values():
        assert stage.name, "every stage has a name"
        assert stage.parent in seen or stage.parent == "python:${PYTHON}"
        assert {word for word, _ in stage.instructions} <= known
        for copy in stage.all_of("COPY"):
            source = re.match(r"--from=(\S+) ", copy)
            assert source is None or source[1] in seen
        seen.add(stage.name)


def test_base_images_are_pinned_to_a_release() -> None:
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    (base,) = re.findall(r"^ARG PYTHON=(\S+)$", text, re.MULTILINE)
    assert re.fullmatch(r"3\.\d+-slim-[a-z]+", base)
    assert ":latest" not in text


@pytest.mark.parametrize("name", ["manager", "server"])
def test_final_images_run_as_the_pods_user_and_have_no_build_tools(name: str) -> None:
    final = stages()[name]
    runtime = stages()[final.parent]
    (user,) = runtime.all_of("USER")
    security = one(render(*EVERYTHING), "Deployment", f"dns-api-{name}")["spec"]["template"]["spec"]["securityContext"]
    assert user == f"{security['runAsUser']}:{security['runAsGroup']}"
    assert runtime.all_of("ENTRYPOINT") == ['["dns-api"]']
    assert runtime.all_of("RUN") == final.all_of("RUN") == []
    (copy,) = final.all_of("COPY")
    assert copy == f"--from={name}-packages /opt/dns-api /opt/dns-api"
    assert container(render(*EVERYTHING), name)["args"][0] == name


def test_every_package_of_the_product_is_copied_and_nothing_else_gets_into_the_context() -> None:
    packages = {each.removesuffix("*") for each in project()["tool"]["setuptools"]["packages"]["find"]["include"]}
    copied = {copy.split(" ")[0] for copy in stages()["build"].all_of("COPY") if " " in copy and "." not in copy}
    assert copied == packages
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert ignored[0] == "*"
    assert packages <= {each.removeprefix("!") for each in ignored if each.startswith("!")}
    for file in ("pyproject.toml", "README.md", "LICENSE", "MANIFEST.in"):
        assert f"!{file}" in ignored
        assert (ROOT / file).is_file()


def test_the_managers_image_has_the_extras_of_every_provider_that_the_chart_knows() -> None:
    (install,) = (each for each in stages()["manager-packages"].all_of("RUN"))
    (extras,) = re.findall(r"\[([a-z0-9,]+)\]", install)
    assert (
        set(extras.split(","))
        == {"manager", "route53", "cloudflare"}
        <= set(project()["project"]["optional-dependencies"])
    )
    (plain,) = stages()["server-packages"].all_of("RUN")
    assert "[" not in plain


def test_the_name_server_starts_without_cloud_sdks_and_cel() -> None:
    """What its image leaves out is hidden here; the command must work all the same."""
    hide = f"""
import sys
class Hide:
    def find_spec(self, name, path=None, target=None):
        if name in {CLOUD_AND_CEL!r}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Hide())
sys.argv = ["dns-api", "server", "--help"]
from cli.main import main
main()
"""
    done = subprocess.run(
        [sys.executable, "-c", hide], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "--listen" in done.stdout


def test_the_name_server_depends_on_no_cloud_sdk() -> None:
    names = {re.split(r"[\[<>=~! ]", each)[0].lower() for each in project()["project"]["dependencies"]}
    assert not names & {"boto3", "cloudflare", "cel-expr-python", "google-re2"}
