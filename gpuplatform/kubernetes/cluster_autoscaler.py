"""The Cluster Autoscaler on EKS, through its chart; AKS and GKE bring their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi

from gpuplatform.contracts import ClusterHandle
from gpuplatform.kubernetes.charts import CLUSTER_AUTOSCALER, Chart
from gpuplatform.kubernetes.release import ReleaseComponent

__all__ = ["NAMESPACE", "SERVICE_ACCOUNT", "ClusterAutoscaler", "ClusterAutoscalerArgs", "autoscaler_values"]

NAMESPACE: Final = "kube-system"
SERVICE_ACCOUNT: Final = "cluster-autoscaler"
RELEASE: Final = "cluster-autoscaler"

NEWEST_IMAGE_MINOR: Final = 35
"""Minor of the image that the pinned chart was made for (its appVersion)."""


@dataclass(frozen=True, kw_only=True)
class ClusterAutoscalerArgs:
    """Which cluster's groups are scaled.

    Attributes:
        cluster: The cluster.
        region: Its AWS region.
        kubernetes_version: Its minor, such as `1.35`.
        after: What gives the service account its permissions; the release comes after it.
        chart: The chart and its version.
    """

    cluster: ClusterHandle
    region: str
    kubernetes_version: str
    after: Sequence[pulumi.Resource]
    chart: Chart = CLUSTER_AUTOSCALER


def autoscaler_values(
    *, cluster_name: pulumi.Input[str], region: str, kubernetes_version: str
) -> dict[str, Any]:
    """The chart's values; pure.

    The groups are found by their tags, which EKS puts on each managed node group by itself
    (https://docs.aws.amazon.com/eks/latest/userguide/managed-node-groups.html).
    """
    minor = min(int(kubernetes_version.partition(".")[2]), NEWEST_IMAGE_MINOR)
    return {
        "fullnameOverride": RELEASE,
        "cloudProvider": "aws",
        "awsRegion": region,
        "autoDiscovery": {"clusterName": cluster_name},
        # Its predictions come from the scheduler's code of one minor: it goes with the cluster's own
        # (kubernetes/autoscaler, cluster-autoscaler/README.md, "Releases").
        "image": {"tag": f"v1.{minor}.0"},
        "rbac": {"serviceAccount": {"create": True, "name": SERVICE_ACCOUNT}},
        "extraArgs": {
            # Of several pools that would do, the one with the least left over: a pod that asks for one GPU
            # must not start a machine with eight. The default is random.
            "expander": "least-waste",
        },
        # As in cluster-autoscaler/cloudprovider/aws/examples/cluster-autoscaler-autodiscover.yaml.
        "resources": {"requests": {"cpu": "100m", "memory": "600Mi"}, "limits": {"memory": "600Mi"}},
    }


class ClusterAutoscaler(ReleaseComponent):
    """The autoscaler in kube-system.

    It has no toleration, so it runs on the system nodes: on a GPU node it would keep that node alive.

    Outputs: those of every release.
    """

    TOKEN = "gpuplatform:index:ClusterAutoscaler"  # noqa: S105 - a type token, no secret

    def __init__(
        self, name: str, args: ClusterAutoscalerArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(name, opts)
        cluster = args.cluster
        release = self.install(
            name,
            args.chart,
            cluster=cluster,
            release=RELEASE,
            namespace=NAMESPACE,
            values=autoscaler_values(
                cluster_name=cluster.name, region=args.region, kubernetes_version=args.kubernetes_version
            ),
            after=[*cluster.ready, *args.after],
        )
        self.finish_release(release, namespace=NAMESPACE, chart=args.chart)
