"""Where the chart, what is rendered from it, and the programs are."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
CHART = ROOT / "helm"
KUSTOMIZE = ROOT / "config"
BIN = Path(sys.prefix) / "bin"
NAMESPACE = "dns-api-system"
