"""What the Cluster Autoscaler needs from AWS: a role for its service account, and nothing more."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
from pulumi_aws import eks

from gpuplatform.aws.cluster import EksCluster
from gpuplatform.aws.identity import RoleMaker
from gpuplatform.aws.policies import autoscaler_policy, pod_identity_trust
from gpuplatform.component import Component
from gpuplatform.tags import Tags

__all__ = ["AutoscalerRole", "AutoscalerRoleArgs"]


@dataclass(frozen=True, kw_only=True)
class AutoscalerRoleArgs:
    """Whose autoscaler it is.

    Attributes:
        name: The cluster's name; begins the role's name.
        region: Its region.
        cluster: The cluster; its Pod Identity agent hands out the role.
        namespace: Where the autoscaler runs.
        service_account: As which service account.
        tags: Tags of every resource.
    """

    name: str
    region: str
    cluster: EksCluster
    namespace: str
    service_account: str
    tags: Tags


class AutoscalerRole(Component):
    """A role that scales this cluster's node groups, tied to one service account by Pod Identity.

    Outputs:
        role_arn: The role.
        association_id: The association; the autoscaler starts after it, since a pod gets the role only when
            it is created later.

    Attributes:
        association: The association, to depend on.
    """

    TOKEN = "gpuplatform:index:AutoscalerRole"  # noqa: S105 - a type token, no secret

    association: pulumi.Resource
    role_arn: pulumi.Output[str]
    association_id: pulumi.Output[str]

    def __init__(
        self, name: str, args: AutoscalerRoleArgs, opts: pulumi.ResourceOptions | None = None
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
        trust = args.cluster.cluster_id.apply(
            lambda arn: pod_identity_trust(arn, args.namespace, args.service_account)
        )
        role = roles.make("autoscaler", trust, inline=autoscaler_policy(args.name))
        association = eks.PodIdentityAssociation(
            f"{name}-autoscaler",
            cluster_name=args.cluster.cluster_name,
            namespace=args.namespace,
            service_account=args.service_account,
            role_arn=role.arn,
            tags=args.tags.aws(),
            opts=self.child(depends_on=list(role.ready)),
        )
        self.association = association
        self.role_arn = role.arn
        self.association_id = association.association_id
        self.finish(role_arn=self.role_arn, association_id=self.association_id)
