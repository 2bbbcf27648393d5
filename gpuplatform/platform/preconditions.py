"""What a person must have done before a deployment, since no program here can do it or look it up; pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from gpuplatform.config import Platform
from gpuplatform.profile import NodeProfile
from gpuplatform.storage import ObjectPlan, SharedFilesystemPlan, StoragePlan, lustre_stays_off

__all__ = ["preconditions_of"]

_BUDGETS: Final = {
    # https://docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/activating-tags.html
    "aws": "the tags project and environment are activated as cost allocation tags in the payer's account; "
    "until then the cloud's budget counts nothing",
    "azure": "",
    # https://cloud.google.com/billing/docs/how-to/budget-api-access-control
    "gcp": "the project has the APIs billingbudgets, cloudbilling, cloudresourcemanager and monitoring, and "
    "whoever deploys has billing.resourcebudgets.write there",
}

_VIEWERS: Final = {
    # https://docs.aws.amazon.com/eks/latest/userguide/creating-access-entries.html
    "aws": "the roles and users in cluster.viewers exist; EKS refuses an access entry for one that does not",
    "azure": "whoever is to look at the cluster is a member of a group in cluster.viewers",
    # https://cloud.google.com/resource-manager/reference/rest/v1/projects/setIamPolicy
    "gcp": "the members in cluster.viewers exist; IAM refuses a policy that names one that does not",
}

_SERVICES: Final = {
    # https://learn.microsoft.com/azure/azure-managed-lustre/amlfs-prerequisites
    "azure-managed-lustre": "the subscription has the resource provider Microsoft.StorageCache, "
    "and quota for the file system",
    # https://cloud.google.com/managed-lustre/docs/create-instance
    "google-managed-lustre": "the project has the APIs lustre and servicenetworking",
    # https://cloud.google.com/filestore/docs/create-instance-console
    "filestore": "the project has the APIs file and servicenetworking",
}


def preconditions_of(
    config: Platform, profiles: Sequence[NodeProfile], storage: Sequence[StoragePlan]
) -> tuple[tuple[str, str], ...]:
    """Each with what it is for: a pool's or a tier's name, `cluster`, `budget` or `identity`."""
    return tuple(_each(config, profiles, storage))


def _each(
    config: Platform, profiles: Sequence[NodeProfile], storage: Sequence[StoragePlan]
) -> Iterator[tuple[str, str]]:
    for profile in profiles:
        for sentence in profile.preconditions:
            yield profile.pool, sentence
    cloud = config.cloud.provider
    for plan in storage:
        yield from _of_tier(plan, profiles, cloud)
    if config.cluster.viewers:
        yield "cluster", _VIEWERS[cloud]
    if config.budget is not None and not config.budget.contacts:
        yield "budget", "nobody is alerted: budget.contacts is empty, so no budget is made in the cloud"
    if config.budget is not None and config.budget.contacts and _BUDGETS[cloud]:
        yield "budget", _BUDGETS[cloud]
    if config.identity is not None:
        boundary = " (every role of the stack has the boundary that it makes)" if cloud == "aws" else ""
        yield "identity", f"`gpuplatform bootstrap` has been run for this stack{boundary}"


def _of_tier(plan: StoragePlan, profiles: Sequence[NodeProfile], cloud: str) -> Iterator[tuple[str, str]]:
    if isinstance(plan, SharedFilesystemPlan) and plan.service in _SERVICES:
        yield plan.tier, _SERVICES[plan.service]
    if off := lustre_stays_off(plan, profiles):
        yield plan.tier, f"nobody mounts it on {', '.join(off)}: GKE does on Container-Optimized OS only"
    if isinstance(plan, ObjectPlan) and cloud == "gcp":
        # https://cloud.google.com/storage/docs/encryption/using-customer-managed-keys
        yield plan.tier, "the project has the API cloudkms"
