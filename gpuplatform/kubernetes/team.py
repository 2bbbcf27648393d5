"""A team's part of the cluster: a namespace, an identity, and volumes of the tiers that are theirs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import pulumi

from gpuplatform.component import Component
from gpuplatform.contracts import ClusterHandle, IdentityHandle, StorageHandle, Volume
from gpuplatform.kubernetes.objects import KubernetesObject
from gpuplatform.profile import NodeProfile
from gpuplatform.tags import Tags

__all__ = ["SERVICE_ACCOUNT", "PodSecurity", "TeamSpace", "TeamSpaceArgs", "labels", "pod_security"]

SERVICE_ACCOUNT: Final = "team"
"""Name of every team's service account; known before the cluster is, since identities name it."""

PodSecurity = Literal["baseline", "privileged"]

# https://kubernetes.io/docs/concepts/security/pod-security-standards, "Baseline": what a container may add.
_BASELINE_CAPABILITIES: Final = frozenset({
    "AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE",
    "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
})  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class TeamSpaceArgs:
    """What a team gets.

    Attributes:
        cluster: The cluster.
        team: The team's name, and its namespace's.
        identity: Who its pods are towards the cloud; None where they are nobody.
        volumes: The tiers that it mounts.
        tags: Tags of the environment, which become the namespace's labels.
        pod_security: Which pods are admitted: `pod_security` of the cluster's pools.
    """

    cluster: ClusterHandle
    team: str
    identity: IdentityHandle | None
    volumes: tuple[StorageHandle, ...]
    tags: Tags
    pod_security: PodSecurity = "baseline"


