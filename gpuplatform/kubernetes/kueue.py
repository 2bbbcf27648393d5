"""Kueue: jobs wait for room in the pools of their class, and start as a whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi
import yaml

from gpuplatform.contracts import ClusterHandle
from gpuplatform.kubernetes.charts import KUEUE, Chart
from gpuplatform.kubernetes.objects import KubernetesObject
from gpuplatform.kubernetes.release import ReleaseComponent
from gpuplatform.profile import queues

__all__ = ["NAMESPACE", "Kueue", "KueueArgs", "kueue_values"]

# Elsewhere its webhooks' certificates name the wrong service (kubernetes-sigs/kueue#3794).
NAMESPACE: Final = "kueue-system"
RELEASE: Final = "kueue"
GROUP: Final = "kueue.x-k8s.io/v1beta2"

FRAMEWORKS: Final = (
    "batch/job",
    "jobset.x-k8s.io/jobset",
    "kubeflow.org/mpijob",
    "trainer.kubeflow.org/trainjob",
    "ray.io/rayjob",
    "ray.io/raycluster",
)
"""Kinds that are queued. Not pods: with them every pod of the cluster would pass Kueue's webhook, and none
could start while Kueue is down."""

UNMANAGED: Final = ("kube-system", NAMESPACE, "gpu-operator", "network-operator")

SHELL: Final = "registry.k8s.io/e2e-test-images/busybox:1.29-4"


@dataclass(frozen=True, kw_only=True)
class KueueArgs:
    """What Kueue is installed into, and what it queues for.

    Attributes:
        cluster: The cluster.
        queues: The queues: `gpuplatform.profile.queues.queues_of`.
        nodes_max: The autoscaler's maximum of each pool, by the pool's name.
        pools: The GPU pools' own resources; Kueue comes after them and goes before them.
        after: What else it comes after: charts whose hooks are Jobs, which its webhook would turn away
        while it
            starts.
        chart: The chart and its version.
    """

    cluster: ClusterHandle
    queues: Sequence[queues.Queue]
    nodes_max: Mapping[str, int]
    pools: Sequence[pulumi.Resource]
    after: Sequence[pulumi.Resource] = ()
    chart: Chart = KUEUE


def kueue_values() -> dict[str, Any]:
    """The chart's values; pure.

    The manager's configuration is one text, which replaces the chart's: it is that one, but for what is
    commented.
    """
    config = {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "health": {"healthProbeBindAddress": ":8081"},
        "metrics": {"bindAddress": ":8443"},
        "webhook": {"port": 9443},
        "leaderElection": {"leaderElect": True, "resourceName": "c1f6bfd2.kueue.x-k8s.io"},
        "controller": {
            "groupKindConcurrency": {
                "Job.batch": 5,
                "Workload.kueue.x-k8s.io": 10,
                "LocalQueue.kueue.x-k8s.io": 5,
                "ClusterQueue.kueue.x-k8s.io": 5,
                "ResourceFlavor.kueue.x-k8s.io": 1,
            }
        },
        "clientConnection": {"qps": 300, "burst": 500},
        "integrations": {"frameworks": list(FRAMEWORKS)},
        # Jobs of the operators themselves are never held back.
        "managedJobsNamespaceSelector": {
            "matchExpressions": [
                {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": list(UNMANAGED)}
            ]
        },
        # What no queue counts; a job that asks for it would else never be admitted.
        "resources": {"excludeResourcePrefixes": ["ephemeral-storage", "hugepages-", "networking.gke.io"]},
    }
    return {
        "fullnameOverride": RELEASE,
        "managerConfig": {"controllerManagerConfigYaml": yaml.safe_dump(config, sort_keys=False)},
    }


class Kueue(ReleaseComponent):
    """Kueue in kueue-system, with a flavor a pool and a queue a class.

    Teams reach a queue through a LocalQueue in their own namespace, which is not made here.

    Outputs: those of every release.
    """

    TOKEN = "gpuplatform:index:Kueue"  # noqa: S105 - a type token, no secret

    def __init__(self, name: str, args: KueueArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        self._args = args
        self._name = name
        nodes = (*args.cluster.ready, *args.pools)
        release = self.install(
            name,
            args.chart,
            cluster=args.cluster,
            release=RELEASE,
            namespace=NAMESPACE,
            values=kueue_values(),
            after=[*args.after, *nodes],
            create_namespace=True,
        )
        gate = self._gate([release, *nodes])
        self._objects([release, gate, *nodes])
        self.finish_release(release, namespace=NAMESPACE, chart=args.chart)

    def _gate(self, after: Sequence[pulumi.Resource]) -> KubernetesObject:
        """A pod that is ready once the webhook answers through its service.

        The Deployment is ready some ten to thirty seconds before that, and objects made in between are
        turned away (kubernetes-sigs/kueue#13036). Kueue's own namespace is exempt from its webhooks. The
        pod stays, and costs
        nothing: that it is there is the one thing the engine can wait for.
        """
        asks = f"nc -z -w 2 kueue-webhook-service.{NAMESPACE}.svc 443"
        container = {
            "name": "gate",
            "image": SHELL,
            "command": ["sh", "-c", "trap 'exit 0' TERM; while true; do sleep 3600 & wait; done"],
            "readinessProbe": {
                "exec": {"command": ["sh", "-c", asks]},
                "periodSeconds": 5,
                "timeoutSeconds": 5,
                "successThreshold": 3,
            },
            "resources": {
                "requests": {"cpu": "1m", "memory": "8Mi"},
                "limits": {"memory": "16Mi"},
            },
            "securityContext": {
                "allowPrivilegeEscalation": False,
                "runAsNonRoot": True,
                "runAsUser": 65534,
                "capabilities": {"drop": ["ALL"]},
                "seccompProfile": {"type": "RuntimeDefault"},
            },
        }
        return KubernetesObject(
            f"{self._name}-gate",
            "core/v1",
            "Pod",
            {
                "metadata": {"name": "kueue-gate", "namespace": NAMESPACE},
                "spec": {"containers": [container], "automountServiceAccountToken": False},
            },
            self.in_cluster(self._args.cluster, after),
        )

    def _objects(self, after: Sequence[pulumi.Resource]) -> None:
        """Topologies, then flavors, then the cohort and the queues that name them."""
        args = self._args
        profiles = list({p.pool: p for queue in args.queues for p in queue.profiles}.values())
        levels = {
            name: self._object("topology", "Topology", name, body, after)
            for name, body in queues.topologies(profiles).items()
        }
        flavors = [
            self._object(
                "flavor",
                "ResourceFlavor",
                profile.pool,
                queues.resource_flavor(profile),
                [*levels.values(), *after],
            )
            for profile in profiles
        ]
        checks: list[KubernetesObject] = []
        if any(profile.flavor.admission_check for profile in profiles):
            config = self._object(
                "provisioning",
                "ProvisioningRequestConfig",
                "config",
                queues.provisioning_config(profiles),
                after,
            )
            check = self._object(
                "provisioning", "AdmissionCheck", "check", queues.admission_check(), [config, *after]
            )
            checks = [config, check]
        quota = self._object(
            "cohort", "Cohort", queues.COHORT, queues.cohort(args.queues, args.nodes_max), [*flavors, *after]
        )
        for queue in args.queues:
            self._object(
                "queue",
                "ClusterQueue",
                queue.name,
                queues.cluster_queue(queue),
                [quota, *flavors, *checks, *after],
            )

    def _object(
        self, prefix: str, kind: str, name: str, body: dict[str, Any], after: Sequence[pulumi.Resource]
    ) -> KubernetesObject:
        opts = self.in_cluster(self._args.cluster, after)
        return KubernetesObject(f"{self._name}-{prefix}-{name}", GROUP, kind, body, opts)
