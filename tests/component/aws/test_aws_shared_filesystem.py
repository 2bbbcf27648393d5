from __future__ import annotations

from ipaddress import IPv4Network

import pytest

from gpuplatform.aws import (
    AwsNetworkIds,
    AwsObjectStore,
    AwsObjectStoreArgs,
    AwsSharedFilesystem,
    AwsSharedFilesystemArgs,
)
from gpuplatform.errors import Refusal
from gpuplatform.sandbox.sdk_types import check
from gpuplatform.storage import ObjectPlan, SharedFilesystemPlan

ACCOUNT = "123456789012"
INGRESS = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
EGRESS = "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule"
FILES = "aws:fsx/lustreFileSystem:LustreFileSystem"
LINK = "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation"
NETWORK = AwsNetworkIds(
    id="vpc-1",
    subnet_by_zone={"use1-az4": "subnet-4", "use1-az6": "subnet-6"},
    cidr=IPv4Network("10.0.0.0/16"),
)
PLAN = {
    "tier": "scratch",
    "service": "fsx-lustre",
    "capacity_gib": 2400,
    "throughput": 250,
    "sku": "PERSISTENT_2",
    "zone": "use1-az6",
}


def arguments(tags, *, linked_to=None, network=NETWORK, **plan):
    return AwsSharedFilesystemArgs(
        plan=SharedFilesystemPlan(**(PLAN | plan)),
        name="vision-prod",
        region="us-east-1",
        tags=tags,
        network=network,
        source=linked_to,
    )


@pytest.fixture
def files(run, tags):
    def make(*, linked=False, **plan):
        made = {}

        def program():
            source = None
            if linked:
                store = AwsObjectStoreArgs(
                    plan=ObjectPlan(tier="data", bucket="vision-data"),
                    name="vision-prod",
                    region="us-east-1",
                    tags=tags,
                    account=ACCOUNT,
                )
                source = AwsObjectStore("data", store)
            args = arguments(tags, linked_to=source, **plan)
            made["files"] = AwsSharedFilesystem("scratch", args)

        recorded = run(program)
        return recorded, made["files"]

    return make


def spans(recorded, token):
    return {
        (r.inputs.get("cidrIpv4") or "itself", r.inputs["fromPort"], r.inputs["toPort"])
        for r in recorded.of_type(token)
    }


def test_sto_1_lustres_ports_are_open_to_the_network_and_to_itself_both_ways(files):
    recorded, _ = files()
    wanted = {(peer, *ports) for peer in ("10.0.0.0/16", "itself") for ports in ((988, 988), (1018, 1023))}
    assert spans(recorded, INGRESS) == wanted
    assert spans(recorded, EGRESS) == wanted
    [group] = recorded.of_type("aws:ec2/securityGroup:SecurityGroup")
    for rule in (*recorded.of_type(INGRESS), *recorded.of_type(EGRESS)):
        assert rule.inputs["ipProtocol"] == "tcp"
        assert rule.inputs["securityGroupId"] == "scratch-lustre-id"
        assert rule.inputs.get("referencedSecurityGroupId", "scratch-lustre-id") == "scratch-lustre-id"
        assert group.urn in rule.dependencies


def test_sto_1_the_file_system_waits_for_the_rules_and_not_only_for_their_group(files):
    recorded, made = files()
    [filesystem] = recorded.of_type(FILES)
    rules = {r.urn for r in (*recorded.of_type(INGRESS), *recorded.of_type(EGRESS))}
    assert len(rules) == 8
    assert rules <= set(filesystem.dependencies)
    assert len(made.handle.ready) == 8


def test_sto_1_it_stands_in_the_zone_of_its_plan(files):
    recorded, _ = files()
    assert recorded.of_type(FILES)[0].inputs["subnetIds"] == "subnet-6"


def test_sto_1_a_zone_that_the_network_lacks_is_refused(tags):
    with pytest.raises(Refusal) as caught:
        arguments(tags, zone="use1-az1")
    assert caught.value.where == "storage.scratch.zone"
    assert "use1-az4" in caught.value.way_out


