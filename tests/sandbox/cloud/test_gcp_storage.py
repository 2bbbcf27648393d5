"""Cloud Storage, Cloud KMS and file systems of the simulated Google Cloud."""

import pytest

RING = "gcp:kms/keyRing:KeyRing"
KEY = "gcp:kms/cryptoKey:CryptoKey"
GRANT = "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember"
BUCKET = "gcp:storage/bucket:Bucket"
MEMBER = "gcp:storage/bucketIAMMember:BucketIAMMember"
OBJECT = "gcp:storage/bucketObject:BucketObject"
NETWORK = "gcp:compute/network:Network"
SUBNET = "gcp:compute/subnetwork:Subnetwork"
RANGE = "gcp:compute/globalAddress:GlobalAddress"
PEERING = "gcp:servicenetworking/connection:Connection"
LUSTRE = "gcp:lustre/instance:Instance"
FILESTORE = "gcp:filestore/instance:Instance"
AGENT = "gcp:storage/getProjectServiceAccount:getProjectServiceAccount"


@pytest.fixture
def gcp(client):
    return client("gcp", project="ml", region="us-central1")


@pytest.fixture
def key(gcp):
    ring = gcp.up(RING, "ring", {"location": "us-central1"})
    made = gcp.up(KEY, "key", {"keyRing": ring.id})
    member = f"serviceAccount:{gcp.invoke(AGENT)['emailAddress']}"
    role = "roles/cloudkms.cryptoKeyEncrypterDecrypter"
    gcp.up(GRANT, "grant", {"cryptoKeyId": made.id, "role": role, "member": member})
    return made


@pytest.fixture
def network(gcp):
    return gcp.up(NETWORK, "net", {"autoCreateSubnetworks": False})


@pytest.fixture
def peering(gcp, network):
    block = {"purpose": "VPC_PEERING", "address": "10.0.240.0", "prefixLength": 20.0}
    taken = gcp.up(RANGE, "services", {"network": network.id, "addressType": "INTERNAL", **block})
    inputs = {
        "network": network.id,
        "service": "servicenetworking.googleapis.com",
        "reservedPeeringRanges": [taken.outputs["name"]],
    }
    return gcp.up(PEERING, "peering", inputs)


def bucket(gcp, name="data", **changes):
    return gcp.up(BUCKET, name, {"name": name, "location": "us-central1", **changes})


def lustre(gcp, network, **changes):
    inputs = {
        "instanceId": "scratch",
        "location": "us-central1-a",
        "filesystem": "scratch",
        "capacityGib": "18000",
        "perUnitStorageThroughput": "500",
        "network": network.id,
    }
    return gcp.up(LUSTRE, "scratch", {**inputs, **changes})


def filestore(gcp, network, **changes):
    there = {"network": network.id, "modes": ["MODE_IPV4"], "connectMode": "PRIVATE_SERVICE_ACCESS"}
    inputs = {
        "name": "home",
        "location": "us-central1-a",
        "tier": "ZONAL",
        "fileShares": {"name": "home", "capacityGb": 1024.0},
        "networks": [there],
    }
    return gcp.up(FILESTORE, "home", {**inputs, **changes})


def test_a_bucket_has_the_outputs_that_programs_build_on(gcp):
    made = bucket(gcp)

    assert made.id == made.outputs["name"] == "data"
    assert made.outputs["url"] == "gs://data"
    assert made.outputs["location"] == "US-CENTRAL1"
    number = gcp.invoke("gcp:organizations/getProject:getProject")["number"]
    assert made.outputs["projectNumber"] == int(number)


def test_a_bucket_s_name_is_taken_in_the_whole_world(gcp, client, refusal):
    bucket(gcp)
    other = client("gcp", stack="prod", project="another", region="us-central1")

    with refusal("Error 409", "bucket name is not available"):
        bucket(other)


@pytest.mark.parametrize("name", ["Data", "a", "googly", "my-google-data"])
def test_a_name_that_no_bucket_has_is_refused_in_preview(gcp, name):
    assert "name" in gcp.check(BUCKET, "b", {"name": name, "location": "us-central1"}).failures


