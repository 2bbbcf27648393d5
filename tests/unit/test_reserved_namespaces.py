"""What this library installs stands in namespaces that no team can have."""

from __future__ import annotations

import importlib
import pkgutil

from gpuplatform import kubernetes
from gpuplatform.config.teams import RESERVED, RESERVED_PREFIXES


def test_every_namespace_of_a_part_is_reserved() -> None:
    modules = (
        importlib.import_module(f"{kubernetes.__name__}.{m.name}")
        for m in pkgutil.iter_modules(kubernetes.__path__)
    )
    found = {module.NAMESPACE for module in modules if isinstance(getattr(module, "NAMESPACE", None), str)}
    assert "nvidia-dra-driver-gpu" in found
    assert [name for name in found if name not in RESERVED and not name.startswith(RESERVED_PREFIXES)] == []
