"""A chart in a cluster, as a Helm release that belongs to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi
from pulumi_kubernetes.helm import v3 as helm

from gpuplatform.component import Component
from gpuplatform.contracts import ClusterHandle
from gpuplatform.kubernetes.charts import Chart

__all__ = ["ReleaseComponent"]


class ReleaseComponent(Component):
    """Something that is installed from a chart.

    A release, not Pulumi's `Chart`: charts have hooks, which `Chart` drops or applies as plain objects
    (pulumi/pulumi-kubernetes#3247).

    Outputs:
        release: The Helm release's name.
        namespace: Where it is installed.
        chart_version: The chart's version.
        status: Helm's word for the release, such as `deployed`.
    """

    release: pulumi.Output[str]
    namespace: str
    chart_version: str
    status: pulumi.Output[str]

    def in_cluster(self, cluster: ClusterHandle, after: Sequence[pulumi.Resource]) -> pulumi.ResourceOptions:
        """Options of what lives in the cluster: gone with it, and gone before `after` where it stays.

        A release cannot be deleted from a cluster that no longer answers, whatever the provider's
        deleteUnreachable says (pulumi/pulumi-kubernetes#2675).
        """
        return self.child(provider=cluster.provider, deleted_with=cluster.cluster, depends_on=list(after))

    def install(
        self,
        prefix: str,
        chart: Chart,
        *,
        cluster: ClusterHandle,
        release: str,
        namespace: str,
        values: Mapping[str, Any],
        after: Sequence[pulumi.Resource],
        **options: Any,
    ) -> helm.Release:
        """Installs the chart.

        Args:
            prefix: Prefix of the logical name.
            chart: The chart and its version.
            cluster: Where to.
            release: The release's name.
            namespace: The namespace, which exists already.
            values: The chart's values.
            after: What the release comes after, and goes before.
            options: Further arguments of the release.
        """
        return helm.Release(
            f"{prefix}-release",
            name=release,
            chart=chart.reference,
            version=chart.version,
            repository_opts=None if chart.in_registry else helm.RepositoryOptsArgs(repo=chart.repository),
            namespace=namespace,
            values=values,
            skip_await=False,
            # Not `atomic`: it would take a failed install away together with the pods' events and logs that
            # tell why. What a failed upgrade newly created does go.
            cleanup_on_fail=True,
            **options,
            opts=self.in_cluster(cluster, after),
        )

    def finish_release(self, made: helm.Release, *, namespace: str, chart: Chart) -> None:
        """Registers the outputs; what else the component makes is made by now."""
        self.release = made.name
        self.namespace = namespace
        self.chart_version = chart.version
        self.status = made.status.apply(lambda status: status.status)
        self.finish(
            release=self.release,
            namespace=self.namespace,
            chart_version=self.chart_version,
            status=self.status,
        )