def test_a_deleted_bucket_s_name_is_free_again(gcp):
    gcp.delete(bucket(gcp))

    assert bucket(gcp).id == "data"


def test_a_bucket_with_objects_is_deleted_by_force_only(gcp, refusal):
    kept = bucket(gcp)
    inside = gcp.up(OBJECT, "o", {"bucket": "data", "name": "o", "content": "x"})
    with refusal("containing objects"):
        gcp.delete(kept)

    gcp.update(kept, forceDestroy=True)
    gcp.delete(kept)
    assert gcp.read(inside).id == ""


def test_a_bucket_takes_a_key_only_once_cloud_storage_may_use_it(gcp, key, refusal):
    ungranted = gcp.up(KEY, "other", {"keyRing": key.inputs["keyRing"]})
    with refusal("Error 403", "Permission denied on Cloud KMS key"):
        bucket(gcp, encryption={"defaultKmsKeyName": ungranted.id})

    assert bucket(gcp, encryption={"defaultKmsKeyName": key.id}).id == "data"


def test_a_bucket_and_its_key_are_in_one_place(gcp, key, refusal):
    with refusal("same location"):
        bucket(gcp, location="us-east4", encryption={"defaultKmsKeyName": key.id})


def test_a_key_that_is_not_there_encrypts_nothing(gcp, refusal):
    with refusal("Error 404"):
        bucket(
            gcp, encryption={"defaultKmsKeyName": "projects/ml/locations/us-central1/keyRings/r/cryptoKeys/k"}
        )


@pytest.mark.parametrize("token", [RING, KEY])
def test_the_name_of_a_deleted_ring_or_key_stays_taken_and_a_made_up_one_is_new(gcp, refusal, token):
    ring = gcp.up(RING, "outer", {"location": "us-central1"})
    where = {"location": "us-central1"} if token == RING else {"keyRing": ring.id}
    named = gcp.up(token, "mine", {"name": "mine", **where})
    made_up = gcp.up(token, "theirs", where)
    for made in (named, made_up):
        gcp.delete(made)

    with refusal("Error 409", "already exists"):
        gcp.up(token, "mine", {"name": "mine", **where})
    assert gcp.up(token, "theirs", where).id != made_up.id


def test_what_stays_of_a_key_is_its_name_and_no_thing(gcp, world):
    ring = gcp.up(RING, "ring", {"location": "us-central1"})
    gcp.delete(ring)

    assert world.all() == []
    assert gcp.read(ring).id == ""


def test_a_grant_on_a_bucket_needs_the_bucket_and_goes_with_it(gcp, refusal):
    grant = {"bucket": "data", "role": "roles/storage.objectUser", "member": "user:a@example.com"}
    with refusal("Error 404"):
        gcp.up(MEMBER, "m", grant)
    there = bucket(gcp)
    made = gcp.up(MEMBER, "m", grant)

    assert made.id == "data/roles/storage.objectUser/user:a@example.com"
    gcp.delete(there)
    assert gcp.read(made).id == ""


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"softDeletePolicy": {"retentionDurationSeconds": 86400.0}}, "softDeletePolicy"),
        ({"versioning": {"enabled": True}, "hierarchicalNamespace": {"enabled": True}}, "versioning"),
    ],
)
def test_what_a_bucket_cannot_be_is_refused_in_preview(gcp, changes, path):
    failures = gcp.check(BUCKET, "b", {"location": "us-central1", **changes}).failures

    assert any(found.startswith(path) for found in failures)


@pytest.mark.parametrize(
    ("changes", "replaced"),
    [
        ({"location": "us-east4"}, ["location"]),
        ({"forceDestroy": True}, []),
        ({"lifecycleRules": [{"action": {"type": "Delete"}, "condition": {"age": 7.0}}]}, []),
    ],
)
def test_a_change_of_a_bucket_updates_or_replaces_as_the_provider_says(gcp, changes, replaced):
    found = gcp.diff(bucket(gcp), **changes)

    assert found.changes == found.DIFF_SOME
    assert list(found.replaces) == replaced


