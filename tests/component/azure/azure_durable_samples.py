"""What an environment on Azure keeps: tiers, identities, state and a budget, as arguments to vary."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from azure_samples import SUBSCRIPTION, TAGS, network_args

from gpuplatform.azure import (
    AzureBudget,
    AzureBudgetArgs,
    AzureCiIdentity,
    AzureCiIdentityArgs,
    AzureNetwork,
    AzureObjectStore,
    AzureObjectStoreArgs,
    AzureSharedFilesystem,
    AzureSharedFilesystemArgs,
    AzureStateStore,
    AzureStateStoreArgs,
    AzureWorkloadIdentity,
    AzureWorkloadIdentityArgs,
)
from gpuplatform.config.identity import Github
from gpuplatform.permissions.azure import AzureActions
from gpuplatform.storage import ObjectPlan, SharedFilesystemPlan
from gpuplatform.trust import Trust, trust

ADMINS = "00000000-0000-4000-8000-0000000000aa"
COMMON: dict[str, Any] = {"name": "vision-prod", "region": "eastus", "tags": TAGS}
ISSUER = "https://eastus.oic.prod-aks.azure.com/t/c/"
ACTIONS = {
    "preview": AzureActions(actions=("Microsoft.ContainerService/managedClusters/read",)),
    "deploy": AzureActions(actions=("Microsoft.ContainerService/managedClusters/write",)),
}


def object_plan(**changes: Any) -> ObjectPlan:
    values: dict[str, Any] = {"tier": "data", "bucket": "visionproddata1a2b3c4d"}
    return ObjectPlan(**values | changes)


def lustre_plan(**changes: Any) -> SharedFilesystemPlan:
    values: dict[str, Any] = {
        "tier": "scratch",
        "service": "azure-managed-lustre",
        "capacity_gib": 8192,
        "throughput": 250,
        "sku": "AMLFS-Durable-Premium-250",
        "zone": "1",
    }
    return SharedFilesystemPlan(**values | changes)


def files_plan(**changes: Any) -> SharedFilesystemPlan:
    values: dict[str, Any] = {
        "tier": "home",
        "service": "azure-files-nfs",
        "capacity_gib": 500,
        "sku": "Premium_LRS",
    }
    return SharedFilesystemPlan(**values | changes)


def make_store(**changes: Any) -> AzureObjectStore:
    plan = object_plan(**changes)
    return AzureObjectStore(f"storage-{plan.tier}", AzureObjectStoreArgs(plan=plan, **COMMON))


def make_network(**changes: Any) -> AzureNetwork:
    return AzureNetwork("network", network_args(lustre={"scratch": 8192}, files=True, **changes))


def make_filesystem(plan: SharedFilesystemPlan, network: Any) -> AzureSharedFilesystem:
    arguments = AzureSharedFilesystemArgs(plan=plan, network=network, subscription=SUBSCRIPTION, **COMMON)
    return AzureSharedFilesystem(f"storage-{plan.tier}", arguments)


def make_identity(*stores: AzureObjectStore, team: str = "vision") -> AzureWorkloadIdentity:
    return AzureWorkloadIdentity(
        f"team-{team}",
        AzureWorkloadIdentityArgs(
            namespace=team,
            service_account="team",
            resource_group_name="vision-prod",
            issuer=ISSUER,
            stores=stores,
            **COMMON,
        ),
    )


def make_state() -> AzureStateStore:
    return AzureStateStore(
        "state", AzureStateStoreArgs(subscription=SUBSCRIPTION, admins=(ADMINS,), **COMMON)
    )


def github(**changes: Any) -> Trust:
    values: dict[str, Any] = {"repository": "octo/vision", "environments": ("prod",)}
    return trust(Github.model_validate(values | changes))


def make_ci(trusted: Trust | None = None, **changes: Any) -> AzureCiIdentity:
    values: dict[str, Any] = {
        "subscription": SUBSCRIPTION,
        "actions": ACTIONS,
        "conditions": {"deploy": "(a condition)"},
        "state": make_state(),
        "trust": trusted or github(),
    }
    return AzureCiIdentity("ci", AzureCiIdentityArgs(**COMMON, **values | changes))


def make_budget(**changes: Any) -> AzureBudget:
    values: dict[str, Any] = {
        "subscription": SUBSCRIPTION,
        "amount": Decimal("25000.50"),
        "contacts": ("ml@example.com",),
    }
    return AzureBudget("budget", AzureBudgetArgs(name="vision-prod", tags=TAGS, **values | changes))


def build_durable(*, keep: bool = True) -> None:
    network = make_network()
    store = make_store(keep=keep, cold_after_days=30, archive_after_days=180)
    make_filesystem(lustre_plan(keep=keep), network)
    make_filesystem(files_plan(keep=keep), network)
    make_identity(store)
    make_ci()
    make_budget()
