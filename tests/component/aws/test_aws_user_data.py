"""What a node's image is told."""

from __future__ import annotations

import base64
import tomllib
from email import message_from_string

import pytest
import yaml
from aws_pools import profile

from gpuplatform.aws.user_data import user_data

INFERENCE = {"purpose": "inference"}
KEPT = ("/var/lib/containerd", "/var/lib/kubelet", "/var/log/pods")


def told(sku, **changes):
    return base64.b64decode(user_data(profile(sku, **changes)), validate=True).decode()


@pytest.mark.parametrize("sku", ["p4d.24xlarge", "p5.48xlarge", "g6.xlarge", "p6e-gb200.36xlarge"])
def test_sto_5_amazon_linux_stripes_the_local_disks(sku):
    message = message_from_string(told(sku, fabric=None, **({} if sku.startswith("p") else INFERENCE)))
    assert message.get_content_type() == "multipart/mixed"
    [part] = message.get_payload()
    assert part.get_content_type() == "application/node.eks.aws"
    assert yaml.safe_load(part.get_payload()) == {
        "apiVersion": "node.eks.aws/v1alpha1",
        "kind": "NodeConfig",
        "spec": {"instance": {"localStorage": {"strategy": "RAID0"}}},
    }


@pytest.mark.parametrize("mode", ["raw", "none"])
def test_sto_5_it_is_told_nothing_where_the_disks_are_left_alone(mode):
    assert told("p5.48xlarge", local_disks=mode) == ""
    assert told("g5g.xlarge", **INFERENCE) == ""


def test_sto_5_bottlerocket_stripes_them_by_its_own_commands():
    settings = tomllib.loads(told("g6.xlarge", image="bottlerocket", **INFERENCE))["settings"]
    disks = settings["bootstrap-commands"]["local-disks"]
    assert disks["commands"] == [
        ["apiclient", "ephemeral-storage", "init"],
        ["apiclient", "ephemeral-storage", "bind", "--dirs", *KEPT],
    ]
    assert (disks["mode"], disks["essential"]) == ("always", True)
    assert "kernel" not in settings


def test_bottlerocket_sets_huge_pages_aside_for_efa():
    settings = tomllib.loads(told("p5.48xlarge", image="bottlerocket"))["settings"]
    assert settings["kernel"]["sysctl"] == {"vm.nr_hugepages": "5128"}


@pytest.mark.parametrize(
    ("sharing", "expected"),
    [
        (
            {"kind": "time-slicing", "replicas": 4},
            {
                "device-sharing-strategy": "time-slicing",
                "time-slicing": {
                    "replicas": 4,
                    "rename-by-default": True,
                    "fail-requests-greater-than-one": True,
                },
            },
        ),
        ({"kind": "mps", "replicas": 8}, {"device-sharing-strategy": "mps", "mps": {"replicas": 8}}),
    ],
)
def test_bottlerocket_shares_gpus_itself(sharing, expected):
    settings = tomllib.loads(told("g6.xlarge", image="bottlerocket", sharing=sharing, **INFERENCE))[
        "settings"
    ]
    assert settings["kubelet-device-plugins"]["nvidia"] == expected


@pytest.mark.parametrize(
    ("sku", "cut", "gpu"),
    [
        ("p4d.24xlarge", "1g.5gb", "a100.40gb"),
        ("p4de.24xlarge", "1g.10gb", "a100.80gb"),
        ("p5.48xlarge", "1g.10gb", "h100.80gb"),
        ("p5en.48xlarge", "1g.18gb", "h200.141gb"),
    ],
)
def test_bottlerocket_cuts_gpus_by_model_and_memory(sku, cut, gpu):
    sharing = {"kind": "mig", "profile": cut}
    settings = tomllib.loads(told(sku, image="bottlerocket", sharing=sharing, **INFERENCE))["settings"]
    nvidia = settings["kubelet-device-plugins"]["nvidia"]
    assert nvidia == {"device-partitioning-strategy": "mig", "mig": {"profile": {gpu: cut}}}


def test_amazon_linux_leaves_sharing_to_the_operator():
    with_sharing = told("g6.xlarge", sharing={"kind": "time-slicing", "replicas": 4}, **INFERENCE)
    assert with_sharing == told("g6.xlarge", **INFERENCE)
