"""Pools as Kueue sees them: flavors in an order of preference, queues, and what asks for capacity; pure.

Sources: kubernetes-sigs/kueue v0.19.2 config/components/crd/bases for the shapes (v1beta2);
https://kueue.sigs.k8s.io/docs/concepts for cohorts, flavors and topologies;
https://cloud.google.com/kubernetes-engine/docs/how-to/provisioningrequest for queued capacity.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gpuplatform.config.model import WorkloadClass
from gpuplatform.errors import Refusal
from gpuplatform.profile.model import NodeProfile
from gpuplatform.profile.operator import tolerations

__all__ = [
    "COHORT",
    "PROVISIONING",
    "Queue",
    "admission_check",
    "cluster_queue",
    "cohort",
    "provisioning_config",
    "queues_of",
    "resource_flavor",
    "topologies",
]

COHORT: Final = "gpuplatform"
PROVISIONING: Final = "queued-provisioning"
"""Name of the check and of its configuration."""

MOST_FLAVORS: Final = 64
"""Of one resource group, by the CRD; a resource can be in one group only."""

# Machines are chosen by their GPUs: what is left of processors and memory on them is no quota of its own.
UNLIMITED: Final = {"cpu": "1000000", "memory": "1000000Gi"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """One ClusterQueue: the pools that it may use, the preferred one first."""

    name: str
    profiles: tuple[NodeProfile, ...]


def queues_of(classes: Sequence[WorkloadClass], profiles: Sequence[NodeProfile]) -> tuple[Queue, ...]:
    """A queue for each workload class, and one for each queued pool that is in none.

    Nodes of a queued pool come by provisioning request only, which nobody but a queue makes: without one
    the pool could not be used at all.

    Raises:
        Refusal: More pools than Kueue takes in one group.
    """
    by_name = {profile.pool: profile for profile in profiles}
    made = [
        Queue(name=one.name, profiles=tuple(by_name[pool] for pool in one.pools if pool in by_name))
        for one in classes
    ]
    taken = {profile.pool for queue in made for profile in queue.profiles}
    made += [
        Queue(name=profile.pool, profiles=(profile,))
        for profile in profiles
        if profile.flavor.admission_check and profile.pool not in taken
    ]
    pools = {profile.pool for queue in made for profile in queue.profiles}
    if len(pools) > MOST_FLAVORS:
        raise Refusal(
            f"{len(pools)} pools are in workload classes",
            where="workload_classes",
            rule=f"Kueue takes {MOST_FLAVORS} flavors of a resource",
            way_out="leave pools out of the classes, or split the environment into two stacks",
        )
    return tuple(made)


def resource_flavor(profile: NodeProfile) -> dict[str, Any]:
    """The pool's ResourceFlavor. Its tolerations are added to the pods that are admitted to it."""
    name = topology_name(profile)
    return {
        "metadata": {"name": profile.flavor.name},
        "spec": {
            "nodeLabels": dict(profile.flavor.node_labels),
            "tolerations": tolerations([profile]),
            **({"topologyName": name} if name else {}),
        },
    }


def topology_name(profile: NodeProfile) -> str:
    """The name of the pool's Topology, after its widest level; empty where it is not placed by one."""
    levels = profile.flavor.topology_levels
    return f"{levels[0].rpartition('/')[2]}-{len(levels)}" if profile.flavor.topology_aware else ""


def topologies(profiles: Sequence[NodeProfile]) -> dict[str, dict[str, Any]]:
    """Each Topology of these pools by its name."""
    return {
        name: {
            "metadata": {"name": name},
            "spec": {"levels": [{"nodeLabel": level} for level in profile.flavor.topology_levels]},
        }
        for profile in profiles
        if (name := topology_name(profile))
    }


def cohort(made: Sequence[Queue], nodes_max: Mapping[str, int]) -> dict[str, Any]:
    """What all pools together hold at the autoscaler's maximum.

    The quota stands here, once, and the queues borrow from it: a pool that serves two classes would else be
    counted twice.
    """
    profiles = list({profile.pool: profile for queue in made for profile in queue.profiles}.values())
    quotas = {
        profile.pool: {
            name: str(count * nodes_max[profile.pool]) for name, count in profile.advertised.items()
        }
        for profile in profiles
    }
    return {
        "metadata": {"name": COHORT},
        "spec": {
            "resourceGroups": [_group(profiles, {pool: {**UNLIMITED, **own} for pool, own in quotas.items()})]
        },
    }


def cluster_queue(queue: Queue) -> dict[str, Any]:
    """The class's ClusterQueue.

    Its flavors are tried in their order, the next one where the one before has no room left. It owns nothing.
    """
    checked = [profile.flavor.name for profile in queue.profiles if profile.flavor.admission_check]
    strategy = {"admissionChecks": [{"name": PROVISIONING, "onFlavors": checked}]}
    return {
        "metadata": {"name": queue.name},
        "spec": {
            "cohortName": COHORT,
            "namespaceSelector": {},  # a namespace needs a LocalQueue, and teams get theirs one by one
            "queueingStrategy": "BestEffortFIFO",
            "resourceGroups": [_group(queue.profiles, {})],
            "preemption": {"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "LowerPriority"},
            **({"admissionChecksStrategy": strategy} if checked else {}),
        },
    }


def _group(profiles: Sequence[NodeProfile], quotas: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """All flavors name all resources: Kueue takes no group in which one is missing."""
    covered = list(
        dict.fromkeys([*UNLIMITED, *(name for profile in profiles for name in profile.advertised)])
    )
    return {
        "coveredResources": covered,
        "flavors": [
            {
                "name": profile.flavor.name,
                "resources": [
                    {"name": name, "nominalQuota": quotas.get(profile.pool, {}).get(name, "0")}
                    for name in covered
                ],
            }
            for profile in profiles
        ],
    }


def admission_check() -> dict[str, Any]:
    """What holds a workload back until the provisioning request for its nodes is granted."""
    return {
        "metadata": {"name": PROVISIONING},
        "spec": {
            "controllerName": "kueue.x-k8s.io/provisioning-request",
            "parameters": {
                "apiGroup": "kueue.x-k8s.io",
                "kind": "ProvisioningRequestConfig",
                "name": PROVISIONING,
            },
        },
    }


def provisioning_config(profiles: Sequence[NodeProfile]) -> dict[str, Any]:
    """The request that GKE's Dynamic Workload Scheduler answers, for pods that ask for GPUs."""
    names = (name for profile in profiles if profile.flavor.admission_check for name in profile.advertised)
    return {
        "metadata": {"name": PROVISIONING},
        "spec": {
            "provisioningClassName": "queued-provisioning.gke.io",
            "managedResources": list(dict.fromkeys(names)),
        },
    }
