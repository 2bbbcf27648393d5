import json

import pytest

BUCKET = "aws:s3/bucket:Bucket"
PUBLIC = "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock"
POLICY = "aws:s3/bucketPolicy:BucketPolicy"
VERSIONING = "aws:s3/bucketVersioning:BucketVersioning"
LIFECYCLE = "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration"
ENCRYPTION = "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration"
OBJECT = "aws:s3/bucketObject:BucketObject"
KEY = "aws:kms/key:Key"
VPC = "aws:ec2/vpc:Vpc"
SUBNET = "aws:ec2/subnet:Subnet"
GROUP = "aws:ec2/securityGroup:SecurityGroup"
INGRESS = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
FILES = "aws:fsx/lustreFileSystem:LustreFileSystem"
LINK = "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation"


@pytest.fixture
def aws(client):
    return client("aws", region="us-east-1")


@pytest.fixture
def bucket(aws):
    return aws.up(BUCKET, "data", {"bucket": "vision-data"})


def test_a_bucket_is_known_by_its_name(bucket):
    assert bucket.id == "vision-data"
    assert bucket.outputs["arn"] == "arn:aws:s3:::vision-data"
    assert bucket.outputs["bucketRegionalDomainName"] == "vision-data.s3.us-east-1.amazonaws.com"


def test_a_bucket_without_a_name_gets_one_that_s3_takes(aws):
    made = aws.up(BUCKET, "data", {})
    assert made.id.startswith("data-")
    assert made.id == made.inputs["bucket"]


@pytest.mark.parametrize(
    "name", ["ab", "Upper", "under_score", "-begins", "ends-", "two..dots", "xn--a", "a-s3alias", "x" * 64]
)
def test_a_name_that_s3_does_not_take_is_refused_in_preview(aws, name):
    assert "bucket" in aws.check(BUCKET, "data", {"bucket": name}).failures


@pytest.mark.usefixtures("bucket")
def test_a_bucket_s_name_is_unique_in_the_world_and_not_in_the_account_alone(aws, client, refusal):
    with refusal("BucketAlreadyOwnedByYou"):
        aws.up(BUCKET, "again", {"bucket": "vision-data"})
    other = client("aws", region="us-east-1", allowedAccountIds=json.dumps(["210987654321"]))
    with refusal("BucketAlreadyExists"):
        other.up(BUCKET, "data", {"bucket": "vision-data"})


@pytest.mark.parametrize("path", ["bucket", "objectLockEnabled"])
def test_another_name_is_another_bucket(aws, bucket, path):
    diff = aws.diff(bucket, **{path: "vision-other" if path == "bucket" else True})
    assert diff.replaces == [path]


def test_emptying_it_on_deletion_is_switched_in_place(aws, bucket):
    diff = aws.diff(bucket, forceDestroy=True)
    assert list(diff.diffs) == ["forceDestroy"]
    assert not diff.replaces


def test_a_bucket_with_objects_stays_unless_told_to_go_with_them(aws, world, bucket, refusal):
    aws.up(OBJECT, "weights", {"bucket": bucket.id, "key": "weights.bin", "content": "1"})
    with refusal("BucketNotEmpty"):
        aws.delete(bucket)
    assert len(world.all()) == 2
    aws.update(bucket, forceDestroy=True)
    aws.delete(bucket)
    assert world.all() == []


def test_the_settings_go_with_the_bucket(aws, world, bucket):
    aws.up(VERSIONING, "versioning", {"bucket": bucket.id, "versioningConfiguration": {"status": "Enabled"}})
    aws.up(PUBLIC, "public", {"bucket": bucket.id, "blockPublicPolicy": True})
    aws.delete(bucket)
    assert world.all() == []


@pytest.mark.parametrize(
    ("token", "inputs"),
    [
        (VERSIONING, {"versioningConfiguration": {"status": "Enabled"}}),
        (PUBLIC, {}),
        (POLICY, {"policy": "{}"}),
        (LIFECYCLE, {"rules": []}),
        (OBJECT, {"key": "a"}),
    ],
)
def test_what_belongs_to_a_bucket_needs_it(aws, refusal, token, inputs):
    with refusal("NoSuchBucket"):
        aws.up(token, "setting", {"bucket": "vision-none", **inputs})


