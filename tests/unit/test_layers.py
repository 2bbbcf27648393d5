"""An arrow points only downwards: docs/architecture.md."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

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

LONGEST = 420
"""Lines of a module."""

PACKAGE = Path(__file__).parents[2] / "gpuplatform"
MODULES = sorted(PACKAGE.rglob("*.py"))


@cache
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


def test_a_module_imports_only_its_own_layer_and_those_below() -> None:
    wrong = []
    for module in MODULES:
        own, used = _layer(module), _used(module)
        if own in {"__init__", "__main__"}:
            wrong += [(module, other) for other in used - {"cli"}]
            continue
        for other in used - {own}:
            above = RANK[other] < RANK[own]
            neighbour = any({own, other} <= apart for apart in APART)
            if above or neighbour or (own == "sandbox" and other not in SANDBOX_MAY):
                wrong.append((module, other))
    assert wrong == []


def test_decisions_know_no_pulumi() -> None:
    pure = [module for module in MODULES if _layer(module) in PURE]
    assert len(pure) > 100
    assert [
        (module, name)
        for module in pure
        for name in _imports(module)
        if name.split(".")[0].startswith("pulumi")
    ] == []


def test_a_cloud_s_sdk_is_imported_by_that_cloud_only() -> None:
    sdk = {"pulumi_aws": "aws", "pulumi_azure_native": "azure", "pulumi_gcp": "gcp"}
    found = {
        (module, cloud)
        for module in MODULES
        for cloud in (sdk.get(name.split(".")[0]) for name in _imports(module))
        if cloud is not None
    }
    assert found
    assert [
        (module, cloud)
        for module, cloud in found
        if cloud not in module.relative_to(PACKAGE).with_suffix("").parts
    ] == []


def test_a_file_has_one_noun_and_fits_on_a_few_screens() -> None:
    lines = {module: len(module.read_text(encoding="utf-8").splitlines()) for module in MODULES}
    assert {module: count for module, count in lines.items() if count > LONGEST} == {}
