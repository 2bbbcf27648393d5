import json

import pytest

GKE = "gcp:container/cluster:Cluster"
NAMESPACE = "kubernetes:core/v1:Namespace"
CONFIG_MAP = "kubernetes:core/v1:ConfigMap"
RELEASE = "kubernetes:helm.sh/v3:Release"
VOLUME = "kubernetes:core/v1:PersistentVolume"
CLAIM = "kubernetes:core/v1:PersistentVolumeClaim"
STORAGE_CLASS = "kubernetes:storage.k8s.io/v1:StorageClass"
KUEUE = {"name": "kueue", "version": "0.19.2", "namespace": "kueue-system", "createNamespace": True}


@pytest.fixture
def clusters(client):
    gcp = client("gcp", project="ml", region="us-central1")
    gcp.up("gcp:compute/network:Network", "net", {"name": "net"})
    base = {"location": "us-central1", "network": "net", "deletionProtection": False}
    return gcp, [gcp.up(GKE, name, {**base, "name": name}) for name in ("one", "two")]


def kubeconfig(endpoint):
    return json.dumps({"clusters": [{"name": "c", "cluster": {"server": f"https://{endpoint}"}}]})


@pytest.fixture
def one(client, clusters):
    return client("kubernetes", kubeconfig=kubeconfig(clusters[1][0].outputs["endpoint"]))


@pytest.fixture
def two(client, clusters):
    return client("kubernetes", kubeconfig=kubeconfig(clusters[1][1].outputs["endpoint"]))


def test_two_clusters_are_apart(one, two, refusal):
    one.up(NAMESPACE, "n", {"metadata": {"name": "gpu-operator"}})
    two.up(NAMESPACE, "n", {"metadata": {"name": "gpu-operator"}})
    with refusal('namespaces "gpu-operator" already exists'):
        one.up(NAMESPACE, "m", {"metadata": {"name": "gpu-operator"}})


def test_an_object_needs_its_namespace(one, refusal):
    inputs = {"metadata": {"name": "config", "namespace": "team"}, "data": {"a": "b"}}
    with refusal('namespaces "team" not found'):
        one.up(CONFIG_MAP, "c", inputs)
    one.up(NAMESPACE, "n", {"metadata": {"name": "team"}})

    made = one.up(CONFIG_MAP, "c", inputs)

    assert made.id == "team/config"
    assert made.outputs["metadata"]["uid"]
    assert one.up(CONFIG_MAP, "d", {"metadata": {"namespace": "kube-system"}}).id.startswith("kube-system/d-")


def test_a_namespace_takes_along_what_is_in_it(one):
    namespace = one.up(NAMESPACE, "n", {"metadata": {"name": "team"}})
    inner = one.up(CONFIG_MAP, "c", {"metadata": {"name": "config", "namespace": "team"}})

    one.delete(namespace)

    assert one.read(inner).id == ""


def test_a_release_records_what_was_asked_for(one, refusal):
    inputs = {
        "chart": "gpu-operator",
        "name": "gpu-operator",
        "namespace": "gpu-operator",
        "version": "v26.3.3",
        "values": {"driver": {"enabled": False}},
    }
    with refusal('namespaces "gpu-operator" not found'):
        one.up(RELEASE, "r", inputs)

    made = one.up(RELEASE, "r", {**inputs, "createNamespace": True})

    assert made.outputs["status"]["status"] == "deployed"
    assert made.outputs["status"]["revision"] == 1
    assert made.outputs["values"] == {"driver": {"enabled": False}}
    assert one.update(made, version="v26.7.0")["status"]["revision"] == 2
    assert not one.diff(made, version="v26.7.0").replaces
    assert list(one.diff(made, namespace="other").replaces) == ["namespace"]


@pytest.mark.parametrize(
    ("version", "kind", "chart"),
    [
        ("kueue.x-k8s.io/v1beta2", "Cohort", "kueue"),
        ("mellanox.com/v1alpha1", "NicClusterPolicy", "network-operator"),
        ("nfd.k8s-sigs.io/v1alpha1", "NodeFeatureRule", "network-operator"),
        ("nfd.k8s-sigs.io/v1alpha1", "NodeFeatureRule", "gpu-operator"),
    ],
)
def test_pul_4_a_kind_that_a_chart_brings_is_not_there_before_it(one, refusal, version, kind, chart):
    token = f"kubernetes:{version}:{kind}"
    inputs = {"apiVersion": version, "kind": kind, "metadata": {"name": "it"}}

    with refusal(f'no matches for kind "{kind}"'):
        one.up(token, "it", inputs)
    one.up(RELEASE, chart, {**KUEUE, "chart": chart, "name": chart})
    assert one.up(token, "it", inputs).id == "it"


def test_a_custom_resource_is_kept_as_it_is(one):
    token = "kubernetes:kueue.x-k8s.io/v1beta1:ClusterQueue"  # noqa: S105 - a type token
    inputs = {
        "apiVersion": "kueue.x-k8s.io/v1beta1",
        "kind": "ClusterQueue",
        "metadata": {"name": "gpus"},
        "spec": {"cohort": "all"},
    }

    one.up(RELEASE, "kueue", {**KUEUE, "chart": "oci://registry.k8s.io/kueue/charts/kueue"})
    made = one.up(token, "q", inputs)

    assert made.id == "gpus"
    assert made.outputs["spec"] == {"cohort": "all"}


