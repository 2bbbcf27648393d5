"""An environment on Google Cloud: provider, network, cluster, one GPU pool for each profile."""

from __future__ import annotations

from collections.abc import Sequence

import pulumi
import pulumi_gcp as gcp

from gpuplatform.config import Gcp, Platform
from gpuplatform.gcp import GcpNetwork, GcpNetworkArgs, GkeCluster, GkeClusterArgs, GkeGpuPool, GkeGpuPoolArgs
from gpuplatform.platform.arguments import cloud_of, cluster_arguments, network_arguments, pool_arguments
from gpuplatform.platform.built import Built
from gpuplatform.profile import NodeProfile

__all__ = ["build"]


def build(config: Platform, profiles: Sequence[NodeProfile]) -> Built:
    """Registers the environment's resources, all with one provider that is pinned to its project and region.

    Raises:
        TypeError: The configuration is of another cloud.
        Refusal: Google Cloud cannot build it as asked.
    """
    cloud = cloud_of(config, Gcp)
    provider = gcp.Provider("gcp", project=cloud.project, region=cloud.region)
    opts = pulumi.ResourceOptions(provider=provider)
    network = GcpNetwork("network", GcpNetworkArgs(**network_arguments(config)), opts)
    cluster = GkeCluster(
        "cluster",
        GkeClusterArgs(network=network, project=cloud.project, **cluster_arguments(config)),
        opts,
    )
    pools = {
        name: GkeGpuPool(f"pool-{name}", GkeGpuPoolArgs(cluster=cluster, **arguments), opts).node_group
        for name, arguments in pool_arguments(config, profiles)
    }
    return Built(cluster=cluster.handle, pools=pools, provider=provider)
