"""The images: what goes in, as whom they run, and that the name server's holds no more than it needs."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from typing import Any

import pytest

from tests.helm.chart import EVERYTHING, container, one, render
from tests.helm.image_file import stages
from tests.helm.place import ROOT

CLOUD_AND_CEL = {"boto3", "botocore", "cloudflare", "cel_expr_python", "re2", "jsonschema", "google.protobuf"}


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
    assert re.fullmatch(r"3\.\d+-slim-[a-z]+(@sha256:[0-9a-f]{64})?", base)
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
        == {"manager", "route53", "cloudflare", "tracing"}
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


def test_what_is_copied_is_there() -> None:
    sources = [
        source
        for stage in stages().values()
        for copy in stage.all_of("COPY")
        if not copy.startswith("--from=")
        for source in copy.split()[:-1]
    ]
    assert sources
    assert [each for each in sources if not (ROOT / each).exists()] == []


def test_no_layer_keeps_what_only_its_making_needed() -> None:
    for command in (each for stage in stages().values() for each in stage.all_of("RUN")):
        for pip in re.findall(r"pip (?:wheel|install) [^&]*", command):
            assert "--no-cache-dir" in pip, pip
        if "apt-get install" in command:
            assert "--no-install-recommends" in command
            assert command.endswith("rm -rf /var/lib/apt/lists/*")


def test_commands_are_words_and_not_left_to_a_shell() -> None:
    """So that SIGTERM reaches the program itself."""
    for stage in stages().values():
        for command in (*stage.all_of("ENTRYPOINT"), *stage.all_of("CMD")):
            assert all(isinstance(each, str) for each in json.loads(command))


def test_an_image_alone_does_what_it_is_named_after_on_all_addresses() -> None:
    server, manager = (json.loads(stages()[name].all_of("CMD")[0]) for name in ("server", "manager"))
    assert server == ["server", "--listen", ":5353", "--http", ":8080"]
    assert manager == ["manager"]
    assert stages()["server"].all_of("EXPOSE") == ["5353/udp 5353/tcp 8080/tcp"]


def test_images_tell_where_they_come_from() -> None:
    (labels,) = stages()["runtime"].all_of("LABEL")
    assert 'org.opencontainers.image.licenses="Apache-2.0"' in labels
    assert re.search(r'org\.opencontainers\.image\.title="dns-api"', labels)


def test_the_command_is_an_entry_point_of_the_wheel() -> None:
    assert project()["project"]["scripts"]["dns-api"] == "cli.main:main"
    (entry,) = json.loads(stages()["runtime"].all_of("ENTRYPOINT")[0])
    assert entry in project()["project"]["scripts"]
