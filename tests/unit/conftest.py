from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from gpuplatform.config import KEY, Platform, Project, find_project, from_file

Change = Callable[[dict[str, Any]], Any]


@pytest.fixture
def written(tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Project]:
    """Writes a sample stack, changed by a function, as stack `s` of a project of its own."""
    monkeypatch.chdir(tmp_path)

    def write(change: Change | str | None = None, *, sample: str = "aws-dev") -> Project:
        (tmp_path / "Pulumi.yaml").write_text("name: gpuplatform\nruntime: python\n")
        file = tmp_path / "Pulumi.s.yaml"
        if isinstance(change, str):
            file.write_text(change)
            return find_project(tmp_path)
        document = yaml.safe_load((root / f"stacks/config/Pulumi.{sample}.yaml").read_text())
        if change is not None:
            platform = copy.deepcopy(document["config"][KEY])
            change(platform)
            document["config"][KEY] = platform
        file.write_text(yaml.safe_dump(document, sort_keys=False))
        return find_project(tmp_path)

    return write


@pytest.fixture
def loaded(written: Callable[..., Project]) -> Callable[..., Platform]:
    def load(change: Change | str | None = None, *, sample: str = "aws-dev") -> Platform:
        return from_file(written(change, sample=sample), "s")

    return load
