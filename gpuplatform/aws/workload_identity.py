"""Who a team's pods are on AWS: a role, tied to one service account by EKS Pod Identity."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
from pulumi_aws import eks

from gpuplatform.aws.cluster import EksCluster
from gpuplatform.aws.identity import RoleMaker
from gpuplatform.aws.object_store import AwsObjectStore
from gpuplatform.aws.policies import pod_identity_trust
from gpuplatform.aws.storage_policies import object_access
from gpuplatform.contracts import IdentityHandle, WorkloadIdentityArgs, WorkloadIdentityComponent

__all__ = ["AwsWorkloadIdentity", "AwsWorkloadIdentityArgs"]


@dataclass(frozen=True, kw_only=True)
class AwsWorkloadIdentityArgs(WorkloadIdentityArgs):
    """What an `AwsWorkloadIdentity` is made of: the arguments of every one, and those of AWS.

    Attributes:
        cluster: The pods' cluster; its Pod Identity agent hands out the role.
        stores: Buckets whose objects they read and write.
    """

    cluster: EksCluster
    stores: tuple[AwsObjectStore, ...] = ()


class AwsWorkloadIdentity(WorkloadIdentityComponent):
    """A role that only pods of one service account in one cluster may assume.

    By Pod Identity, which Mountpoint for Amazon S3's CSI driver takes as the pod's own since version 2
    (awslabs/mountpoint-s3-csi-driver, docs/CONFIGURATION.md, "Pod-Level Credentials"), so no role by web
    identity is needed and the service account carries no annotation.

    Outputs, beside those of every workload identity:
        association_id: The association of role and service account.
    """

    TOKEN = "gpuplatform:index:AwsWorkloadIdentity"  # noqa: S105 - a type token, no secret

    association_id: pulumi.Output[str]

    def __init__(
        self, name: str, args: AwsWorkloadIdentityArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(name, opts)
        roles = RoleMaker(
            owner=self,
            prefix=name,
            name=args.name,
            region=args.region,
            tags=args.tags,
            boundary=args.cluster.role_boundary,
        )
        part = f"pods-{args.namespace}-{args.service_account}"
        trust = args.cluster.cluster_id.apply(
            lambda arn: pod_identity_trust(arn, args.namespace, args.service_account)
        )
        # Without a bucket it may do nothing, and is somebody all the same: others can name it in theirs.
        access = (
            pulumi.Output.all(
                buckets=[store.bucket_id for store in args.stores],
                keys=[store.key_arn for store in args.stores],
            ).apply(lambda known: object_access(**known))
            if args.stores
            else None
        )
        role = roles.make(part, trust, inline=access)
        association = eks.PodIdentityAssociation(
            f"{name}-{part}",
            cluster_name=args.cluster.cluster_name,
            namespace=args.namespace,
            service_account=args.service_account,
            role_arn=role.arn,
            tags=args.tags.aws(),
            opts=self.child(depends_on=list(role.ready)),
        )
        self.association_id = association.association_id
        self.finish_identity(
            IdentityHandle(
                cloud="aws",
                namespace=args.namespace,
                service_account=args.service_account,
                principal=role.arn,
                # A pod gets the role only when it starts after the association.
                ready=(association, *role.ready),
            ),
            association_id=self.association_id,
        )
