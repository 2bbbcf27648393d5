"""CSI drivers of an AKS cluster: those that its mounts need."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from azure_samples import cluster_args, profile

from gpuplatform.azure import AksCluster, AzureLustreDriver, AzureLustreDriverArgs
from gpuplatform.azure.lustre_driver import lustre_values
from gpuplatform.plan.recorder import Recording
from gpuplatform.profile import Taint

Update = Callable[[Callable[[], Any]], Recording]


def storage_profile(update: Update, *mounts: str) -> dict[str, Any] | None:
    recording = update(lambda: AksCluster("cluster", cluster_args(mounts=mounts)))
    found: dict[str, Any] | None = recording.named("cluster-aks").inputs.get("storageProfile")
    return found


@pytest.mark.parametrize(
    ("mounts", "blob"), [(("object",), True), (("lustre",), False), (("nfs", "object"), True)]
)
def test_sto_7_the_driver_for_buckets_is_on_exactly_where_one_is_mounted(
    update: Update, mounts: tuple[str, ...], blob: bool
) -> None:
    found = storage_profile(update, *mounts)
    assert found is not None
    assert found["blobCSIDriver"]["enabled"] is blob
    assert found["diskCSIDriver"]["enabled"] is True
    assert found["fileCSIDriver"]["enabled"] is True


def test_a_cluster_without_mounts_is_as_it_was(update: Update) -> None:
    assert storage_profile(update) is None


def test_pods_tokens_are_exchanged_where_buckets_are_mounted(update: Update) -> None:
    recording = update(lambda: AksCluster("cluster", cluster_args(mounts=("object",))))
    inputs = recording.named("cluster-aks").inputs
    assert inputs["oidcIssuerProfile"]["enabled"] is True
    assert inputs["securityProfile"]["workloadIdentity"]["enabled"] is True


def test_lustre_s_driver_runs_on_every_pool_whatever_its_taints(update: Update) -> None:
    tainted = profile(taints=(Taint(key="nvidia.com/gpu", value="present", effect="NO_SCHEDULE"),))
    tolerated = {toleration["key"] for toleration in lustre_values([tainted])["node"]["tolerations"]}
    assert "nvidia.com/gpu" in tolerated

    def program() -> None:
        cluster = AksCluster("cluster", cluster_args(mounts=("lustre",)))
        AzureLustreDriver(
            "lustre", AzureLustreDriverArgs(cluster=cluster.handle, profiles=[tainted], pools=[])
        )

    (release,) = update(program).of_type("kubernetes:helm.sh/v3:Release")
    assert release.inputs["chart"].endswith("/azurelustre-csi-driver")
    assert release.inputs["version"] == "0.6.0"
    assert release.inputs["namespace"] == "kube-system"
    assert release.deleted_with.endswith("cluster-aks")
