"""Whatever the code imports is in the lock that `make up` installs, whichever cloud the stack is on."""

from __future__ import annotations

import ast
import importlib.metadata
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOCKED = re.compile(r"^([A-Za-z0-9][\w.-]*)==", re.MULTILINE)
SDKS = {"pulumi_aws", "pulumi_azure_native", "pulumi_gcp"}
"""Each in its own cloud's lock only."""


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _third_party(folder: str) -> set[str]:
    own = {"gpuplatform"} | {
        file.stem for top in ("tests", "benchmarks") for file in (ROOT / top).rglob("*.py")
    }
    found: set[str] = set()
    for file in (ROOT / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found.add(node.module.split(".")[0])
    return found - own - set(sys.stdlib_module_names)


def _missing(modules: set[str], lock: str) -> set[str]:
    locked = {_canonical(name) for name in LOCKED.findall((ROOT / "requirements" / lock).read_text())}
    distributions = importlib.metadata.packages_distributions()
    return {
        module
        for module in modules
        if not locked & {_canonical(name) for name in distributions.get(module, [module])}
    }


@pytest.mark.parametrize("cloud", ["aws", "azure", "gcp"])
def test_a_cloud_s_lock_has_all_that_the_package_imports(cloud: str) -> None:
    used = _third_party("gpuplatform")
    assert {"pulumi", "yaml", *SDKS} <= used
    own = {"aws": "pulumi_aws", "azure": "pulumi_azure_native", "gcp": "pulumi_gcp"}[cloud]
    assert _missing(used - SDKS | {own}, f"{cloud}.txt") == set()


def test_the_developers_lock_has_all_that_tests_and_benchmarks_import() -> None:
    used = _third_party("tests") | _third_party("benchmarks")
    assert "pytest" in used
    assert _missing(used, "dev.txt") == set()
