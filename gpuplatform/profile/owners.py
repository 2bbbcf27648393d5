"""One owner of the driver a cluster, and the ways to get there that the pools' machines allow; pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gpuplatform.errors import Refusal
from gpuplatform.profile.azure.drivers import AZURE_LINUX
from gpuplatform.profile.azure.fabric import GRACE_BLACKWELL
from gpuplatform.profile.driver import AksDriver, AmiDriver, Driver, GkeDriver, OperatorDriver
from gpuplatform.profile.fabric import InfiniBand, NoFabric
from gpuplatform.profile.model import NodeProfile

__all__ = ["one_owner"]

_TWO_CLUSTERS: Final = "use two clusters"


def one_owner(profiles: Sequence[NodeProfile]) -> Driver:
    """A driver of the owner that all pools have.

    Raises:
        Refusal: They have two.
    """
    owners: dict[str, list[NodeProfile]] = {}
    for profile in profiles:
        owners.setdefault(_owner(profile.driver), []).append(profile)
    if len(owners) > 1:
        names = " and ".join(f"{pools[0].pool} ({owner})" for owner, pools in owners.items())
        others = [pool.pool for owner, pools in owners.items() if owner != _OPERATOR for pool in pools]
        raise Refusal(
            f"two owners of the GPU driver in one cluster: {names}",
            where=f"node_pools.{others[0]}.driver",
            rule="one GPU Operator has one set of values: it installs the driver on all nodes or on none",
            way_out=", or ".join((*_ways_out(profiles), _TWO_CLUSTERS)),
        )
    return profiles[0].driver


_OPERATOR: Final = "the GPU Operator"


def _owner(driver: Driver) -> str:
    """Drivers with the same answer can be served by one set of values."""
    match driver:
        case AmiDriver():
            return "the node image"
        case GkeDriver():
            return "GKE"
        case AksDriver():  # CUDA and GRID alike: AKS installs either
            return "AKS"
        case OperatorDriver(host="gke-cos"):  # whose driver Google's installer builds
            return "Google's installer on Container-Optimized OS"
        case OperatorDriver():
            return _OPERATOR


def _ways_out(profiles: Sequence[NodeProfile]) -> tuple[str, ...]:
    drivers = [profile.driver for profile in profiles]
    if any(isinstance(driver, AksDriver) for driver in drivers):
        return _aks(profiles)
    return _gke(profiles)


def _gke(profiles: Sequence[NodeProfile]) -> tuple[str, ...]:
    """One image and one driver for all; on Ubuntu there is no GPUDirect, and there are no Arm processors."""
    ways = ["leave driver and image out on all pools (Container-Optimized OS with Google's driver)"]
    if all(profile.arch == "amd64" and isinstance(profile.fabric, NoFabric) for profile in profiles):
        ways.append("write image: ubuntu and driver: operator on all of them")
    return tuple(ways)


def _aks(profiles: Sequence[NodeProfile]) -> tuple[str, ...]:
    """To the operator where every machine can go there, and to AKS likewise."""
    by_aks = [profile for profile in profiles if isinstance(profile.driver, AksDriver)]
    by_operator = [profile for profile in profiles if isinstance(profile.driver, OperatorDriver)]
    ways = []
    if not any(profile.driver == AksDriver(kind="GRID") for profile in by_aks):
        on_linux = any(profile.image == AZURE_LINUX for profile in by_aks)
        ways.append(f"write driver: operator{' and image: ubuntu' if on_linux else ''} on {_names(by_aks)}")
    if not any(profile.gpu_model in GRACE_BLACKWELL for profile in by_operator):
        connected = [profile for profile in by_operator if isinstance(profile.fabric, InfiniBand)]
        without = f" and write fabric: none on {_names(connected)} (no InfiniBand then)" if connected else ""
        ways.append(f"leave driver out on {_names(by_operator)}{without}")
    return tuple(ways)


def _names(profiles: Sequence[NodeProfile]) -> str:
    return ", ".join(profile.pool for profile in profiles)
