"""The CSI driver of Azure Managed Lustre, as its vendor installs it: a chart; AKS has no add-on for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi

from gpuplatform.contracts import ClusterHandle
from gpuplatform.kubernetes.charts import Chart
from gpuplatform.kubernetes.release import ReleaseComponent
from gpuplatform.profile import NodeProfile, tolerations

__all__ = ["LUSTRE_DRIVER", "NAMESPACE", "AzureLustreDriver", "AzureLustreDriverArgs", "lustre_values"]

NAMESPACE: Final = "kube-system"
RELEASE: Final = "azurelustre"

LUSTRE_DRIVER: Final = Chart(
    name="azurelustre-csi-driver",
    repository="oci://mcr.microsoft.com/microsoft.azuremanagedlustre",
    version="0.6.0",
    source="https://github.com/kubernetes-sigs/azurelustre-csi-driver/blob/main/charts/README.md",
)


@dataclass(frozen=True, kw_only=True)
class AzureLustreDriverArgs:
    """What the driver is installed into, and for which pools.

    Attributes:
        cluster: The cluster.
        profiles: All pools of the cluster.
        pools: The GPU pools' own resources; the driver comes after them and goes before them.
        chart: The chart and its version.
    """

    cluster: ClusterHandle
    profiles: Sequence[NodeProfile]
    pools: Sequence[pulumi.Resource]
    chart: Chart = LUSTRE_DRIVER


def lustre_values(profiles: Sequence[NodeProfile]) -> dict[str, Any]:
    """The chart's values; pure.

    A list of tolerations takes the place of its own, so it names every pool's taints.
    """
    return {"node": {"tolerations": tolerations(profiles)}}


class AzureLustreDriver(ReleaseComponent):
    """The driver in kube-system; it installs the Lustre client on each node, for Ubuntu and Azure Linux.

    Another version of the client takes effect on a node only once nothing there mounts a file system
    (its charts/README.md, "Upgrade").

    Outputs: those of every release.
    """

    TOKEN = "gpuplatform:index:AzureLustreDriver"  # noqa: S105 - a type token, no secret

    def __init__(
        self, name: str, args: AzureLustreDriverArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(name, opts)
        release = self.install(
            name,
            args.chart,
            cluster=args.cluster,
            release=RELEASE,
            namespace=NAMESPACE,
            values=lustre_values(args.profiles),
            after=[*args.cluster.ready, *args.pools],
        )
        self.finish_release(release, namespace=NAMESPACE, chart=args.chart)
