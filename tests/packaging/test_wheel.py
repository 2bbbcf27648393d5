"""The wheel holds all that the product needs, and works with one cloud's SDK alone."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

SDKS = {"aws": "pulumi_aws", "azure": "pulumi_azure_native", "gcp": "pulumi_gcp"}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel's content, as an installer would lay it down."""
    root = Path(__file__).parents[2]
    folder = tmp_path_factory.mktemp("wheel")
    build = "import hatchling.build, sys; print(hatchling.build.build_wheel(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-c", build, str(folder)], cwd=root, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    (wheel,) = folder.glob("*.whl")
    site = folder / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    return site


def test_the_wheel_carries_the_data_and_the_types(installed: Path, root: Path) -> None:
    assert (installed / "gpuplatform/py.typed").is_file()
    for file in (root / "gpuplatform").rglob("*"):
        if file.is_file() and "__pycache__" not in file.parts:
            assert (installed / file.relative_to(root)).is_file(), f"{file} is not in the wheel"


def test_the_wheel_carries_nothing_but_the_package(installed: Path) -> None:
    assert {path.name for path in installed.iterdir() if not path.name.endswith(".dist-info")} == {
        "gpuplatform"
    }


def test_each_cloud_is_an_extra_and_no_cloud_a_requirement(root: Path) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    required = " ".join(project["dependencies"])
    assert set(SDKS) <= set(project["optional-dependencies"])
    for sdk in SDKS.values():
        assert sdk.replace("_", "-") not in required


def test_each_lock_has_its_own_cloud_s_sdk_and_hashes_for_everything(root: Path) -> None:
    for cloud, sdk in SDKS.items():
        lock = (root / f"requirements/{cloud}.txt").read_text()
        pinned = [line for line in lock.splitlines() if "==" in line and not line.startswith((" ", "#"))]
        names = {line.split("==")[0] for line in pinned}
        assert sdk.replace("_", "-") in names
        assert not {other.replace("_", "-") for other in SDKS.values() if other != sdk} & names
        assert lock.count("\\\n    --hash=") >= len(pinned)


@pytest.mark.parametrize("cloud", SDKS)
def test_the_wheel_plans_a_stack_with_that_cloud_s_sdk_alone(cloud: str, installed: Path, root: Path) -> None:
    others = [sdk for name, sdk in SDKS.items() if name != cloud]
    program = (
        "import sys\n"
        f"for package in {others!r}:\n    sys.modules[package] = None\n"
        "import gpuplatform\n"
        f"assert gpuplatform.__file__.startswith({str(installed)!r}), gpuplatform.__file__\n"
        "from gpuplatform.cli import main\n"
        f"sys.argv = ['gpuplatform', 'plan', '{cloud}-dev']\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=root / "stacks/config",
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "ready" in done.stdout
