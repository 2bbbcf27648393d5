"""An NCCL job over whole nodes of one pool, wired from the pool's NodeProfile; pure.

An Indexed Job with a headless service: the pods find each other by name, and the first starts mpirun over
ssh. No operator is needed, neither Kubeflow's for MPIJob nor JobSet. The recipe is Google's own
(GoogleCloudPlatform/cluster-toolkit, examples/gke-a3-ultragpu/nccl-jobset-example.yaml) without the JobSet.
Everything lives in a namespace of its own, so that deleting that one leaves nothing behind.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from gpuplatform.accept.images import image_for
from gpuplatform.accept.script import KEYS_PATH, SCRIPT
from gpuplatform.profile import POOL_LABEL, NodeProfile

__all__ = ["CONTAINER", "DEADLINE_SECONDS", "JOB", "Keys", "manifests"]

JOB: Final = "nccl"
CONTAINER: Final = "nccl"
SERVICE: Final = "nccl"

PATIENCE_SECONDS: Final = 900
"""How long the first pod waits for the others: a gigabyte-sized image on a node that has just joined."""

DEADLINE_SECONDS: Final = 3600
"""The job's own end, once its pods run; a hanging collective never ends by itself."""

Object = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """An ssh key pair that lives as long as the job.

    Attributes:
        private: In OpenSSH's own format; the pods' host key as well.
        public: As in authorized_keys.
    """

    private: str
    public: str


def manifests(
    profile: NodeProfile, *, nodes: int, namespace: str, keys: Keys, image: str | None = None
) -> tuple[Object, ...]:
    """The objects in the order in which they are applied.

    Args:
        profile: The pool.
        nodes: How many whole nodes take part, at least two.
        namespace: A name that nobody else uses.
        keys: For mpirun's ssh.
        image: With nccl-tests, Open MPI and sshd; the cloud's own where it is left out.
    """
    return (
        {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {
                "name": namespace,
                # Locked memory and, on GKE, the node's own libraries: more than a baseline pod may.
                "labels": {"pod-security.kubernetes.io/enforce": "privileged", **_LABELS},
            },
        },
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": "ssh", "namespace": namespace},
            "type": "Opaque",
            "stringData": {"id": keys.private, "authorized_keys": keys.public},
        },
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": SERVICE, "namespace": namespace},
            # Pods are found before they are ready: the first one waits for the others by name.
            "spec": {"clusterIP": "None", "publishNotReadyAddresses": True, "selector": _LABELS},
        },
        *({**made, "metadata": {**made["metadata"], "namespace": namespace}} for made in profile.pod.objects),
        _job(profile, nodes, namespace, image or image_for(profile)),
    )


_LABELS: Final = {"app.kubernetes.io/name": "gpuplatform-accept"}


def _job(profile: NodeProfile, nodes: int, namespace: str, image: str) -> Object:
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": JOB, "namespace": namespace},
        "spec": {
            "completionMode": "Indexed",
            "completions": nodes,
            "parallelism": nodes,
            # A second try would hide what the first one found.
            "backoffLimit": 0,
            "template": {
                "metadata": {"labels": _LABELS, "annotations": profile.pod.annotations},
                "spec": _pod(profile, nodes, image),
            },
        },
    }


def _pod(profile: NodeProfile, nodes: int, image: str) -> Object:
    wiring = profile.pod
    taints = dict.fromkeys((taint.key, taint.effect) for taint in profile.taints)
    return {
        "subdomain": SERVICE,
        "restartPolicy": "Never",
        "activeDeadlineSeconds": DEADLINE_SECONDS,
        "terminationGracePeriodSeconds": 5,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "hostNetwork": wiring.host_network,
        "nodeSelector": {POOL_LABEL: profile.pool},
        "tolerations": [{"key": key, "operator": "Exists", "effect": effect} for key, effect in taints],
        "affinity": {
            "podAntiAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [
                    {"labelSelector": {"matchLabels": _LABELS}, "topologyKey": "kubernetes.io/hostname"}
                ]
            }
        },
        **({"initContainers": list(wiring.init_containers)} if wiring.init_containers else {}),
        **({"resourceClaims": list(wiring.claims)} if wiring.claims else {}),
        "containers": [_container(profile, nodes, image)],
        "volumes": [*wiring.volumes, {"name": "ssh", "secret": {"secretName": "ssh", "defaultMode": 0o400}}],
    }


def _container(profile: NodeProfile, nodes: int, image: str) -> Object:
    wiring = profile.pod
    claims = [{"name": claim["name"]} for claim in wiring.claims]
    return {
        "name": CONTAINER,
        "image": image,
        "command": ["/bin/bash", "-c", SCRIPT],
        "env": [
            *({"name": name, "value": value} for name, value in _environment(profile, nodes).items()),
            {"name": "NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
        ],
        "resources": {
            # Huge pages are given only to those who ask for memory as well (the API's own validation).
            "requests": {"cpu": "4", "memory": "16Gi", **wiring.resources},
            "limits": wiring.resources,
            **({"claims": claims} if claims else {}),
        },
        "securityContext": {"capabilities": {"add": list(wiring.capabilities)}}
        if wiring.capabilities
        else {},
        "volumeMounts": [*wiring.mounts, {"name": "ssh", "mountPath": KEYS_PATH, "readOnly": True}],
    }


def _environment(profile: NodeProfile, nodes: int) -> dict[str, str]:
    floor = profile.bandwidth
    # All-reduce always; beside it the collective that the published floor is of, where that is another.
    collectives = dict.fromkeys(("all_reduce", *((floor.collective,) if floor else ())))
    return {
        "NCCL_SOCKET_IFNAME": "eth0",
        **profile.pod.env,
        # The transport that NCCL picked stands in these lines and nowhere else.
        "NCCL_DEBUG": "INFO",
        "NCCL_DEBUG_SUBSYS": "INIT,NET",
        "NODES": str(nodes),
        "GPUS": str(profile.gpus),
        # An indexed pod's host name is the job's name and the pod's index.
        "JOB_NAME": JOB,
        "SUBDOMAIN": SERVICE,
        "PATIENCE": str(PATIENCE_SECONDS),
        "COLLECTIVES": " ".join(collectives),
        "MIN_BYTES": str(floor.min_bytes if floor else 1 << 10),
        "MAX_BYTES": str(floor.max_bytes if floor else 8 << 30),
    }
