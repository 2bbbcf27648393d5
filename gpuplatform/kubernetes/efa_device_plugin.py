"""AWS's device plugin for the Elastic Fabric Adapter, which advertises `vpc.amazonaws.com/efa`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi

from gpuplatform.contracts import ClusterHandle
from gpuplatform.kubernetes.charts import EFA_DEVICE_PLUGIN, Chart
from gpuplatform.kubernetes.release import ReleaseComponent
from gpuplatform.profile import Efa, NodeProfile, tolerations

__all__ = ["NAMESPACE", "EfaDevicePlugin", "EfaDevicePluginArgs", "efa_values"]

NAMESPACE: Final = "kube-system"
RELEASE: Final = "aws-efa-k8s-device-plugin"


@dataclass(frozen=True, kw_only=True)
class EfaDevicePluginArgs:
    """What the plugin is installed into, and for which pools.

    Attributes:
        cluster: The cluster.
        profiles: All pools of the cluster.
        pools: The GPU pools' own resources; the plugin comes after them and goes before them.
        chart: The chart and its version.
    """

    cluster: ClusterHandle
    profiles: Sequence[NodeProfile]
    pools: Sequence[pulumi.Resource]
    chart: Chart = EFA_DEVICE_PLUGIN


def efa_values(profiles: Sequence[NodeProfile]) -> dict[str, Any]:
    """The chart's values; pure.

    The chart tolerates nothing by default and so runs on no tainted node (aws-samples/aws-efa-eks#3). It
    chooses its nodes by a list of machine types, of which the pools' own take the place: adapters of a type
    that is newer than the chart would else be advertised by nobody.
    """
    types = dict.fromkeys(profile.sku for profile in profiles if isinstance(profile.fabric, Efa))
    return {
        "tolerations": tolerations(profiles),
        "supportedInstanceLabels": {"keys": ["node.kubernetes.io/instance-type"], "values": sorted(types)},
    }


class EfaDevicePlugin(ReleaseComponent):
    """The plugin in kube-system, on the nodes of the pools that have adapters.

    Outputs: those of every release.
    """

    TOKEN = "gpuplatform:index:EfaDevicePlugin"  # noqa: S105 - a type token, no secret

    def __init__(
        self, name: str, args: EfaDevicePluginArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(name, opts)
        release = self.install(
            name,
            args.chart,
            cluster=args.cluster,
            release=RELEASE,
            namespace=NAMESPACE,
            values=efa_values(args.profiles),
            after=[*args.cluster.ready, *args.pools],
        )
        self.finish_release(release, namespace=NAMESPACE, chart=args.chart)
