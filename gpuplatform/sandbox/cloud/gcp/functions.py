"""Google Cloud's functions (data sources) that programs ask before they build."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpuplatform.sandbox.cloud import wire
from gpuplatform.sandbox.cloud.rule import Account
from gpuplatform.sandbox.cloud.world import World

__all__ = ["FUNCTIONS", "project_number", "storage_agent", "zones"]


def zones(region: str) -> list[str]:
    """Three zones a region. Which letters a region really has differs (us-east1 has b, c, d)."""
    letters = {"us-east1": "bcd", "europe-west1": "bcd", "us-central1": "abcf"}.get(region, "abc")
    return [f"{region}-{letter}" for letter in letters]


def project_number(project: str) -> str:
    """Twelve digits, the same for a project each time."""
    return str(100000000000 + int(wire.digest(project, length=10), 16) % 800000000000)


def _client_config(account: Account, _args: Mapping[str, Any], _world: World) -> dict[str, Any]:
    return {
        "id": f"projects/{account.owner}",
        "project": account.owner,
        "region": account.region,
        "zone": account.config.get("zone", ""),
        "accessToken": wire.secret("ya29.sandbox"),
        "defaultLabels": {},
    }


def _project(account: Account, args: Mapping[str, Any], _world: World) -> dict[str, Any]:
    project = args.get("projectId") or account.owner
    return {
        "id": f"projects/{project}",
        "projectId": project,
        "name": project,
        "number": project_number(project),
        "labels": {},
        "effectiveLabels": {},
        "pulumiLabels": {},
        "tags": {},
        "autoCreateNetwork": False,
        "billingAccount": "",
        "deletionPolicy": "",
        "folderId": "",
        "orgId": "",
    }


def _versions(account: Account, args: Mapping[str, Any], _world: World) -> dict[str, Any]:
    from gpuplatform.catalog import load

    prefix = args.get("versionPrefix") or ""
    minors = [version.minor for version in load().kubernetes("gcp")]
    # Releases of the right form; which patch is current, Google alone knows, and it changes by the week.
    found = [f"{minor}.1-gke.1000000" for minor in reversed(minors)]
    found = [version for version in found if version.startswith(prefix)]
    latest = found[0] if found else ""
    channels = dict.fromkeys(("RAPID", "REGULAR", "STABLE", "EXTENDED"), latest)
    return {
        "id": args.get("location") or account.region,
        "defaultClusterVersion": latest,
        "latestMasterVersion": latest,
        "latestNodeVersion": latest,
        "validMasterVersions": found,
        "validNodeVersions": found,
        "releaseChannelDefaultVersion": channels,
        "releaseChannelLatestVersion": channels,
    }


def _zones(account: Account, args: Mapping[str, Any], _world: World) -> dict[str, Any]:
    region = args.get("region") or account.region
    return {
        "id": f"projects/{account.owner}/regions/{region}",
        "names": zones(region),
        "region": region,
        "project": account.owner,
    }


def storage_agent(project: str) -> str:
    """Cloud Storage's own account in a project.

    https://cloud.google.com/storage/docs/getting-service-agent
    """
    return f"service-{project_number(project)}@gs-project-accounts.iam.gserviceaccount.com"


def _storage_account(account: Account, args: Mapping[str, Any], _world: World) -> dict[str, Any]:
    project = args.get("project") or account.owner
    email = storage_agent(project)
    return {"id": email, "emailAddress": email, "member": f"serviceAccount:{email}", "project": project}


FUNCTIONS = {
    "gcp:organizations/getClientConfig:getClientConfig": _client_config,
    "gcp:organizations/getProject:getProject": _project,
    "gcp:storage/getProjectServiceAccount:getProjectServiceAccount": _storage_account,
    "gcp:container/getEngineVersions:getEngineVersions": _versions,
    "gcp:compute/getZones:getZones": _zones,
}
