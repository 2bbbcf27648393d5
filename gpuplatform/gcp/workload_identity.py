"""Who the pods of one service account are towards Google Cloud, and which buckets they use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pulumi

from gpuplatform.contracts import (
    IdentityHandle,
    WorkloadIdentityArgs,
    WorkloadIdentityComponent,
)
from gpuplatform.gcp.cluster import GkeCluster
from gpuplatform.gcp.object_store import GcpObjectStore
from gpuplatform.gcp.project import project_number
from gpuplatform.gcp.resource import GcpResource

__all__ = ["GcpWorkloadIdentity", "GcpWorkloadIdentityArgs"]

_ROLE: Final = "roles/storage.objectUser"
"""Reads, lists, writes and deletes objects, no more
(https://cloud.google.com/storage/docs/access-control/iam-roles)."""


@dataclass(frozen=True, kw_only=True)
class GcpWorkloadIdentityArgs(WorkloadIdentityArgs):
    """What a `GcpWorkloadIdentity` is made of: the arguments of every one, and those of Google Cloud.

    Attributes:
        project: The project's ID.
        cluster: The cluster. The first one of a project makes its workload identity pool, and before that no
            grant can name a member of it.
        stores: The buckets that the pods read and write.
    """

    project: str
    cluster: GkeCluster
    stores: tuple[GcpObjectStore, ...] = ()


class GcpWorkloadIdentity(WorkloadIdentityComponent):
    """Grants on buckets to a Kubernetes service account itself; no Google service account stands between.

    https://cloud.google.com/kubernetes-engine/docs/how-to/workload-identity. So there is no key, nothing that
    could be impersonated, and no annotation; and the nodes' own account gets nothing
    (GoogleCloudPlatform/gcs-fuse-csi-driver#27, #56).

    The principal is that of a namespace and a name, in every cluster of the project alike: keep environments
    in projects of their own
    (https://cloud.google.com/kubernetes-engine/docs/concepts/workload-identity#identity_sameness).

    Outputs: those of every workload identity.
    """

    TOKEN = "gpuplatform:index:GcpWorkloadIdentity"  # noqa: S105 - a type token, no secret

    def __init__(
        self, name: str, args: GcpWorkloadIdentityArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(name, opts)
        principal = pulumi.Output.concat(
            "principal://iam.googleapis.com/projects/",
            project_number(self, args.project),
            f"/locations/global/workloadIdentityPools/{args.project}.svc.id.goog",
            f"/subject/ns/{args.namespace}/sa/{args.service_account}",
        )
        grants = tuple(
            GcpResource(
                "gcp:storage/bucketIAMMember:BucketIAMMember",
                f"{name}-{store.handle.name}",
                {"bucket": store.bucket_name, "role": _ROLE, "member": principal},
                self.child(depends_on=[args.cluster.handle.cluster]),
            )
            for store in args.stores
        )
        self.finish_identity(
            IdentityHandle(
                cloud="gcp",
                namespace=args.namespace,
                service_account=args.service_account,
                principal=principal,
                ready=grants,
            )
        )
