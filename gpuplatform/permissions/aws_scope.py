"""How narrow each of AWS's actions is granted: on which resources, on what condition.

Source: the resource types and condition keys of each action in the Service Authorization Reference
(https://docs.aws.amazon.com/service-authorization/latest/reference/), and where a row says so, the service's
own guide. An action that only reads and is not here knows no resources, and is granted in the region alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from gpuplatform.permissions.buckets import state_bucket

__all__ = ["ATTACHABLE", "BOUNDED", "CI_PATH", "AwsScope", "Grant", "boundary_arn", "grants"]

CI_PATH: Final = "/gpuplatform-ci/"
"""Of the pipeline's own roles and policies: rights on a stack's, by their names, reach none of them."""

ATTACHABLE: Final = (
    "AmazonEC2ContainerRegistryPullOnly",
    "AmazonEKSClusterPolicy",
    "AmazonEKSWorkerNodePolicy",
    "AmazonEKS_CNI_Policy",
    "service-role/AmazonEBSCSIDriverPolicy",
)
"""AWS's own policies that a stack's roles may have."""

_PASSED_TO: Final = ("ec2.amazonaws.com", "eks.amazonaws.com", "pods.eks.amazonaws.com")
_SERVICES: Final = {
    "eks": (
        "autoscaling.amazonaws.com",
        "eks.amazonaws.com",
        "eks-nodegroup.amazonaws.com",
        "spot.amazonaws.com",
    ),
    "fsx": ("fsx.amazonaws.com", "s3.data-source.lustre.fsx.amazonaws.com"),
}
"""Services whose service-linked roles are made on first use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AwsScope:
    """Where a stack's resources are, and what they are named.

    Attributes:
        account: The account's number.
        region: The region.
        name: Prefix of every physical name, such as `vision-prod`.
        tags: Tags of all of the stack's resources, which tell them from others' where they have no names.
        buckets: Buckets whose names do not begin with `name`.
        emptied: Buckets that a teardown takes with all their objects.
    """

    account: str
    region: str
    name: str
    tags: Mapping[str, str] = field(default_factory=lambda: {"managed-by": "gpuplatform"})
    buckets: tuple[str, ...] = ()
    emptied: tuple[str, ...] = ()

    @property
    def partition(self) -> str:
        """The partition (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference-arns.html)."""
        if self.region.startswith("cn-"):
            return "aws-cn"
        return "aws-us-gov" if self.region.startswith("us-gov-") else "aws"

    @property
    def state_bucket(self) -> str:
        """The bucket of Pulumi's state, whose name begins like those of the stack's own."""
        return state_bucket("S3 bucket", self.name, of=(self.name, self.account, self.region))

    def arn(self, service: str, resource: str, *, regional: bool = True, account: bool = True) -> str:
        """An ARN in this account and region."""
        where = (self.region if regional else "", self.account if account else "")
        return ":".join(("arn", self.partition, service, *where, resource))

    def tagged(self, side: str) -> dict[str, Any]:
        """The condition that a resource (`ResourceTag`) or a request (`RequestTag`) has the tags."""
        return {"StringEquals": {f"aws:{side}/{key}": value for key, value in self.tags.items()}}