def test_it_is_what_the_plan_buys(files):
    recorded, _ = files()
    inputs = recorded.of_type(FILES)[0].inputs
    assert inputs["deploymentType"] == "PERSISTENT_2"
    assert inputs["storageCapacity"] == 2400
    assert inputs["perUnitStorageThroughput"] == 250
    assert inputs["fileSystemTypeVersion"] == "2.15"
    assert inputs["kmsKeyId"].endswith("Key/scratch-key")


def test_a_scratch_file_system_has_neither_throughput_nor_key_nor_backups(files):
    recorded, _ = files(sku="SCRATCH_2", throughput=None)
    inputs = recorded.of_type(FILES)[0].inputs
    assert not {"perUnitStorageThroughput", "kmsKeyId", "automaticBackupRetentionDays"} & set(inputs)
    assert recorded.of_type("aws:kms/key:Key") == ()


def test_what_is_kept_is_protected_with_all_that_it_stands_on_and_backed_up(files):
    recorded, _ = files()
    assert not [r.name for r in recorded.resources if r.custom and not r.protect]
    inputs = recorded.of_type(FILES)[0].inputs
    assert inputs["automaticBackupRetentionDays"] == 7
    assert inputs["skipFinalBackup"] is False


def test_what_is_not_kept_goes_without_a_last_backup(files):
    recorded, _ = files(keep=False)
    assert not [r.name for r in recorded.resources if r.protect]
    inputs = recorded.of_type(FILES)[0].inputs
    assert inputs["automaticBackupRetentionDays"] == 0
    assert inputs["skipFinalBackup"] is True
    assert recorded.named("scratch-key").inputs["deletionWindowInDays"] == 7


def test_a_link_shows_objects_as_files_and_writes_changes_back(files):
    recorded, made = files(linked=True, source="data")
    [link] = recorded.of_type(LINK)
    assert link.inputs["dataRepositoryPath"] == "s3://vision-data"
    assert link.inputs["fileSystemPath"] == "/data"
    assert link.inputs["batchImportMetaDataOnCreate"] is True
    events = {"events": ["NEW", "CHANGED", "DELETED"]}
    assert link.inputs["s3"] == {"autoImportPolicy": events, "autoExportPolicy": events}
    assert link.protect
    assert recorded.named("data-encryption").urn in link.dependencies
    assert len(made.handle.ready) == 9


def test_fsx_backs_up_nothing_that_is_linked(files):
    recorded, _ = files(linked=True, source="data")
    inputs = recorded.of_type(FILES)[0].inputs
    assert inputs["automaticBackupRetentionDays"] == 0
    assert inputs["skipFinalBackup"] is True


def test_pods_mount_it_by_name_with_locks(files):
    recorded, made = files()
    volume = made.handle.volume
    assert (volume.driver, volume.mount_options, volume.capacity_gib) == ("fsx.csi.aws.com", ("flock",), 2400)
    assert set(volume.attributes) == {"dnsname", "mountname"}
    [component] = [r.urn for r in recorded.resources if not r.custom]
    assert recorded.outputs[component]["address"] == "fs-1.fsx.us-east-1.amazonaws.com@tcp:/abcd1234"
    assert recorded.outputs[component]["mount_name"] == "abcd1234"


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"service": "filestore"}, "storage.scratch.service"),
        ({"source": "data"}, "storage.scratch.source"),
        ({"network": AwsNetworkIds(id="vpc-1", subnet_by_zone={"use1-az6": "s"})}, "network.cidr"),
    ],
)
def test_what_aws_cannot_build_is_refused_with_a_way_out(tags, changes, where):
    with pytest.raises(Refusal) as caught:
        arguments(tags, **changes)
    assert caught.value.where == where
    assert caught.value.way_out


def test_every_input_is_one_of_the_sdk_s(files):
    for plan in ({"linked": True, "source": "data"}, {"sku": "SCRATCH_2", "throughput": None}):
        recorded, _ = files(**plan)
        problems = {
            r.name: found for r in recorded.resources if r.custom and (found := check(r.type, r.inputs))
        }
        assert problems == {}