@pytest.mark.usefixtures("clusters")
def test_a_cluster_that_is_not_there_cannot_be_reached(client, refusal):
    elsewhere = client("kubernetes", kubeconfig=kubeconfig("192.0.2.255.example"))
    bare = client("kubernetes")

    with refusal("cluster is unreachable", "no simulated cluster has this API server"):
        elsewhere.up(NAMESPACE, "n", {"metadata": {"name": "a"}})
    with refusal("the sandbox does not use the machine's own"):
        bare.up(NAMESPACE, "n", {"metadata": {"name": "a"}})


def test_a_cluster_that_goes_takes_its_objects_along(clusters, one, two, world, refusal):
    gcp, (first, _) = clusters
    made = one.up(NAMESPACE, "n", {"metadata": {"name": "a"}})
    two.up(NAMESPACE, "n", {"metadata": {"name": "a"}})

    gcp.delete(first)

    assert len([thing for thing in world.all() if thing.token == NAMESPACE]) == 1
    with refusal("the cluster is gone"):
        one.delete(made)


def test_names_are_checked_in_preview(one):
    assert "metadata.name" in one.check(NAMESPACE, "n", {"metadata": {"name": "Not_Valid"}}).failures


def test_an_object_moves_to_another_namespace_by_replacement(one):
    made = one.up(CONFIG_MAP, "c", {"metadata": {"name": "config", "namespace": "default"}})

    found = one.diff(made, metadata={"name": "config", "namespace": "kube-system"})

    assert list(found.replaces) == ["metadata"]
    assert found.deleteBeforeReplace


def team(one, *, claim_ref=("team", "data"), volume="team-data"):
    """A namespace and a volume that is reserved for a claim in it."""
    namespace = one.up(NAMESPACE, "n", {"metadata": {"name": "team"}})
    spec = {
        "capacity": {"storage": "1024Gi"},
        "accessModes": ["ReadWriteMany"],
        "persistentVolumeReclaimPolicy": "Retain",
        "claimRef": dict(zip(("namespace", "name"), claim_ref, strict=True)),
        "csi": {"driver": "s3.csi.aws.com", "volumeHandle": "bucket"},
    }
    return namespace, one.up(VOLUME, "v", {"metadata": {"name": volume}, "spec": spec})


def claim(one, volume="team-data", name="data"):
    return one.up(
        CLAIM,
        "c",
        {
            "metadata": {"name": name, "namespace": "team"},
            "spec": {"accessModes": ["ReadWriteMany"], "storageClassName": "", "volumeName": volume},
        },
    )


def test_a_claim_is_bound_to_the_volume_that_it_names_and_that_names_it(one, two, refusal):
    _, volume = team(one)
    team(two)  # another cluster's volume of the same name changes nothing
    with refusal("is not bound to volume other: it does not exist"):
        claim(one, volume="other")
    with refusal("is reserved for claim team/data"):
        claim(one, name="mine")

    claim(one)

    assert one.read(volume).outputs["status"] == {"phase": "Bound"}


def test_a_claim_without_a_volume_waits_for_its_pod(one):
    one.up(NAMESPACE, "n", {"metadata": {"name": "team"}})
    spec = {"accessModes": ["ReadWriteOnce"], "storageClassName": "disks-default"}

    assert one.up(CLAIM, "c", {"metadata": {"name": "a", "namespace": "team"}, "spec": spec}).id == "team/a"


def test_a_volume_stays_as_long_as_its_claim_and_is_bound_once(one, refusal):
    _, volume = team(one)
    made = claim(one)
    with refusal("volume team-data is bound to claim team/data"):
        one.delete(volume)

    one.delete(made)

    assert one.read(volume).outputs["status"] == {"phase": "Released"}
    with refusal("it is Released"):
        claim(one)
    one.delete(volume)


def test_a_namespace_that_goes_releases_its_teams_volumes(one):
    namespace, volume = team(one)
    claim(one)

    one.delete(namespace)

    assert one.read(volume).outputs["status"] == {"phase": "Released"}


def test_what_replaces_volumes_and_claims(one):
    _, volume = team(one)
    made = claim(one)
    spec = volume.inputs["spec"]

    other = {**spec, "csi": {**spec["csi"], "volumeHandle": "another"}}
    grown = {**spec, "capacity": {"storage": "2048Gi"}}

    assert one.diff(volume, spec=other).replaces
    assert not one.diff(volume, spec=grown).replaces
    assert one.diff(made, spec={**made.inputs["spec"], "volumeName": "other"}).replaces


def test_a_storage_class_keeps_its_reclaim_policy(one, refusal):
    inputs = {
        "metadata": {"name": "disks-fast"},
        "provisioner": "ebs.csi.aws.com",
        "parameters": {"type": "io2"},
        "reclaimPolicy": "Retain",
        "volumeBindingMode": "WaitForFirstConsumer",
        "allowVolumeExpansion": True,
    }
    made = one.up(STORAGE_CLASS, "s", inputs)

    with refusal("reclaimPolicy: field is immutable"):
        one.update(made, reclaimPolicy="Delete")
    assert list(one.diff(made, parameters={"type": "gp3"}).replaces)
    assert not one.diff(made, allowVolumeExpansion=False).replaces
