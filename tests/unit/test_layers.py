"""An arrow points only downwards: docs/architecture.md."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

LAYERS = (
    {"cli"},
    {"bootstrap"},
    {"report", "sandbox"},
    {"accept", "plan"},
    {"platform"},
    {"aws", "azure", "gcp", "policy"},
    {"kubernetes"},
    {"component", "contracts"},
    {"security"},
    {"guardrails"},
    {"permissions", "schedule", "storage", "trust"},
    {"profile"},
    {"config"},
    {"replacement"},
    {"catalog"},
    {"errors", "naming", "tags", "cidr", "clock", "yamlfile"},
)
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
APART = ({"aws", "azure", "gcp"}, {"report", "sandbox"}, {"accept", "plan"})
PURE = {"catalog", "replacement", "config", "profile", "guardrails", "security"} | LAYERS[-1]
PURE |= {"permissions", "schedule", "storage", "trust"}
SANDBOX_MAY = {"sandbox", "replacement", "catalog", "config"} | LAYERS[-1]

PACKAGE = Path(__file__).parents[2] / "gpuplatform"
MODULES = sorted(PACKAGE.rglob("*.py"))


def _imports(module: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: imports are absolute"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def _layer(module: Path) -> str:
    return module.relative_to(PACKAGE).with_suffix("").parts[0]


def _used(module: Path) -> set[str]:
    names = {name.split(".")[1] for name in _imports(module) if name.startswith("gpuplatform.")}
    return {name for name in names if name in RANK}


def test_every_module_has_a_layer() -> None:
    assert {_layer(module) for module in MODULES} - {"__init__", "__main__"} == set(RANK)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: str(module.relative_to(PACKAGE)))
def test_a_module_imports_only_its_own_layer_and_those_below(module: Path) -> None:
    own = _layer(module)
    if own in {"__init__", "__main__"}:
        assert not _used(module) - {"cli"}
        return
    for other in _used(module) - {own}:
        assert RANK[other] >= RANK[own], f"{own} imports {other}"
        assert not any({own, other} <= apart for apart in APART), f"{own} imports {other}, its neighbour"
    if own == "sandbox":
        assert _used(module) <= SANDBOX_MAY


@pytest.mark.parametrize("module", MODULES, ids=lambda module: str(module.relative_to(PACKAGE)))
def test_decisions_know_no_pulumi(module: Path) -> None:
    roots = {name.split(".")[0] for name in _imports(module)}
    if _layer(module) in PURE:
        assert not {root for root in roots if root.startswith("pulumi")}


@pytest.mark.parametrize("module", MODULES, ids=lambda module: str(module.relative_to(PACKAGE)))
def test_a_cloud_s_sdk_is_imported_by_that_cloud_only(module: Path) -> None:
    sdk = {"pulumi_aws": "aws", "pulumi_azure_native": "azure", "pulumi_gcp": "gcp"}
    parts = module.relative_to(PACKAGE).with_suffix("").parts
    for name in _imports(module):
        cloud = sdk.get(name.split(".")[0])
        assert cloud is None or cloud in parts, f"{module}: {name}"


@pytest.mark.parametrize("module", MODULES, ids=lambda module: str(module.relative_to(PACKAGE)))
def test_a_file_has_one_noun_and_fits_on_a_few_screens(module: Path) -> None:
    assert len(module.read_text(encoding="utf-8").splitlines()) <= 420
