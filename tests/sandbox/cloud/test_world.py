import threading

import pytest

from gpuplatform.errors import SandboxError
from gpuplatform.sandbox.cloud import serve
from gpuplatform.sandbox.cloud.faults import ENVIRONMENT, Faults
from gpuplatform.sandbox.cloud.world import World
from gpuplatform.sandbox.sdk_types import SECRET, SIGNATURE

VPC = "aws:ec2/vpc:Vpc"
BUCKET = "aws:s3/bucket:Bucket"
POOL = "gcp:container/nodePool:NodePool"


def test_a_type_without_a_rule_works_too(client):
    aws = client("aws", region="us-east-1")

    made = aws.up("aws:sqs/queue:Queue", "jobs", {"delaySeconds": 5.0})

    assert made.id.startswith("jobs-")
    assert made.outputs["delaySeconds"] == 5
    assert made.outputs["arn"].startswith("arn:aws:sqs:us-east-1:")
    assert list(aws.diff(made, delaySeconds=6.0).diffs) == ["delaySeconds"]


def test_a_wrong_property_is_refused_in_preview(client):
    failures = client("aws", region="us-east-1").check(VPC, "v", {"cidrBlok": "10.0.0.0/16"}).failures

    assert failures == {"cidrBlok": "unknown property; did you mean cidrBlock?"}


def test_secrets_stay_secret_in_outputs_and_in_the_file(client, world):
    aws = client("aws", region="us-east-1")
    hidden = {SIGNATURE: SECRET, "value": "s3cret"}

    made = aws.up("aws:ssm/parameter:Parameter", "p", {"type": "SecureString", "value": hidden})

    assert made.outputs["value"] == hidden
    assert aws.read(made).outputs["value"] == hidden
    assert world.all()[0].inputs["value"] == hidden


def test_a_refresh_sees_drift_and_what_is_gone(client, world):
    aws = client("aws", region="us-east-1")
    made = aws.up(VPC, "v", {"cidrBlock": "10.0.0.0/16"})
    (thing,) = world.all()
    outputs = {**thing.outputs, "tags": {"by": "hand"}}

    world.change(thing.key, inputs={**thing.inputs, "tags": {"by": "hand"}}, outputs=outputs)
    assert aws.read(made).inputs["tags"] == {"by": "hand"}

    world.remove(thing.key)
    assert aws.read(made).id == ""


def test_what_exists_is_listed_by_stack_and_survives_the_servers(tmp_path, client, running):
    client("aws", "dev", region="us-east-1").up(VPC, "v", {"cidrBlock": "10.0.0.0/16"})
    client("aws", "prod", region="us-east-1").up(VPC, "v", {"cidrBlock": "10.0.0.0/16"})
    running.stop()

    world = World(tmp_path / "world.sqlite")

    assert [thing.stack for thing in world.all()] == ["test/dev", "test/prod"]
    assert [thing.stack for thing in world.all("dev")] == ["test/dev"]
    assert world.forget("prod") == 1
    assert [thing.stack for thing in world.all()] == ["test/dev"]
    world.close()


def test_an_id_is_never_given_twice(client):
    aws = client("aws", region="us-east-1")
    first = aws.up(VPC, "v", {"cidrBlock": "10.0.0.0/16"})
    aws.delete(first)

    assert aws.up(VPC, "v", {"cidrBlock": "10.0.0.0/16"}).id != first.id


