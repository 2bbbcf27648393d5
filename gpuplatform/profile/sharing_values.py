"""The GPU Operator's values for pools that share GPUs: its two config maps, where a pool does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import yaml

from gpuplatform.profile.model import NodeProfile, SharedGpu

__all__ = ["sharing_values"]

PLUGIN_CONFIG: Final = "gpuplatform-device-plugin"
WHOLE: Final = "whole"
"""The device plugin's entry for nodes without a label: a GPU a pod."""
MIG_CONFIG: Final = "gpuplatform-mig"
UNCUT: Final = "all-disabled"


def sharing_values(profiles: Sequence[NodeProfile]) -> dict[str, Any]:
    """Values that make the operator share as the pools ask.

    The chart creates both config maps in the release's own namespace, where alone they are found; a node
    takes its entry by label (`SharedGpu.label`).
    """
    shared = [profile.sharing for profile in profiles if profile.sharing is not None]
    cut = [one for one in shared if one.kind == "mig" and one.owner == "gpu-operator"]
    sliced = [one for one in shared if one.kind != "mig" and one.owner == "gpu-operator"]
    # `mixed` names each instance by its profile, and leaves the GPUs of other pools what they are. AKS cuts
    # the GPUs by itself, and NVIDIA's plugin advertises them.
    named = any(one.resource.startswith("nvidia.com/mig-") for one in shared)
    return {
        **({"mig": {"strategy": "mixed"}} if named else {}),
        "migManager": _mig_manager(cut) if cut else {"enabled": False},
        **({"devicePlugin": {"config": _plugin_config(sliced)}} if sliced else {}),
    }


def _mig_manager(cut: Sequence[SharedGpu]) -> dict[str, Any]:
    """One entry a profile, by the name of `SharedGpu.config`.

    The operator would else generate entries from what hardware it finds, whose names vary with it.
    `WITH_REBOOT`: a virtual machine cannot always reset its GPUs, and reboots into MIG mode instead
    (GPU Operator documentation, "GPU Operator with MIG").
    """
    configs = {UNCUT: [{"devices": "all", "mig-enabled": False}]}
    configs |= {one.config: [dict(one.entry)] for one in cut}
    data = {"config.yaml": _yaml({"version": "v1", "mig-configs": configs})}
    return {
        "enabled": True,
        "env": [{"name": "WITH_REBOOT", "value": "true"}],
        "config": {"create": True, "name": MIG_CONFIG, "default": UNCUT, "data": data},
    }


def _plugin_config(sliced: Sequence[SharedGpu]) -> dict[str, Any]:
    entries = {WHOLE: {"version": "v1"}} | {one.config: dict(one.entry) for one in sliced}
    return {
        "create": True,
        "name": PLUGIN_CONFIG,
        "default": WHOLE,
        "data": {name: _yaml(entry) for name, entry in entries.items()},
    }


def _yaml(content: dict[str, Any]) -> str:
    return yaml.safe_dump(content, sort_keys=False)
