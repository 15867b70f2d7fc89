"""Runs the suites on a real control plane: `python -m tests.cluster DIRECTORY [pytest argument ...]`.

Builds the programs into DIRECTORY when they are not there yet. Without further arguments: the API-behaviour suite and the installation of
the chart on one API server, then the product's suites, each on a control plane of its own, and at last the judgement on the rights that
they needed. With `--short`: the API-behaviour suite, the table of condition reasons and a life of every provider, which is minutes. With
other arguments: pytest with these, in the same surroundings.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from tests.cluster.build import BuildError, build
from tests.cluster.control_plane import running
from tests.cluster.installation import host_address
from tests.cluster.program import ROOT

STANDALONE: Final = (
    *sorted(str(each.relative_to(ROOT)) for each in (ROOT / "tests" / "standalone").glob("test_*.py")),
    "tests/standalone/kubectl",
)
COLLECTOR: Final = "tests/standalone/test_collector.py"
"""Minutes, as kube-controller-manager collects what has no owner when it looks, every half minute."""
JUNK: Final = "tests/standalone/test_robustness.py"
"""Random requests, to which kube-apiserver has more than one answer of its own."""
TOGETHER: Final = ("-n", "2", "--dist", "loadfile")
ALONE: Final = ("-p", "no:xdist")
LONG: Final = ("-m", "(slow or not slow) and not endurance")
SUITES: Final[Mapping[str, tuple[str, ...]]] = {
    "behaviour of the API": (*TOGETHER, *STANDALONE, "tests/helm/test_install.py"),
    "contract, hosted, Route 53, Cloudflare": (
        *TOGETHER,
        "tests/product",
        "--ignore=tests/product/availability",
        "tests/controllers/providers/route53/test_kubectl.py",
        "tests/controllers/providers/cloudflare/test_kubectl.py",
        "tests/cluster/test_life.py",
        "tests/cluster/test_doctor.py",
        "tests/cluster/test_release.py",
    ),
    "external zones and endpoints": (*TOGETHER, "tests/controllers/providers/external", "tests/controllers/apps"),
    "availability": (*TOGETHER, *LONG, "tests/product/availability", "tests/cluster/test_admission_down.py"),
    "quiet": (*ALONE, *LONG, "-s", "tests/cluster/test_quiet.py"),
}
RIGHTS: Final = (*ALONE, "tests/cluster/test_rights.py")
SHORT: Final[Mapping[str, tuple[str, ...]]] = {
    "behaviour of the API": (*TOGETHER, *(each for each in STANDALONE if each not in (COLLECTOR, JUNK))),
    "contract and life": (*TOGETHER, "tests/product/contract/test_reasons.py", "tests/cluster/test_life.py"),
}
SHORT_RIGHTS: Final = (*RIGHTS, "-k", "without_a_right")


def main() -> int:
    """Build, run, judge.

    The exit code is 0 when everything passed, `os.EX_UNAVAILABLE` when this machine cannot build or run a control plane.
    """
    directory, arguments = Path(sys.argv[1]).absolute(), sys.argv[2:]
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return _run(build(directory), arguments)
    except BuildError as error:
        print(f"error: {error}", file=sys.stderr)
        return os.EX_UNAVAILABLE
    except KeyboardInterrupt:
        print("error: interrupted; programs that are whole stay and are not built again", file=sys.stderr)
        return 130


def _run(programs: Path, arguments: list[str]) -> int:
    try:
        host_address()
    except OSError as error:
        told = "this host has no address but the loopback's, which a real API takes for no endpoint"
        print(f"error: {told}: {error}", file=sys.stderr)
        return os.EX_UNAVAILABLE
    with tempfile.TemporaryDirectory(prefix="dns-api-audit-") as audit:
        environment = os.environ | {"DNS_API_KUBE_PROGRAMS": str(programs), "DNS_API_KUBE_AUDIT": audit}
        is_short = arguments == ["--short"]
        if arguments and not is_short:
            return _pytest("as asked", arguments, environment, programs)
        suites, rights = (SHORT, SHORT_RIGHTS) if is_short else (SUITES, RIGHTS)
        codes = [_pytest(name, list(words), environment, programs) for name, words in suites.items()]
        judged = environment | {"DNS_API_KUBE_AUDIT_OF_ALL": audit}
        codes.append(_pytest("rights", list(rights), judged, programs))
    return max(codes)


def _pytest(name: str, words: list[str], environment: Mapping[str, str], programs: Path) -> int:
    began = time.monotonic()
    print(f"==> {name}", flush=True)
    with ExitStack() as stack:
        own = dict(environment)
        if any(each.startswith(("tests/standalone", "tests/helm")) for each in words):
            state = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="dns-api-kube-")))
            plane = stack.enter_context(running(programs, state))
            own |= {"DNS_API_KUBE_URL": plane.url, "DNS_API_KUBE_TOKEN": plane.token}
            own["KUBE_TARGET"] = str(plane.kubeconfig)
        command = [sys.executable, "-m", "pytest", "-q", "--timeout", "600", *words]
        code = subprocess.run(command, cwd=ROOT, env=own, check=False).returncode
    print(f"==> {name}: {'passed' if code == 0 else 'FAILED'} after {time.monotonic() - began:.0f} s", flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main())
