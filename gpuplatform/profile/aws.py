"""EKS: AL2023 with the NVIDIA driver in the image, managed node groups, the Cluster Autoscaler's chart."""

from __future__ import annotations

from gpuplatform.catalog import Sku
from gpuplatform.profile.facts import CloudFacts
from gpuplatform.profile.model import AmiDriver, Taint

__all__ = ["facts"]


def facts(sku: Sku, _where: str) -> CloudFacts:
    """AWS's answers for `sku`."""
    arm = sku.arch == "arm64"
    driver = AmiDriver(ami_type="AL2023_ARM_64_NVIDIA" if arm else "AL2023_x86_64_NVIDIA")
    return CloudFacts(
        driver=driver,
        image=driver.ami_type,
        arch="arm64" if arm else "amd64",
        gpu_taint=Taint(key="nvidia.com/gpu", value="true", effect="NoSchedule"),
        # With it the autoscaler waits for a new node's device plugin instead of starting further nodes
        # (kubernetes/autoscaler, cloudprovider/aws/README.md, "Special note on GPU instances").
        labels={"k8s.amazonaws.com/accelerator": f"nvidia-{sku.gpu_model.lower()}"},
        # EKS labels spot nodes eks.amazonaws.com/capacityType=SPOT by itself and refuses to be given that
        # label; it sets no taint (https://docs.aws.amazon.com/eks/latest/userguide/managed-node-groups.html).
        needs_scale_hints=True,
    )
