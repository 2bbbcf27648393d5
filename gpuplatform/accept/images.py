"""Images with nccl-tests, Open MPI and sshd, in the clouds' own builds: each has its fabric's NCCL plugin."""

from __future__ import annotations

from typing import Final

from gpuplatform.profile import (
    AksDriver,
    AmiDriver,
    GkeDriver,
    NodeProfile,
    NvlinkDomain,
    OperatorDriver,
    Tcpx,
    Tcpxo,
)

__all__ = ["image_for"]

# awslabs/awsome-distributed-ai, micro-benchmarks/nccl-tests; for amd64 and arm64.
_AWS: Final = "public.ecr.aws/hpc-cloud/nccl-tests:cuda12.8.1-efa1.43.2-ofiv1.16.3-ncclv2.27.7-1-testsv2.16.9"
# Azure/ai-infrastructure-on-azure, infrastructure_validations/aks/NCCL; for amd64 and arm64. It is published
# as `latest` only (.github/workflows/build_nccl_image.yaml).
_AZURE: Final = "ghcr.io/azure/ai-infrastructure-on-azure/nccl-test:latest"
# GoogleCloudPlatform/container-engine-accelerators, gpudirect-{rdma,tcpx,tcpxo}/nccl-test*.yaml. The plugin's
# version must be the one that is installed on the node (profile/gcp/daemons.py).
_GOOGLE: Final = "us-docker.pkg.dev/gce-ai-infra"
_GIB: Final = f"{_GOOGLE}/gpudirect-gib/nccl-plugin-gib-diagnostic:v1.1.0"
_GIB_ARM: Final = f"{_GOOGLE}/gpudirect-gib/nccl-plugin-gib-diagnostic-arm64:v1.1.0"
_GIB_METAL: Final = f"{_GOOGLE}/gpudirect-gib/nccl-gib-a4x-max-arm64:v1.1.1"
_TCPX: Final = f"{_GOOGLE}/gpudirect-tcpx/nccl-plugin-gpudirecttcpx-dev:v3.1.9"
_TCPXO: Final = f"{_GOOGLE}/gpudirect-tcpxo/nccl-plugin-gpudirecttcpx-dev:v1.0.15"


def image_for(profile: NodeProfile) -> str:
    """The image for this pool's cloud, fabric and processor."""
    match profile.driver:
        case AmiDriver():
            return _AWS
        case AksDriver() | OperatorDriver(host="aks-ubuntu"):
            return _AZURE
        case GkeDriver() | OperatorDriver():
            return _google(profile)


def _google(profile: NodeProfile) -> str:
    match profile.fabric:
        case Tcpx():
            return _TCPX
        case Tcpxo():
            return _TCPXO
        case NvlinkDomain(roce=roce) if roce.bare_metal:
            return _GIB_METAL
        case _:
            return _GIB_ARM if profile.arch == "arm64" else _GIB