@pytest.mark.usefixtures("peering")
def test_lustre_says_where_it_is_mounted(gcp, network):
    made = lustre(gcp, network)

    assert made.id == "projects/ml/locations/us-central1-a/instances/scratch"
    assert made.outputs["mountPoint"].startswith("198.51.100.")
    assert made.outputs["mountPoint"].endswith("@tcp:/scratch")


@pytest.mark.usefixtures("peering")
def test_filestore_says_its_address_inside_of_its_network(gcp, network):
    made = filestore(gcp, network)

    assert made.outputs["networks"][0]["ipAddresses"][0].startswith("198.51.100.")
    assert gcp.read(made).outputs["networks"] == made.outputs["networks"]


@pytest.mark.parametrize("make", [lustre, filestore])
def test_a_network_without_private_services_access_gets_no_file_system(gcp, network, refusal, make):
    with refusal("no private services access"):
        make(gcp, network)


@pytest.mark.parametrize("make", [lustre, filestore])
def test_a_network_with_a_file_system_stays(gcp, network, peering, refusal, make):
    made = make(gcp, network)
    with refusal("already being used"):
        gcp.delete(network)

    gcp.delete(made)
    gcp.delete(peering)


@pytest.mark.usefixtures("peering")
def test_a_protected_filestore_is_not_deleted(gcp, network, refusal):
    made = filestore(gcp, network, deletionProtectionEnabled=True)
    with refusal("protected against deletion"):
        gcp.delete(made)

    gcp.update(made, deletionProtectionEnabled=False)
    gcp.delete(made)
    assert gcp.read(made).id == ""


@pytest.mark.usefixtures("peering")
@pytest.mark.parametrize(
    ("make", "changes", "replaced"),
    [
        (lustre, {"capacityGib": "36000"}, []),
        (lustre, {"location": "us-central1-b"}, ["location"]),
        (filestore, {"fileShares": {"name": "home", "capacityGb": 1280.0}}, []),
        (filestore, {"tier": "REGIONAL"}, ["tier"]),
    ],
)
def test_a_file_system_grows_in_place_and_moves_by_replacement(gcp, network, make, changes, replaced):
    found = gcp.diff(make(gcp, network), **changes)

    assert found.changes == found.DIFF_SOME
    assert list(found.replaces) == replaced


@pytest.mark.usefixtures("peering")
def test_lustre_s_throughput_cannot_be_changed(gcp, network, refusal):
    made = lustre(gcp, network)

    with refusal("perUnitStorageThroughput is immutable"):
        gcp.update(made, perUnitStorageThroughput="1000")


@pytest.mark.parametrize("name", ["ninechars", "a-b"])
def test_lustre_s_name_of_its_own_is_short(gcp, name):
    inputs = {
        "instanceId": "scratch", "location": "us-central1-a", "capacityGib": "18000", "network": "n",
        "filesystem": name,
    }  # fmt: skip
    assert "filesystem" in gcp.check(LUSTRE, "l", inputs).failures


def test_the_range_of_managed_services_overlaps_no_subnet(gcp, network, refusal):
    gcp.up(SUBNET, "nodes", {"network": network.id, "ipCidrRange": "10.0.240.0/24"})
    block = {"purpose": "VPC_PEERING", "address": "10.0.240.0", "prefixLength": 20.0}

    with refusal("overlaps with subnetwork"):
        gcp.up(RANGE, "services", {"network": network.id, **block})
    assert "prefixLength" in gcp.check(RANGE, "r", {"purpose": "VPC_PEERING"}).failures


@pytest.mark.usefixtures("peering")
def test_a_peered_range_stays(gcp, network, refusal):
    other = gcp.up(RANGE, "more", {"network": network.id, "purpose": "VPC_PEERING", "prefixLength": 20.0})
    gcp.delete(other)
    inputs = {"network": network.id, "service": "s", "reservedPeeringRanges": ["nope"]}
    with refusal("Error 404", "'nope'"):
        gcp.up(PEERING, "p", inputs)