def test_a_setting_moves_to_another_bucket_by_replacement(aws, bucket):
    aws.up(BUCKET, "other", {"bucket": "vision-other"})
    made = aws.up(
        VERSIONING, "versioning", {"bucket": bucket.id, "versioningConfiguration": {"status": "Enabled"}}
    )
    assert aws.diff(made, bucket="vision-other").replaces == ["bucket"]
    assert not aws.diff(made, versioningConfiguration={"status": "Suspended"}).replaces


def test_encryption_needs_the_key(aws, bucket, refusal):
    def rules(key):
        return [{"applyServerSideEncryptionByDefault": {"sseAlgorithm": "aws:kms", "kmsMasterKeyId": key}}]

    with refusal("NotFoundException"):
        aws.up(
            ENCRYPTION, "encryption", {"bucket": bucket.id, "rules": rules("arn:aws:kms:us-east-1:1:key/no")}
        )
    key = aws.up(KEY, "key", {})
    made = aws.up(ENCRYPTION, "encryption", {"bucket": bucket.id, "rules": rules(key.outputs["arn"])})
    assert made.id == bucket.id


def statement(**changes):
    given = {"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": "*"} | changes
    return json.dumps({"Version": "2012-10-17", "Statement": [given]})


def test_a_public_policy_is_refused_where_the_bucket_blocks_them(aws, bucket, refusal):
    aws.up(PUBLIC, "public", {"bucket": bucket.id, "blockPublicPolicy": True})
    with refusal("BlockPublicPolicy"):
        aws.up(POLICY, "policy", {"bucket": bucket.id, "policy": statement()})
    assert aws.up(POLICY, "policy", {"bucket": bucket.id, "policy": statement(Effect="Deny")}).id == bucket.id


def test_a_policy_that_is_no_json_is_refused_in_preview(aws, bucket):
    assert "policy" in aws.check(POLICY, "policy", {"bucket": bucket.id, "policy": "{"}).failures


def test_objects_do_not_turn_cold_within_a_month(aws, bucket):
    def rule(days):
        move = {"days": days, "storageClass": "STANDARD_IA"}
        return {"bucket": bucket.id, "rules": [{"id": "a", "status": "Enabled", "transitions": [move]}]}

    assert aws.check(LIFECYCLE, "cold", rule(29)).failures
    assert not aws.check(LIFECYCLE, "cold", rule(30)).failures


@pytest.fixture
def place(aws):
    vpc = aws.up(VPC, "net", {"cidrBlock": "10.0.0.0/16"})
    subnet = aws.up(
        SUBNET, "a", {"vpcId": vpc.id, "cidrBlock": "10.0.0.0/24", "availabilityZoneId": "use1-az4"}
    )
    return subnet, aws.up(GROUP, "lustre", {"vpcId": vpc.id})


def files(place, **changes):
    subnet, group = place
    return {
        "deploymentType": "PERSISTENT_2",
        "storageCapacity": 1200.0,
        "perUnitStorageThroughput": 250.0,
        "subnetIds": subnet.id,
        "securityGroupIds": [group.id],
    } | changes


def let_in(aws, place, **changes):
    given = {"ipProtocol": "tcp", "fromPort": 988.0, "toPort": 988.0, "cidrIpv4": "10.0.0.0/16"} | changes
    return aws.up(INGRESS, "in", {"securityGroupId": place[1].id, **given})


def test_sto_1_a_file_system_whose_group_lets_no_lustre_in_is_refused(aws, place, refusal):
    with refusal("do not permit Lustre LNET network traffic on port 988"):
        aws.up(FILES, "scratch", files(place))


@pytest.mark.parametrize("changes", [{"fromPort": 1018.0, "toPort": 1023.0}, {"ipProtocol": "udp"}])
def test_sto_1_a_rule_for_something_else_does_not_help(aws, place, refusal, changes):
    let_in(aws, place, **changes)
    with refusal("port 988"):
        aws.up(FILES, "scratch", files(place))