def boundary_arn(scope: AwsScope) -> str:
    """The permissions boundary of the stack's own roles, which `gpuplatform bootstrap` makes.

    Without one, whoever may make a role and write its policy may make an administrator of it
    (https://docs.aws.amazon.com/IAM/latest/UserGuide/access_policies_boundaries.html#access_policies_boundaries-delegate).
    """
    return scope.arn("iam", f"policy{CI_PATH}{scope.name}-{scope.region}-boundary", regional=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """One narrowing of an action.

    Attributes:
        resources: ARNs.
        condition: As a policy writes it; empty for none.
    """

    resources: tuple[str, ...]
    condition: Mapping[str, Any] = field(default_factory=dict)


_EC2_NEW: Final = {
    "AllocateAddress": "elastic-ip",
    "CreateInternetGateway": "internet-gateway",
    "CreateLaunchTemplate": "launch-template",
    "CreateNatGateway": "natgateway",
    "CreatePlacementGroup": "placement-group",
    "CreateRouteTable": "route-table",
    "CreateSecurityGroup": "security-group",
    "CreateSubnet": "subnet",
    "CreateVpc": "vpc",
    "CreateVpcEndpoint": "vpc-endpoint",
}
"""What an action makes: it must ask for the stack's tags. Each is a grant of its own: in one for all, a
subnet with the right tags could be made in anybody's VPC: all that a request touches sees its tags."""

_EC2_OURS: Final = frozenset(
    {
        "AssociateRouteTable",
        "AttachInternetGateway",
        "AuthorizeSecurityGroupEgress",
        "AuthorizeSecurityGroupIngress",
        "CreateLaunchTemplateVersion",
        "CreateNatGateway",
        "CreateRoute",
        "CreateRouteTable",
        "CreateSecurityGroup",
        "CreateSubnet",
        "CreateTags",
        "CreateVpcEndpoint",
        "DeleteInternetGateway",
        "DeleteLaunchTemplate",
        "DeleteNatGateway",
        "DeletePlacementGroup",
        "DeleteRoute",
        "DeleteRouteTable",
        "DeleteSecurityGroup",
        "DeleteSubnet",
        "DeleteTags",
        "DeleteVpc",
        "DeleteVpcEndpoints",
        "DetachInternetGateway",
        "DisassociateAddress",
        "DisassociateRouteTable",
        "ModifyLaunchTemplate",
        "ModifySecurityGroupRules",
        "ModifySubnetAttribute",
        "ModifyVpcAttribute",
        "ModifyVpcEndpoint",
        "ReleaseAddress",
        "ReplaceRoute",
        "ReplaceRouteTableAssociation",
        "RevokeSecurityGroupEgress",
        "RevokeSecurityGroupIngress",
    }
)
"""Actions on resources that exist: each that they touch must have the stack's tags."""

_EC2_TYPES: Final = (*sorted(_EC2_NEW.values()), "security-group-rule")

_STARTED: Final = (
    *("capacity-reservation", "instance", "launch-template", "network-interface"),
    *("placement-group", "security-group", "subnet", "volume"),
)
"""What an instance of a node group is made of; AMIs belong to no account in their ARNs."""


_TAGGING: Final = (
    "AuthorizeSecurityGroupEgress",
    "AuthorizeSecurityGroupIngress",
    *sorted(_EC2_NEW),
    "RunInstances",
)
"""Actions that make something with tags."""


def grants(action: str, scope: AwsScope) -> Iterator[Grant]:
    """How `action`, with its variant, is narrowed; nothing where it is not granted in this scope.

    Raises:
        KeyError: It changes something, and nobody has written down how it is narrowed.
    """
    service, _, rest = action.partition(":")
    name, _, variant = rest.partition("#")
    if service in _REGIONAL and name.startswith(("Describe", "Get")):
        yield _anywhere(scope)
    elif action == "sts:GetCallerIdentity":
        yield Grant(resources=("*",))
    else:
        yield from _NARROWED[service](name, variant, scope)


_REGIONAL: Final = frozenset({"autoscaling", "ec2", "fsx", "logs"})
"""Services whose reads know no resources."""


def _anywhere(scope: AwsScope) -> Grant:
    """For what reads and knows no resources."""
    return Grant(resources=("*",), condition={"StringEquals": {"aws:RequestedRegion": scope.region}})


def _ec2(name: str, variant: str, scope: AwsScope) -> Iterator[Grant]:
    def of(*types: str) -> tuple[str, ...]:
        return tuple(scope.arn("ec2", f"{kind}/*") for kind in types)

    new, ours = scope.tagged("RequestTag"), scope.tagged("ResourceTag")
    if variant == "default":
        # A VPC's own security group has no tags when it comes, so it is known by having none.
        none = {f"aws:ResourceTag/{key}": "true" for key in scope.tags}
        yield Grant(resources=of("security-group"), condition={**new, "Null": none})
        return
    if name == "RunInstances":
        image = scope.arn("ec2", "image/*", account=False)
        template = {"ArnLike": {"ec2:LaunchTemplate": scope.arn("ec2", "launch-template/*")}}
        yield Grant(resources=(image, *of(*_STARTED)), condition=template)
        return
    if name == "CreateTags":
        # Of what comes into being at this moment; not of what others made.
        yield Grant(resources=of("*"), condition={"StringEquals": {"ec2:CreateAction": list(_TAGGING)}})
    if name in _EC2_NEW:
        yield Grant(resources=of(_EC2_NEW[name]), condition=new)
    if name.startswith("AuthorizeSecurityGroup"):
        # The rule itself has no tags before it exists; its group is checked.
        yield Grant(resources=of("security-group-rule"))
    if name in _EC2_OURS:
        yield Grant(resources=of(*_EC2_TYPES), condition=ours)
    elif name not in _EC2_NEW:
        raise KeyError(f"ec2:{name}")


def _logs(_name: str, _variant: str, scope: AwsScope) -> Iterator[Grant]:
    yield Grant(resources=(scope.arn("logs", f"log-group:/aws/eks/{scope.name}/*"),))


def _autoscaling(_name: str, _variant: str, scope: AwsScope) -> Iterator[Grant]:
    groups = scope.arn("autoscaling", "autoScalingGroup:*:autoScalingGroupName/eks-*")
    # EKS tags the groups of its node groups so.
    owned = {f"aws:ResourceTag/k8s.io/cluster-autoscaler/{scope.name}": "owned"}
    yield Grant(resources=(groups,), condition={"StringEquals": owned})


def _budgets(_name: str, _variant: str, scope: AwsScope) -> Iterator[Grant]:
    yield Grant(resources=(scope.arn("budgets", f"budget/{scope.name}-*", regional=False),))


def _eks(_name: str, _variant: str, scope: AwsScope) -> Iterator[Grant]:
    # By name alone: every ARN of a cluster's parts has the cluster's name in it. CreateCluster takes the ARN
    # to be (https://docs.aws.amazon.com/eks/latest/userguide/security-iam-id-based-policy-examples.html).
    parts = ("nodegroup", "addon", "access-entry", "podidentityassociation")
    yield Grant(
        resources=(
            scope.arn("eks", f"cluster/{scope.name}"),
            *(scope.arn("eks", f"{part}/{scope.name}/*") for part in parts),
        )
    )


BOUNDED: Final = frozenset(
    {
        "AttachRolePolicy",
        "CreateRole",
        "DeleteRole",
        "DeleteRolePolicy",
        "DetachRolePolicy",
        "PutRolePolicy",
        "UpdateAssumeRolePolicy",
        "UpdateRole",
    }
)
"""What is allowed on roles with the boundary alone; these actions see it
(https://docs.aws.amazon.com/service-authorization/latest/reference/list_awsidentityandaccessmanagementiam.html).
`TagRole`, `UntagRole` and `PassRole` do not."""


def _iam(name: str, variant: str, scope: AwsScope) -> Iterator[Grant]:
    def of(*resources: str) -> tuple[str, ...]:
        return tuple(scope.arn("iam", resource, regional=False) for resource in resources)

    # Every one has the region in its name: whoever names theirs like the platform alone is out of reach.
    roles = of(f"role/{scope.name}-{scope.region}-*")
    if name == "CreateServiceLinkedRole":
        services = _SERVICES[variant]
        yield Grant(
            resources=of(*(f"role/aws-service-role/{service}/*" for service in services)),
            condition={"StringEquals": {"iam:AWSServiceName": list(services)}},
        )
    elif variant == "fsx":
        # A service-linked role: only the service can change what it may do.
        yield Grant(resources=of(f"role/aws-service-role/{_SERVICES['fsx'][1]}/*"))
    elif name in BOUNDED:
        yield _bounded(name, roles, scope)
    elif name == "PassRole":
        yield Grant(resources=roles, condition={"StringEquals": {"iam:PassedToService": list(_PASSED_TO)}})
    elif "OpenIDConnectProvider" in name:
        # Those of clusters. Deliberately out of reach: GitHub's.
        yield Grant(resources=of(f"oidc-provider/oidc.eks.{scope.region}.amazonaws.com/id/*"))
    elif name in {"TagRole", "UntagRole"}:
        yield from _tagging_roles(name, roles, scope)
    elif "Role" in name and name.startswith(("Get", "List")):
        yield Grant(resources=(*roles, *of("role/aws-service-role/*")))
    elif "Policy" in name:
        yield Grant(resources=of(f"policy/{scope.name}-{scope.region}-*"))
    else:
        raise KeyError(f"iam:{name}")


def _bounded(name: str, roles: tuple[str, ...], scope: AwsScope) -> Grant:
    condition: dict[str, Any] = {"StringEquals": {"iam:PermissionsBoundary": boundary_arn(scope)}}
    if name in {"AttachRolePolicy", "DetachRolePolicy"}:
        condition["ArnLike"] = {"iam:PolicyARN": list(attachable(scope))}
    return Grant(resources=roles, condition=condition)


def _tagging_roles(name: str, roles: tuple[str, ...], scope: AwsScope) -> Iterator[Grant]:
    """Of roles with the stack's tags, and of those without any: at its creation a role has none."""
    if name == "TagRole":
        none = {f"aws:ResourceTag/{key}": "true" for key in scope.tags}
        yield Grant(resources=roles, condition={**scope.tagged("RequestTag"), "Null": none})
    yield Grant(resources=roles, condition=scope.tagged("ResourceTag"))


def attachable(scope: AwsScope) -> tuple[str, ...]:
    """Policies that may be attached to a stack's role."""
    managed = (f"arn:{scope.partition}:iam::aws:policy/{name}" for name in ATTACHABLE)
    return (*managed, scope.arn("iam", f"policy/{scope.name}-{scope.region}-*", regional=False))


def _kms(name: str, variant: str, scope: AwsScope) -> Iterator[Grant]:
    key = (scope.arn("kms", "key/*"),)
    new, ours = scope.tagged("RequestTag"), scope.tagged("ResourceTag")
    if name == "CreateKey":
        yield Grant(resources=("*",), condition=new)
    elif variant == "new":
        # On `*`: a new key's tags are refused to whom they are allowed on particular keys alone. Nobody's key
        # with a name is taken by tagging it (https://docs.aws.amazon.com/kms/latest/developerguide/
        # tag-permissions.html and alias-authorization.html).
        yield Grant(resources=("*",), condition={**new, "Null": {"kms:ResourceAliases": "true"}})
    elif name == "ListAliases":
        yield _anywhere(scope)
    elif name == "CreateGrant":
        # For the services that encrypt with it, not for a principal of the caller's choice.
        yield Grant(resources=key, condition={**ours, "Bool": {"kms:GrantIsForAWSResource": "true"}})
    else:
        if name.endswith("Alias"):
            yield Grant(resources=(scope.arn("kms", f"alias/{scope.name}-*"),))
        yield Grant(resources=key, condition=ours)


def _s3(name: str, _variant: str, scope: AwsScope) -> Iterator[Grant]:
    def of(*names: str) -> tuple[str, ...]:
        return tuple(scope.arn("s3", f"{name}", regional=False, account=False) for name in names)

    if name in {"DeleteObject", "DeleteObjectVersion"}:
        if scope.emptied:
            yield Grant(resources=of(*(f"{bucket}/*" for bucket in scope.emptied)))
    elif name == "ListBucketVersions":
        if scope.emptied:
            yield Grant(resources=of(*scope.emptied))
    else:
        yield Grant(resources=of(f"{scope.name}-*", *scope.buckets))


def _fsx(name: str, variant: str, scope: AwsScope) -> Iterator[Grant]:
    def of(*types: str) -> tuple[str, ...]:
        return tuple(scope.arn("fsx", f"{kind}/*") for kind in types)

    new, ours = scope.tagged("RequestTag"), scope.tagged("ResourceTag")
    if variant == "new":
        yield Grant(resources=of("association", "backup", "file-system"), condition=new)
    elif name == "CreateFileSystem":
        yield Grant(resources=of("file-system"), condition=new)
    elif name == "CreateDataRepositoryAssociation":
        yield Grant(resources=of("association"), condition=new)
        yield Grant(resources=of("file-system"), condition=ours)
    else:
        if name in {"CreateBackup", "DeleteFileSystem"}:
            yield Grant(resources=of("backup"), condition=new)
        yield Grant(resources=of("association", "file-system"), condition=ours)


_NARROWED: Final[dict[str, Callable[[str, str, AwsScope], Iterator[Grant]]]] = {
    "autoscaling": _autoscaling,
    "budgets": _budgets,
    "ec2": _ec2,
    "eks": _eks,
    "fsx": _fsx,
    "iam": _iam,
    "kms": _kms,
    "logs": _logs,
    "s3": _s3,
}
"""By service: how an action, by name and variant, is narrowed."""
