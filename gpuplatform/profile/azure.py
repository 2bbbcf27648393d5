"""AKS: Ubuntu with the driver that AKS installs, agent pools, AKS's own autoscaler."""

from __future__ import annotations

from gpuplatform.catalog import Sku
from gpuplatform.profile.facts import CloudFacts
from gpuplatform.profile.model import AksDriver, Taint

__all__ = ["facts"]

SPOT_KEY = "kubernetes.azure.com/scalesetpriority"


def facts(sku: Sku, _where: str) -> CloudFacts:
    """Azure's answers for `sku`."""
    return CloudFacts(
        driver=AksDriver(),
        image="Ubuntu",
        arch="arm64" if sku.arch == "arm64" else "amd64",
        gpu_taint=Taint(key="nvidia.com/gpu", value="true", effect="NoSchedule"),
        # AKS adds both to a spot pool; undeclared, an update would remove the label and replace the pool
        # (hashicorp/terraform-provider-azurerm#19355, Azure/AKS#3152).
        spot_labels={SPOT_KEY: "spot"},
        spot_taints=(Taint(key=SPOT_KEY, value="spot", effect="NoSchedule"),),
    )