def test_sto_1_rules_that_are_there_first_let_it_be_made(aws, place):
    let_in(aws, place)
    made = aws.up(FILES, "scratch", files(place))
    assert made.id.startswith("fs-")
    assert made.outputs["dnsName"] == f"{made.id}.fsx.us-east-1.amazonaws.com"
    assert len(made.outputs["mountName"]) == 8
    assert made.outputs["arn"] == f"arn:aws:fsx:us-east-1:123456789012:file-system/{made.id}"
    assert made.outputs["vpcId"].startswith("vpc-")
    assert aws.read(made).outputs == made.outputs


@pytest.fixture
def scratch(aws, place):
    let_in(aws, place)
    return aws.up(FILES, "scratch", files(place))


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"storageCapacity": 1300.0}, "storageCapacity"),
        ({"storageCapacity": 3600.0}, "storageCapacity"),
        ({"perUnitStorageThroughput": 200.0}, "perUnitStorageThroughput"),
        ({"deploymentType": "SCRATCH_2"}, "perUnitStorageThroughput"),
        ({"deploymentType": "PERSISTENT_1"}, "perUnitStorageThroughput"),
    ],
)
def test_a_size_and_a_speed_that_fsx_does_not_sell_are_refused_in_preview(aws, place, changes, path):
    assert path in aws.check(FILES, "scratch", files(place, **changes)).failures


@pytest.mark.parametrize(
    ("changes", "replaced"),
    [
        ({"storageCapacity": 2400.0}, []),
        ({"perUnitStorageThroughput": 500.0}, []),
        ({"deploymentType": "PERSISTENT_1"}, ["deploymentType"]),
        ({"securityGroupIds": ["sg-other"]}, ["securityGroupIds"]),
        ({"subnetIds": "subnet-other"}, ["subnetIds"]),
        ({"kmsKeyId": "arn:aws:kms:us-east-1:1:key/other"}, ["kmsKeyId"]),
    ],
)
def test_it_grows_in_place_and_moves_by_replacement(aws, scratch, changes, replaced):
    assert list(aws.diff(scratch, **changes).replaces) == replaced


@pytest.mark.usefixtures("scratch")
def test_it_holds_its_subnet_and_its_group_in_place(aws, place, refusal):
    for made in place:
        with refusal("DependencyViolation"):
            aws.delete(made)


def link(scratch, **changes):
    given = {"dataRepositoryPath": "s3://vision-data", "fileSystemPath": "/data"}
    return {"fileSystemId": scratch.id, **given, **changes}


def test_a_link_needs_the_bucket_and_the_file_system(aws, scratch, refusal):
    with refusal("NoSuchBucket"):
        aws.up(LINK, "link", link(scratch))
    aws.up(BUCKET, "data", {"bucket": "vision-data"})
    with refusal("FileSystemNotFound"):
        aws.up(LINK, "link", link(scratch, fileSystemId="fs-00000000000000000"))


@pytest.mark.usefixtures("bucket")
def test_a_bucket_and_a_directory_are_linked_once(aws, scratch, refusal):
    made = aws.up(LINK, "link", link(scratch))
    assert made.id.startswith("dra-")
    with refusal("dataRepositoryPath", "already associated"):
        aws.up(LINK, "again", link(scratch, fileSystemPath="/other"))
    aws.up(BUCKET, "other", {"bucket": "vision-other"})
    with refusal("fileSystemPath", "already associated"):
        aws.up(LINK, "again", link(scratch, dataRepositoryPath="s3://vision-other"))


def test_a_link_goes_with_the_file_system_and_leaves_the_bucket(aws, world, bucket, scratch):
    aws.up(LINK, "link", link(scratch))
    aws.delete(scratch)
    assert LINK not in {thing.token for thing in world.all()}
    assert bucket.id in {thing.id for thing in world.all()}


def test_paths_of_a_link_begin_as_they_must(aws, scratch):
    failures = aws.check(
        LINK, "link", link(scratch, dataRepositoryPath="data", fileSystemPath="data")
    ).failures
    assert set(failures) == {"dataRepositoryPath", "fileSystemPath"}