def test_many_threads_make_many_things(client, world):
    aws = client("aws", region="us-east-1")
    workers = [
        threading.Thread(target=aws.up, args=(VPC, f"v{i}", {"cidrBlock": "10.0.0.0/16"})) for i in range(32)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()

    assert len({thing.id for thing in world.all()}) == 32


def test_a_file_that_cannot_be_used_says_so(tmp_path):
    (tmp_path / "world.sqlite").write_text(
        "this is no database at all, and long enough to be sure of it" * 20
    )

    with pytest.raises(SandboxError, match="cannot be used"):
        serve(tmp_path / "world.sqlite")
    with pytest.raises(SandboxError, match="no such simulated cloud: oci"):
        serve(tmp_path / "other.sqlite", ["oci"])


def test_the_provider_checks_its_own_configuration(running):
    import grpc
    from google.protobuf import struct_pb2
    from pulumi.runtime.proto import provider_pb2, provider_pb2_grpc

    news = struct_pb2.Struct()
    news.update({"regoin": "us-east-1"})
    stub = provider_pb2_grpc.ResourceProviderStub(grpc.insecure_channel(f"127.0.0.1:{running.ports['aws']}"))

    (failure,) = stub.CheckConfig(provider_pb2.CheckRequest(news=news)).failures

    assert (failure.property, failure.reason) == ("regoin", "unknown property; did you mean region?")


# Faults


def test_a_stockout_hits_machines_that_are_started_at_once(client, running, refusal):
    gcp = client("gcp", project="ml", region="us-central1")
    gcp.up("gcp:compute/network:Network", "net", {"name": "net"})
    cluster = gcp.up("gcp:container/cluster:Cluster", "c", {"location": "us-central1", "network": "net"})
    running.faults.add("stockout", sku="g2-standard-8", region="us-central1")
    inputs = {
        "cluster": cluster.id,
        "location": "us-central1",
        "nodeConfig": {"machineType": "g2-standard-8"},
    }

    with refusal("ZONE_RESOURCE_POOL_EXHAUSTED", "us-central1", "g2-standard-8"):
        gcp.up(POOL, "now", {**inputs, "initialNodeCount": 1.0})
    assert gcp.up(POOL, "later", {**inputs, "initialNodeCount": 0.0}).id

    running.faults.add("quota", sku="g2-standard-8")
    with refusal("quotaExceeded"):
        gcp.up(POOL, "never", {**inputs, "initialNodeCount": 0.0})


def test_throttling_is_ridden_out_or_not(client, running, refusal):
    aws = client("aws", region="us-east-1")
    running.faults.add("throttling", type="aws:ec2/*", times=3)
    assert aws.up(VPC, "v", {"cidrBlock": "10.0.0.0/16"}).id

    running.faults.add("throttling", type="aws:ec2/*", times=99)
    with refusal("Rate exceeded"):
        aws.up(VPC, "w", {"cidrBlock": "10.0.0.0/16"})


def test_a_time_out_leaves_something_behind(client, running, world, refusal):
    aws = client("aws", region="us-east-1")
    running.faults.add("timeout", type=VPC, seconds=0, times=1)

    with refusal("timeout while waiting"):
        aws.up(VPC, "v", {"cidrBlock": "10.0.0.0/16"})
    assert len(world.all()) == 1
    assert aws.up(VPC, "v", {"cidrBlock": "10.0.0.0/16"}).id


def test_a_crash_comes_after_the_nth_create(tmp_path):
    killed = []
    world = World(tmp_path / "w.sqlite")
    faults = Faults(world, kill=lambda: killed.append(True))
    faults.add("crash", after=2)
    from gpuplatform.sandbox.cloud.aws import CLOUD
    from gpuplatform.sandbox.cloud.rule import Account, Call

    call = Call(token=VPC, urn="u", inputs={}, account=Account(owner="1"), world=world)
    counts = []
    for _ in range(3):
        faults.after_create(CLOUD, call)
        counts.append(len(killed))

    assert counts == [0, 1, 1]
    world.close()


def test_slowness_is_as_long_as_asked(tmp_path):
    slept = []
    world = World(tmp_path / "w.sqlite")
    faults = Faults(world, sleep=slept.append)
    faults.add("slow", type="aws:*", seconds=7)
    from gpuplatform.sandbox.cloud.aws import CLOUD
    from gpuplatform.sandbox.cloud.rule import Account, Call

    faults.before_create(CLOUD, Call(token=VPC, urn="u", inputs={}, account=Account(owner="1"), world=world))

    assert slept == [7]
    faults.clear()
    faults.before_create(CLOUD, Call(token=VPC, urn="u", inputs={}, account=Account(owner="1"), world=world))
    assert slept == [7]
    world.close()


def test_faults_of_the_environment_last_for_one_command(tmp_path, monkeypatch):
    world = World(tmp_path / "w.sqlite")

    def kinds():
        with world.reading() as db:
            return [row["kind"] for row in db.execute("SELECT kind FROM faults")]

    monkeypatch.setenv(ENVIRONMENT, "stockout:sku=p5.48xlarge,region=us-east-1;slow:seconds=2")
    Faults(world)
    assert kinds() == ["stockout", "slow"]
    monkeypatch.delenv(ENVIRONMENT)
    Faults(world)
    assert kinds() == []
    world.close()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("earthquake", "no such kind of fault: earthquake"),
        ("stockout:size=1", "no such option of fault: size"),
        ("slow:seconds=long", "seconds, after and times are numbers"),
    ],
)
def test_a_fault_that_does_not_exist_is_an_error(tmp_path, monkeypatch, text, words):
    monkeypatch.setenv(ENVIRONMENT, text)

    with pytest.raises(SandboxError) as caught:
        serve(tmp_path / "w.sqlite")
    assert words in str(caught.value)
