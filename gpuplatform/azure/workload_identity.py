"""Who a team's pods are towards Azure: an identity that the cluster's tokens are exchanged for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pulumi
from pulumi_azure_native import managedidentity

from gpuplatform.azure.identity import grant
from gpuplatform.azure.object_store import AzureObjectStore
from gpuplatform.contracts import IdentityHandle, WorkloadIdentityArgs, WorkloadIdentityComponent
from gpuplatform.naming import fit

__all__ = ["AUDIENCE", "AzureWorkloadIdentity", "AzureWorkloadIdentityArgs"]

AUDIENCE: Final = "api://AzureADTokenExchange"
"""What a token says that it is for, where Entra exchanges it
(https://learn.microsoft.com/entra/workload-id/workload-identity-federation-create-trust)."""

# Source of the ID: https://learn.microsoft.com/azure/role-based-access-control/built-in-roles
BLOB_DATA_CONTRIBUTOR: Final = "ba92f5b4-2d11-453d-a403-e96b0029c9fe"


@dataclass(frozen=True, kw_only=True)
class AzureWorkloadIdentityArgs(WorkloadIdentityArgs):
    """What an `AzureWorkloadIdentity` is made of: the arguments of every such identity, and those of Azure.

    Attributes:
        resource_group_name: The group that the identity goes into: the environment's.
        issuer: The cluster's OIDC issuer, an output of the cluster.
        stores: Buckets that its pods read and write.
    """

    resource_group_name: pulumi.Input[str]
    issuer: pulumi.Input[str]
    stores: tuple[AzureObjectStore, ...] = ()


class AzureWorkloadIdentity(WorkloadIdentityComponent):
    """A user-assigned identity for one service account, with a role on the containers of its buckets alone.

    Not on their accounts: a role there would reach what is added to them later. Never the nodes' identity,
    which every pod of a node could use.

    Outputs: those of every such identity.
    """

    TOKEN = "gpuplatform:index:AzureWorkloadIdentity"  # noqa: S105 - a type token, no secret

    def __init__(
        self, name: str, args: AzureWorkloadIdentityArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(name, opts)
        identity = managedidentity.UserAssignedIdentity(
            f"{name}-identity",
            resource_name_=fit("managed identity", args.name, args.namespace, args.service_account),
            resource_group_name=args.resource_group_name,
            location=args.region,
            tags=args.tags.azure(),
            opts=self.child(),
        )
        trusts = managedidentity.FederatedIdentityCredential(
            f"{name}-trusts-cluster",
            federated_identity_credential_resource_name="cluster",
            resource_name_=identity.name,
            resource_group_name=args.resource_group_name,
            issuer=args.issuer,
            subject=f"system:serviceaccount:{args.namespace}:{args.service_account}",
            audiences=[AUDIENCE],
            opts=self.child(),
        )
        grants = [
            grant(
                self,
                f"{name}-writes-{store.handle.name}",
                identity.principal_id,
                BLOB_DATA_CONTRIBUTOR,
                store.container_id,
            )
            for store in args.stores
        ]
        self.finish_identity(
            IdentityHandle(
                cloud="azure",
                namespace=args.namespace,
                service_account=args.service_account,
                principal=identity.client_id,
                # Both are read by AKS's webhook, which gives the pods their token
                # (https://learn.microsoft.com/azure/aks/workload-identity-overview).
                annotations={"azure.workload.identity/client-id": identity.client_id},
                pod_labels={"azure.workload.identity/use": "true"},
                ready=(trusts, *grants),
            )
        )