class TeamSpace(Component):
    """A namespace with a service account, and a volume with its claim for each tier.

    Volumes are bound to their claims from both sides, so that no other claim gets one. What is deleted here
    are the cluster's notions of the storage: the buckets and file systems don't belong to the cluster.

    Outputs:
        namespace: The namespace's name.
        service_account: The service account's name.
        claims: Names of the claims, by tier.
        pod_labels: What a pod carries to be the team towards the cloud.
        pod_annotations: What a pod carries to mount the team's volumes.
        pod_volumes: What a pod declares beside its claims to mount them, as the API spells it.
    """

    TOKEN = "gpuplatform:index:TeamSpace"  # noqa: S105 - a type token, no secret

    namespace: str
    service_account: str
    claims: dict[str, str]
    pod_labels: dict[str, str]
    pod_annotations: dict[str, str]
    pod_volumes: list[Mapping[str, Any]]

    def __init__(self, name: str, args: TeamSpaceArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        self._name = name
        self._args = args
        self._labels = labels(args.tags, args.team)
        self.namespace = args.team
        self.service_account = SERVICE_ACCOUNT
        namespace = self._object(
            "namespace",
            "Namespace",
            {"metadata": {"name": args.team, "labels": {**self._labels, **_admits(args.pod_security)}}},
            (),
        )
        self._account(namespace)
        for storage in args.volumes:
            self._volume(storage, namespace)
        volumes = [storage.volume for storage in args.volumes]
        self.claims = {storage.name: storage.name for storage in args.volumes}
        self.pod_labels = dict(args.identity.pod_labels) if args.identity else {}
        self.pod_annotations = {
            key: value for volume in volumes for key, value in volume.pod_annotations.items()
        }
        self.pod_volumes = _once(extra for volume in volumes for extra in volume.pod_volumes)
        self.finish(
            namespace=self.namespace,
            service_account=self.service_account,
            claims=self.claims,
            pod_labels=self.pod_labels,
            pod_annotations=self.pod_annotations,
            pod_volumes=self.pod_volumes,
        )

    def _account(self, namespace: KubernetesObject) -> None:
        """The service account, which comes after its identity's grants: a pod before them is turned away."""
        identity = self._args.identity
        metadata: dict[str, Any] = {
            "name": SERVICE_ACCOUNT,
            "namespace": self.namespace,
            "labels": self._labels,
        }
        if identity is not None and identity.annotations:
            metadata["annotations"] = dict(identity.annotations)
        self._object(
            "service-account",
            "ServiceAccount",
            {"metadata": metadata},
            [namespace, *self._grants],
        )

    def _volume(self, storage: StorageHandle, namespace: KubernetesObject) -> None:
        """A volume and its claim.

        Names of volumes are the whole cluster's: a tier's name has no hyphen, so no two teams' and tiers'
        make the same one.
        """
        volume = storage.volume
        name = f"{self.namespace}-{storage.name}"
        handle = volume.handle
        if volume.separator:
            handle = pulumi.Output.concat(volume.handle, volume.separator, name)
        csi: dict[str, Any] = {"driver": volume.driver, "volumeHandle": handle}
        if attributes := self._attributes(volume):
            csi["volumeAttributes"] = attributes
        spec: dict[str, Any] = {
            "capacity": {"storage": f"{volume.capacity_gib}Gi"},
            "accessModes": list(volume.access_modes),
            "persistentVolumeReclaimPolicy": "Retain",
            # Empty, not left out: the cluster's default class would be put in its place.
            "storageClassName": "",
            "volumeMode": "Filesystem",
            "claimRef": {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "namespace": self.namespace,
                "name": storage.name,
            },
            "csi": csi,
        }
        if volume.mount_options:
            spec["mountOptions"] = list(volume.mount_options)
        made = self._object(
            f"{storage.name}-volume",
            "PersistentVolume",
            {"metadata": {"name": name, "labels": self._labels}, "spec": spec},
            [storage.resource, *storage.ready, *self._grants],
        )
        self._object(
            f"{storage.name}-claim",
            "PersistentVolumeClaim",
            {
                "metadata": {"name": storage.name, "namespace": self.namespace, "labels": self._labels},
                "spec": {
                    "accessModes": list(volume.access_modes),
                    "storageClassName": "",
                    # From the volume, so that a volume that is replaced takes its claim along, and goes after
                    # it: alone it would wait for the claim that holds it, and come back bound to none.
                    "volumeName": made.metadata.apply(lambda metadata: metadata["name"]),
                    # Any that is not above the volume's. It says nothing, and a claim whose request follows a
                    # file system that grows would be replaced with it.
                    "resources": {"requests": {"storage": "1Gi"}},
                },
            },
            [namespace, made],
        )

    def _attributes(self, volume: Volume) -> dict[str, pulumi.Input[str]]:
        """What the driver is told; Azure's asks for the identity whose token it mounts with.

        Without it: "mountWithWorkloadIdentityToken is true but clientID is not specified"
        (kubernetes-sigs/blob-csi-driver, pkg/blob, GetAuthEnv; docs/workload-identity-static-pv-mount.md).
        """
        attributes = dict(volume.attributes)
        identity = self._args.identity
        if identity is not None and attributes.get("mountWithWorkloadIdentityToken") == "true":
            attributes["clientID"] = identity.principal
        return attributes

    @property
    def _grants(self) -> Sequence[pulumi.Resource]:
        return self._args.identity.ready if self._args.identity else ()

    def _object(
        self, suffix: str, kind: str, body: Mapping[str, Any], after: Sequence[pulumi.Resource]
    ) -> KubernetesObject:
        cluster = self._args.cluster
        opts = self.child(
            provider=cluster.provider,
            deleted_with=cluster.cluster,
            depends_on=[*cluster.ready, *after],
        )
        return KubernetesObject(f"{self._name}-{suffix}", "core/v1", kind, body, opts)


def pod_security(profiles: Sequence[NodeProfile]) -> PodSecurity:
    """The strictest standard under which a team's pods can use all pools as they are meant to be used.

    Pods of a fabric lock memory (IPC_LOCK) and some read libraries from the host, which `baseline` refuses
    (https://kubernetes.io/docs/concepts/security/pod-security-standards).
    """
    for profile in profiles:
        pod = profile.pod
        beyond = set(pod.capabilities) - _BASELINE_CAPABILITIES
        if beyond or pod.host_network or any("hostPath" in volume for volume in pod.volumes):
            return "privileged"
    return "baseline"


def labels(tags: Tags, team: str) -> dict[str, str]:
    """The tags as Kubernetes labels, with the team in place of the environment's own.

    A value starts and ends with a letter or digit, which Google Cloud's labels need not.
    """
    values = {**tags.gcp(), "team": team}
    return {f"gpuplatform.io/{key}": value.strip("_-") for key, value in values.items()}


def _admits(level: PodSecurity) -> dict[str, str]:
    """What is above `baseline` is told to who creates it and to the audit log even where pools need it."""
    return {
        "pod-security.kubernetes.io/enforce": level,
        "pod-security.kubernetes.io/warn": "baseline",
        "pod-security.kubernetes.io/audit": "baseline",
    }


def _once(volumes: Any) -> list[Mapping[str, Any]]:
    """Two tiers may want the same volume of a pod, whose names are unique in it."""
    by_name = {volume["name"]: volume for volume in volumes}
    return list(by_name.values())
