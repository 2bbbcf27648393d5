"""What Google Cloud's resource types ask for.

Source of the names: each service's IAM permissions (https://cloud.google.com/iam/docs/permissions-reference);
which call needs which: the service's own API reference, named by row. Beside the call, the provider waits for
its operation.
"""

from __future__ import annotations

from typing import Final

from gpuplatform.permissions.model import Row, Table

__all__ = ["GRANTABLE", "TABLE"]

_DOCS: Final = "https://cloud.google.com/"
_COMPUTE: Final = f"{_DOCS}compute/docs/reference/rest/v1/"

# Source: https://cloud.google.com/iam/docs/understanding-roles
GRANTABLE: Final[dict[str, str]] = {
    "roles/container.admin": "those who administer the cluster (cluster.admins)",
    "roles/container.viewer": "those who look at it (cluster.viewers)",
    "roles/container.defaultNodeServiceAccount": "the nodes' service account",
}
"""Roles on the project that a stack's resources grant, with who gets them."""

_NODES: Final = ("iam.serviceAccounts.actAs",)
_GLOBAL: Final = "compute.globalOperations.get"
_REGION: Final = "compute.regionOperations.get"


def _compute(
    token: str,
    kind: str,
    *,
    create: tuple[str, ...] = (),
    update: tuple[str, ...] = ("update",),
    wait: str = _GLOBAL,
    network: bool = True,
) -> Row:
    """A resource of Compute Engine.

    Args:
        token: Its type token, without `gcp:compute/`.
        kind: Its collection in the API.
        create: What else its creation asks for.
        update: Verbs that change it.
        wait: What waiting for its operations asks for.
        network: Whether it changes its network, which asks for that as well.
    """
    policy = ("compute.networks.updatePolicy",) if network else ()
    own = tuple(f"compute.{kind}.{verb}" for verb in update)
    return Row(
        type=f"gcp:compute/{token}",
        source=f"{_COMPUTE}{kind}",
        read=(f"compute.{kind}.get", wait),
        create=(f"compute.{kind}.create", *policy, *create),
        update=(*own, *policy) if own else (),
        delete=(f"compute.{kind}.delete", *policy),
    )


def _granting(token: str, of: str, source: str) -> Row:
    """One member of a resource's policy: the provider reads the policy, changes it and writes it back."""
    return Row(
        type=token,
        source=source,
        read=(f"{of}.getIamPolicy",),
        create=(f"{of}.setIamPolicy",),
        delete=(f"{of}.setIamPolicy",),
    )


def _bootstrap(token: str, reason: str) -> Row:
    return Row(type=token, source=f"{_DOCS}iam/docs/permissions-reference", bootstrap=reason)


