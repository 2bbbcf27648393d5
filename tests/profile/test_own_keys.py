"""DRV-4's kind: no label or taint of a user's undoes what the profile decided, on any cloud."""

from __future__ import annotations

from typing import Any

import pytest

from gpuplatform.catalog import load
from gpuplatform.config import NodePool
from gpuplatform.errors import Refusal
from gpuplatform.profile import node_profile

SKUS = {"aws": "p4d.24xlarge", "azure": "Standard_NC4as_T4_v3", "gcp": "g2-standard-48"}
LABELS = (
    "gke-no-default-nvidia-gpu-device-plugin",
    "nvidia.com/gpu.deploy.driver",
    "nvidia.com/gpu.present",
    "nvidia.com/mig.config",
    "nvidia.com/device-plugin.config",
    "gpuplatform.io/pool",
    "gpuplatform.io/purpose",
    "k8s.amazonaws.com/accelerator",
    "vpc.amazonaws.com/efa.present",
)
TAINTS = ("cloud.google.com/gke-queued", "kubernetes.azure.com/scalesetpriority", "kubernetes.io/arch")


def _pool(cloud: str, **asked: Any) -> NodePool:
    return NodePool.model_validate(
        {"name": "pool", "sku": SKUS[cloud], "purpose": "inference", "nodes": {"min": 0, "max": 1}, **asked}
    )


def _profile(cloud: str, **asked: Any) -> Any:
    sku = load().sku(cloud, SKUS[cloud])
    assert sku is not None
    return node_profile(_pool(cloud, **asked), sku)


@pytest.mark.parametrize("cloud", SKUS)
@pytest.mark.parametrize("label", LABELS)
def test_drv_4_a_label_that_steers_drivers_or_plugins_is_refused(cloud: str, label: str) -> None:
    with pytest.raises(Refusal, match="the platform's own") as refused:
        _profile(cloud, labels={label: "false"})
    assert label in str(refused.value)
    assert refused.value.way_out


@pytest.mark.parametrize("cloud", SKUS)
@pytest.mark.parametrize("taint", TAINTS)
def test_a_taint_that_a_cloud_puts_itself_is_refused(cloud: str, taint: str) -> None:
    with pytest.raises(Refusal, match="without being asked for"):
        _profile(cloud, taints=({"key": taint},))


@pytest.mark.parametrize("cloud", SKUS)
def test_other_labels_and_taints_reach_the_nodes(cloud: str) -> None:
    profile = _profile(cloud, labels={"team": "vision"}, taints=({"key": "dedicated", "value": "gpu"},))
    assert profile.labels["team"] == "vision"
    assert [taint.key for taint in profile.taints].count("dedicated") == 1