_ROWS: Final = (
    # `userProjectOverride` bills calls to the project: billing's API takes none without.
    Row(
        type="pulumi:providers:gcp",
        source=f"{_DOCS}service-usage/docs/access-control",
        read=("resourcemanager.projects.get", "serviceusage.services.use"),
    ),
    # A kubeconfig is the cluster's address and certificate authority; what somebody may do there, the
    # roles/container.admin of `cluster.admins` says. Endpoints by DNS, which we have not, would ask for
    # `container.clusters.connect`.
    Row(
        type="pulumi:providers:kubernetes",
        source=f"{_DOCS}kubernetes-engine/docs/how-to/cluster-access-for-kubectl",
        read=("container.clusters.get",),
    ),
    Row(
        type="kubernetes:",
        source=f"{_DOCS}kubernetes-engine/docs/how-to/cluster-access-for-kubectl",
        read=("container.clusters.get",),
    ),
    _compute("network:Network", "networks", network=False),
    _compute(
        "subnetwork:Subnetwork",
        "subnetworks",
        update=("update", "expandIpCidrRange", "setPrivateIpGoogleAccess"),
        wait=_REGION,
    ),
    _compute("firewall:Firewall", "firewalls"),
    _compute("router:Router", "routers", wait=_REGION),
    # A gateway is a part of its router.
    Row(
        type="gcp:compute/routerNat:RouterNat",
        source=f"{_COMPUTE}routers/patch",
        read=("compute.routers.get", _REGION),
        create=("compute.routers.update", "compute.subnetworks.use", "compute.addresses.use"),
        update=("compute.routers.update", "compute.subnetworks.use", "compute.addresses.use"),
        delete=("compute.routers.update",),
    ),
    _compute("address:Address", "addresses", update=("setLabels",), wait=_REGION, network=False),
    _compute(
        "globalAddress:GlobalAddress",
        "globalAddresses",
        # An internal range of a network: for private services access.
        create=("compute.globalAddresses.createInternal", "compute.networks.use"),
        update=("setLabels",),
        network=False,
    ),
    _compute(
        "resourcePolicy:ResourcePolicy", "resourcePolicies", update=("update",), wait=_REGION, network=False
    ),
    Row(
        type="gcp:container/cluster:Cluster",
        source=f"{_DOCS}kubernetes-engine/docs/reference/rest/v1/projects.locations.clusters",
        read=("container.clusters.get", "container.clusters.list", "container.operations.get"),
        create=("container.clusters.create", *_NODES),
        update=("container.clusters.update", *_NODES),
        delete=("container.clusters.delete",),
    ),
    # A pool is a part of its cluster. The provider looks at its instance groups.
    Row(
        type="gcp:container/nodePool:NodePool",
        source=f"{_DOCS}kubernetes-engine/docs/reference/rest/v1/projects.locations.clusters.nodePools",
        read=(
            "container.clusters.get",
            "container.operations.get",
            "container.operations.list",
            "compute.instanceGroupManagers.get",
        ),
        create=("container.clusters.update", *_NODES),
        update=("container.clusters.update", *_NODES),
        delete=("container.clusters.update",),
    ),
    # Deliberately absent: keys, tokens, signatures, and the policies of service accounts.
    Row(
        type="gcp:serviceaccount/account:Account",
        source=f"{_DOCS}iam/docs/reference/rest/v1/projects.serviceAccounts",
        read=("iam.serviceAccounts.get",),
        create=("iam.serviceAccounts.create",),
        update=("iam.serviceAccounts.update", "iam.serviceAccounts.enable", "iam.serviceAccounts.disable"),
        delete=("iam.serviceAccounts.delete",),
    ),
    # Which roles: `condition` says.
    _granting(
        "gcp:projects/iAMMember:IAMMember",
        "resourcemanager.projects",
        f"{_DOCS}resource-manager/reference/rest/v1/projects/setIamPolicy",
    ),
    # Deliberately no `disable`: other stacks of the project may need the API.
    Row(
        type="gcp:projects/service:Service",
        source=f"{_DOCS}service-usage/docs/reference/rest/v1/services",
        read=("serviceusage.services.get", "serviceusage.services.list", "serviceusage.operations.get"),
        create=("serviceusage.services.enable",),
    ),
    Row(
        type="gcp:storage/bucket:Bucket",
        source=f"{_DOCS}storage/docs/json_api/v1/buckets",
        read=("storage.buckets.get", "storage.buckets.getIamPolicy"),
        create=("storage.buckets.create",),
        update=("storage.buckets.update",),
        delete=("storage.buckets.delete",),
    ),
    _granting(
        "gcp:storage/bucketIAMMember:BucketIAMMember",
        "storage.buckets",
        f"{_DOCS}storage/docs/json_api/v1/buckets/setIamPolicy",
    ),
    # A key ring cannot be deleted, and a key's versions are destroyed with it: what they encrypt is lost.
    Row(
        type="gcp:kms/keyRing:KeyRing",
        source=f"{_DOCS}kms/docs/reference/rest/v1/projects.locations.keyRings",
        read=("cloudkms.keyRings.get",),
        create=("cloudkms.keyRings.create",),
    ),
    Row(
        type="gcp:kms/cryptoKey:CryptoKey",
        source=f"{_DOCS}kms/docs/reference/rest/v1/projects.locations.keyRings.cryptoKeys",
        read=("cloudkms.cryptoKeys.get", "cloudkms.cryptoKeyVersions.list"),
        create=("cloudkms.cryptoKeys.create",),
        update=("cloudkms.cryptoKeys.update",),
        delete=("cloudkms.cryptoKeys.update", "cloudkms.cryptoKeyVersions.destroy"),
    ),
    _granting(
        "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember",
        "cloudkms.cryptoKeys",
        f"{_DOCS}kms/docs/reference/rest/v1/projects.locations.keyRings.cryptoKeys/setIamPolicy",
    ),
    Row(
        type="gcp:lustre/instance:Instance",
        source=f"{_DOCS}managed-lustre/docs/access-control",
        read=("lustre.instances.get", "lustre.operations.get"),
        # `compute.networks.use` is not in the service's documentation; other services with a network of
        # their customer's ask for it.
        create=("lustre.instances.create", "compute.networks.get", "compute.networks.use"),
        update=("lustre.instances.update",),
        delete=("lustre.instances.delete",),
    ),
    Row(
        type="gcp:filestore/instance:Instance",
        source=f"{_DOCS}filestore/docs/access-control",
        read=("file.instances.get", "file.operations.get"),
        create=("file.instances.create", "compute.networks.get", "compute.networks.use"),
        update=("file.instances.update",),
        delete=("file.instances.delete",),
    ),
    # The other end is peered by Google; taking the connection down removes the peering.
    Row(
        type="gcp:servicenetworking/connection:Connection",
        source=f"{_DOCS}service-infrastructure/docs/service-networking/access-control",
        read=(
            "servicenetworking.services.get",
            "servicenetworking.operations.get",
            "compute.networks.get",
            "resourcemanager.projects.get",
            _GLOBAL,
        ),
        create=("servicenetworking.services.addPeering", "compute.networks.use"),
        update=("servicenetworking.services.addPeering",),
        delete=("servicenetworking.services.deleteConnection", "compute.networks.removePeering"),
    ),
    # `billing.budgets.*` exist on the billing account alone, where a project's role cannot reach: a budget of
    # a single project is had by these ("single-project budgets").
    Row(
        type="gcp:billing/budget:Budget",
        source=f"{_DOCS}billing/docs/how-to/budget-api-access-control",
        read=("billing.resourcebudgets.read", "resourcemanager.projects.get"),
        create=("billing.resourcebudgets.write",),
        update=("billing.resourcebudgets.write",),
        delete=("billing.resourcebudgets.write",),
    ),
    Row(
        type="gcp:monitoring/notificationChannel:NotificationChannel",
        source=f"{_DOCS}monitoring/access-control",
        read=("monitoring.notificationChannels.get",),
        create=("monitoring.notificationChannels.create",),
        update=("monitoring.notificationChannels.update",),
        delete=("monitoring.notificationChannels.delete",),
    ),
    _bootstrap("gcp:projects/iAMCustomRole:IAMCustomRole", "whoever may write roles may widen their own"),
    _bootstrap("gcp:iam/workloadIdentityPool:WorkloadIdentityPool", "it says whose tokens are trusted"),
    _bootstrap(
        "gcp:iam/workloadIdentityPoolProvider:WorkloadIdentityPoolProvider",
        "it says whose tokens are trusted",
    ),
    _bootstrap(
        "gcp:serviceaccount/iAMMember:IAMMember",
        "whoever may write service accounts' policies may act as any of them",
    ),
)

TABLE: Final[Table] = {row.type: row for row in _ROWS}
