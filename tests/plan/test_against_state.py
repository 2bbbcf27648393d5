"""A plan against an exported state: the program's own inputs, a state by hand, and what must come out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pulumi
import pytest

from gpuplatform.errors import ConfigError
from gpuplatform.plan import Changes, Step
from gpuplatform.plan.against import against
from gpuplatform.plan.state import read_state

Program = Callable[[], Any]
Options = pulumi.ResourceOptions

POOL = "gcp:container/nodePool:NodePool"
AKS_POOL = "azure-native:containerservice:AgentPool"
GROUP = "aws:eks/nodeGroup:NodeGroup"
TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
SECRET = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270"}


class Thing(pulumi.CustomResource):
    """A resource of any type, with outputs to depend on."""

    arn: pulumi.Output[str]
    latestVersion: pulumi.Output[int]  # noqa: N815 - the provider's spelling

    def __init__(self, type_: str, name: str, props: Mapping[str, Any], opts: Options | None = None) -> None:
        super().__init__(type_, name, {"arn": None, "latestVersion": None, **props}, opts)


def _made(type_: str, name: str, inputs: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """One resource as an export has it."""
    return {
        "urn": f"urn:pulumi:s::p::{type_}::{name}",
        "type": type_,
        "custom": True,
        "id": f"{name}-id",
        "inputs": inputs,
        "outputs": {**inputs, "arn": f"arn:{name}"},
        **more,
    }


@pytest.fixture
def export(tmp_path: Path) -> Callable[..., Path]:
    def write(*resources: Mapping[str, Any], **more: Any) -> Path:
        stack = {"urn": "urn:pulumi:s::p::pulumi:pulumi:Stack::p-s", "type": "pulumi:pulumi:Stack"}
        content = {"version": 3, "deployment": {"resources": [stack, *resources], **more}}
        file = tmp_path / "state.json"
        file.write_text(json.dumps(content))
        return file

    return write


def _changes(file: Path, program: Program) -> Changes:
    return against(read_state(file, "s"), program, stack="s")[0]


def _told(steps: Iterable[Step]) -> list[tuple[str, str]]:
    return [(step.action, step.name) for step in steps]


def test_what_is_as_it_was_is_no_step(export: Callable[..., Path]) -> None:
    file = export(_made(POOL, "serve", {"name": "serve", "nodeConfig": {"machineType": "g2-standard-8"}}))
    found = _changes(
        file, lambda: Thing(POOL, "serve", {"name": "serve", "nodeConfig": {"machineType": "g2-standard-8"}})
    )
    assert found.steps == ()
    assert found.same == 1


def test_what_is_new_is_created_and_what_is_gone_is_deleted(export: Callable[..., Path]) -> None:
    file = export(_made(POOL, "old", {"name": "old"}))
    assert _told(_changes(file, lambda: Thing(POOL, "new", {"name": "new"})).steps) == [
        ("create", "new"),
        ("delete", "old"),
    ]


def test_what_was_made_last_goes_first(export: Callable[..., Path]) -> None:
    file = export(_made(POOL, "first", {}), _made(POOL, "second", {}))
    assert _told(_changes(file, lambda: None).steps) == [("delete", "second"), ("delete", "first")]


def test_what_is_retained_is_forgotten_not_deleted(export: Callable[..., Path]) -> None:
    file = export(_made(POOL, "data", {}, retainOnDelete=True))
    assert _told(_changes(file, lambda: None).steps) == [("forget", "data")]


@pytest.mark.parametrize(
    ("type_", "old", "new", "outcome"),
    [
        (
            POOL,
            {"nodeConfig": {"spot": True}},
            {"nodeConfig": {"spot": False}},
            ("replace", "nodeConfig.spot"),
        ),
        (POOL, {"nodeConfig": {"diskSizeGb": 100}}, {"nodeConfig": {"diskSizeGb": 200}}, ("update", "")),
        (POOL, {"nodeConfig": {"imageType": "A"}}, {"nodeConfig": {"imageType": "B"}}, ("update", "")),
        (AKS_POOL, {"vmSize": "A"}, {"vmSize": "B"}, ("replace", "vmSize")),
        (
            AKS_POOL,
            {"gpuInstanceProfile": "MIG1g"},
            {"gpuInstanceProfile": "MIG2g"},
            ("replace", "gpuInstanceProfile"),
        ),
        (
            GROUP,
            {"instanceTypes": ["g6.xlarge"]},
            {"instanceTypes": ["g6.4xlarge"]},
            ("replace", "instanceTypes[0]"),
        ),
        (GROUP, {"amiType": "A"}, {"amiType": "B"}, ("replace", "amiType")),
        (GROUP, {"labels": {"a": "1"}}, {"labels": {"a": "2"}}, ("update", "")),
        (GROUP, {"nodeGroupName": "a"}, {"nodeGroupName": "b"}, ("replace", "nodeGroupName")),
        (
            "azure-native:containerservice/v20250101:AgentPool",
            {"vmSize": "A"},
            {"vmSize": "B"},
            ("replace", "vmSize"),
        ),
    ],
)
def test_the_provider_s_table_decides_between_update_and_replacement(
    export: Callable[..., Path],
    type_: str,
    old: dict[str, Any],
    new: dict[str, Any],
    outcome: tuple[str, str],
) -> None:
    (step,) = _changes(export(_made(type_, "pool", old)), lambda: Thing(type_, "pool", new)).steps
    action, because = outcome
    assert (step.action, step.because) == (action, (because,) if because else ())


def test_replace_on_changes_makes_an_update_a_replacement(export: Callable[..., Path]) -> None:
    file = export(_made(GROUP, "pool", {"labels": {"nvidia.com/mig.config": "all-1g.10gb"}}))
    opts = Options(replace_on_changes=['labels["nvidia.com/mig.config"]'])
    (step,) = _changes(
        file, lambda: Thing(GROUP, "pool", {"labels": {"nvidia.com/mig.config": "all-2g.20gb"}}, opts)
    ).steps
    assert step.action == "replace"
    assert step.because == ('labels["nvidia.com/mig.config"]',)


def test_replace_on_changes_of_something_else_does_not(export: Callable[..., Path]) -> None:
    file = export(_made(GROUP, "pool", {"labels": {"a": "1"}}))
    opts = Options(replace_on_changes=['labels["nvidia.com/mig.config"]'])
    (step,) = _changes(file, lambda: Thing(GROUP, "pool", {"labels": {"a": "2"}}, opts)).steps
    assert step.action == "update"


def test_what_depends_on_a_replaced_resource_sees_a_new_value(export: Callable[..., Path]) -> None:
    tag = "aws:autoscaling/tag:Tag"
    file = export(
        _made(GROUP, "pool", {"amiType": "A"}), _made(tag, "hint", {"autoscalingGroupName": "arn:pool"})
    )

    def program(ami: str) -> None:
        pool = Thing(GROUP, "pool", {"amiType": ami})
        Thing(tag, "hint", {"autoscalingGroupName": pool.arn})

    assert _changes(file, lambda: program("A")).steps == ()
    assert _told(_changes(file, lambda: program("B")).steps) == [(("replace", "pool")), ("replace", "hint")]


def test_what_an_update_computes_anew_reaches_its_dependents(export: Callable[..., Path]) -> None:
    template = _made(TEMPLATE, "t", {"tags": {"a": "1"}})
    template["outputs"]["latestVersion"] = 3
    file = export(template, _made(GROUP, "pool", {"launchTemplate": {"version": 3}}))

    def program(value: str) -> None:
        made = Thing(TEMPLATE, "t", {"tags": {"a": value}})
        Thing(GROUP, "pool", {"launchTemplate": {"version": made.latestVersion}})

    assert _changes(file, lambda: program("1")).steps == ()
    assert _told(_changes(file, lambda: program("2")).steps) == [(("update", "t")), ("update", "pool")]


def test_ignored_changes_are_none(export: Callable[..., Path]) -> None:
    file = export(_made(GROUP, "pool", {"scalingConfig": {"desiredSize": 4, "maxSize": 8}}))
    opts = Options(ignore_changes=["scalingConfig.desiredSize"])
    found = _changes(
        file, lambda: Thing(GROUP, "pool", {"scalingConfig": {"desiredSize": 0, "maxSize": 8}}, opts)
    )
    assert found.steps == ()
    found = _changes(
        file, lambda: Thing(GROUP, "pool", {"scalingConfig": {"desiredSize": 0, "maxSize": 9}}, opts)
    )
    assert found.steps[0].changed == ("scalingConfig.maxSize",)


def test_a_name_that_the_provider_made_up_stays(export: Callable[..., Path]) -> None:
    file = export(
        _made("aws:iam/role:Role", "role", {"__defaults": ["name"], "name": "role-1a2b3c4"}),
        _made(AKS_POOL, "pool", {"agentPoolName": "pool1a2b3c4d", "resourceGroupName": "g"}),
        _made(
            "kubernetes:core/v1:ConfigMap",
            "map",
            {"metadata": {"name": "map-1a2b", "annotations": {"pulumi.com/autonamed": "true"}}},
        ),
    )

    def program() -> None:
        Thing("aws:iam/role:Role", "role", {})
        Thing(AKS_POOL, "pool", {"resourceGroupName": "g"})
        Thing("kubernetes:core/v1:ConfigMap", "map", {"metadata": {}})

    found = _changes(file, program)
    assert (found.steps, found.same) == ((), 3)


def test_a_name_of_the_program_s_own_replaces_it(export: Callable[..., Path]) -> None:
    file = export(_made("aws:iam/role:Role", "role", {"__defaults": ["name"], "name": "role-1a2b3c4"}))
    (step,) = _changes(file, lambda: Thing("aws:iam/role:Role", "role", {"name": "mine"})).steps
    assert (step.action, step.because) == ("replace", ("name",))


def test_what_the_provider_filled_in_is_no_change(export: Callable[..., Path]) -> None:
    file = export(
        _made(
            POOL,
            "pool",
            {"nodeConfig": {"__defaults": ["diskType"], "diskType": "pd-balanced", "spot": True}},
        )
    )
    assert _changes(file, lambda: Thing(POOL, "pool", {"nodeConfig": {"spot": True}})).steps == ()


def test_what_the_cloud_will_not_change_is_told(export: Callable[..., Path]) -> None:
    file = export(_made(AKS_POOL, "pool", {"maxPods": 30}))
    (step,) = _changes(file, lambda: Thing(AKS_POOL, "pool", {"maxPods": 110})).steps
    assert (step.action, step.refused) == ("update", ("maxPods",))


def test_a_protected_resource_is_marked_where_it_would_go(export: Callable[..., Path]) -> None:
    file = export(
        _made(AKS_POOL, "pool", {"vmSize": "A"}, protect=True), _made(POOL, "gone", {}, protect=True)
    )
    assert [
        step.protected for step in _changes(file, lambda: Thing(AKS_POOL, "pool", {"vmSize": "B"})).steps
    ] == [
        True,
        True,
    ]


def test_a_renamed_resource_is_found_by_its_alias(export: Callable[..., Path]) -> None:
    file = export(_made(AKS_POOL, "before", {"vmSize": "A"}))
    opts = Options(aliases=[pulumi.Alias(name="before")])
    found = _changes(file, lambda: Thing(AKS_POOL, "after", {"vmSize": "A"}, opts))
    assert (found.steps, found.same) == ((), 1)


def test_an_encrypted_value_is_named_and_never_counts_as_equal_or_changed(
    export: Callable[..., Path],
) -> None:
    hidden = {"token": {**SECRET, "ciphertext": "v1:xyz"}, "size": 1}
    file = export(_made("aws:test/thing:Thing", "thing", hidden))
    found = _changes(file, lambda: Thing("aws:test/thing:Thing", "thing", {"token": "t", "size": 1}))
    assert found.steps == ()
    assert found.not_compared == ("thing token",)
    found = _changes(file, lambda: Thing("aws:test/thing:Thing", "thing", {"token": "t", "size": 2}))
    assert found.steps[0].changed == ("size",)


def test_a_secret_that_the_export_shows_is_compared(export: Callable[..., Path]) -> None:
    shown = {"token": {**SECRET, "plaintext": '"t"'}}
    file = export(_made("aws:test/thing:Thing", "thing", shown))
    assert _changes(file, lambda: Thing("aws:test/thing:Thing", "thing", {"token": "t"})).same == 1
    found = _changes(
        file, lambda: Thing("aws:test/thing:Thing", "thing", {"token": pulumi.Output.secret("u")})
    )
    assert (found.steps[0].changed, found.not_compared) == (("token",), ())


def test_what_only_the_cloud_could_tell_is_not_compared(export: Callable[..., Path]) -> None:
    file = export(_made("aws:test/thing:Thing", "thing", {"answer": "42"}))

    def program() -> None:
        answer = pulumi.runtime.invoke_output("aws:test/ask:ask", {"what": "known"})
        Thing("aws:test/thing:Thing", "thing", {"answer": answer})

    found = _changes(file, program)
    assert (found.steps, found.not_compared) == ((), ("thing answer",))


def test_a_new_sdk_version_of_a_provider_is_no_change(export: Callable[..., Path]) -> None:
    class Provider(pulumi.ProviderResource):
        def __init__(self) -> None:
            super().__init__("kubernetes", "k8s", {"clusterIdentifier": "new"})

    file = export(
        _made(
            "pulumi:providers:kubernetes",
            "k8s",
            {"clusterIdentifier": "new", "version": "4.0.0", "__internal": {}},
        )
    )
    assert _changes(file, Provider).steps == ()


def test_what_a_replaced_provider_made_is_replaced(export: Callable[..., Path]) -> None:
    class Provider(pulumi.ProviderResource):
        def __init__(self) -> None:
            super().__init__("kubernetes", "k8s", {"clusterIdentifier": "new"})

    namespace = "kubernetes:core/v1:Namespace"
    file = export(
        _made("pulumi:providers:kubernetes", "k8s", {"clusterIdentifier": "old"}),
        _made(namespace, "ns", {"metadata": {"name": "ns"}}),
    )
    found = _changes(
        file, lambda: Thing(namespace, "ns", {"metadata": {"name": "ns"}}, Options(provider=Provider()))
    )
    assert [(step.name, step.action, step.because) for step in found.steps] == [
        ("k8s", "replace", ("clusterIdentifier",)),
        ("ns", "replace", ("provider",)),
    ]


def test_what_an_earlier_update_left_undone_is_told(export: Callable[..., Path]) -> None:
    urn = f"urn:pulumi:s::p::{POOL}::half"
    file = export(
        _made(POOL, "old", {}, delete=True),
        pending_operations=[{"type": "creating", "resource": {"urn": urn}}],
    )
    found = _changes(file, lambda: None)
    assert _told(found.steps) == [("delete", "old")]
    assert found.interrupted == (f"creating {urn}",)


def test_default_providers_components_and_what_was_only_read_are_no_steps(
    export: Callable[..., Path],
) -> None:
    file = export(
        _made("pulumi:providers:aws", "default_7_51", {}),
        _made("aws:ec2/vpc:Vpc", "read", {}, external=True),
        _made("gpuplatform:index:EksGpuPool", "pool", {}, custom=False),
    )
    assert _changes(file, lambda: None).steps == ()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "no JSON"),
        ("[]", "no export"),
        ('{"version": 3, "deployment": {"resources": 1}}', "no export"),
        ('{"version": 3, "checkpoint": {"latest": {}}}', "backend's own file"),
        ('{"version": 2, "deployment": {"resources": []}}', "version 2"),
        ('{"version": 3, "deployment": {"resources": [{"urn": "u"}]}}', "no type"),
        ('{"version": 3, "deployment": {"resources": ["x"]}}', "no type"),
        (
            '{"version": 3, "deployment": {"resources": [{"urn": "urn:pulumi:other::p::t::n", "type": ""}]}}',
            "'other', not of 's'",
        ),
    ],
)
def test_a_file_that_is_no_export_of_this_stack_is_refused_with_a_sentence(
    tmp_path: Path, text: str, says: str
) -> None:
    file = tmp_path / "state.json"
    file.write_text(text)
    with pytest.raises(ConfigError, match=re.escape(says)) as refused:
        read_state(file, "s")
    assert str(file) in str(refused.value)
    assert "pulumi stack export" in str(refused.value) or "export it again" in str(refused.value)


def test_a_missing_file_is_refused_with_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        read_state(tmp_path / "none.json", "s")


def test_an_empty_stack_is_all_creates(tmp_path: Path) -> None:
    file = tmp_path / "state.json"
    file.write_text('{"version": 3, "deployment": {"manifest": {}}}')
    assert _told(_changes(file, lambda: Thing(POOL, "new", {})).steps) == [("create", "new")]


FSX = "aws:fsx/lustreFileSystem:LustreFileSystem"
LUSTRE = "gcp:lustre/instance:Instance"
FILESTORE = "gcp:filestore/instance:Instance"
SUBNETWORK = "gcp:compute/subnetwork:Subnetwork"


@pytest.mark.parametrize(
    ("type_", "old", "new", "outcome"),
    [
        (FSX, {"storageCapacity": 4800}, {"storageCapacity": 2400}, "replace"),
        (FSX, {"storageCapacity": 2400}, {"storageCapacity": 4800}, "update"),
        (LUSTRE, {"capacityGib": "18000"}, {"capacityGib": "9000"}, "refused"),
        (LUSTRE, {"capacityGib": "9000"}, {"capacityGib": "18000"}, "update"),
        (FILESTORE, {"fileShares": {"capacityGb": 2048}}, {"fileShares": {"capacityGb": 1024}}, "update"),
        (FILESTORE, {"fileShares": {"capacityGb": 1024}}, {"fileShares": {"capacityGb": 10240}}, "refused"),
        (SUBNETWORK, {"ipCidrRange": "10.0.0.0/20"}, {"ipCidrRange": "10.0.0.0/22"}, "replace"),
        (SUBNETWORK, {"ipCidrRange": "10.0.0.0/22"}, {"ipCidrRange": "10.0.0.0/20"}, "update"),
    ],
)  # fmt: skip
def test_smaller_is_what_the_provider_and_the_cloud_make_of_it(
    export: Callable[..., Path],
    type_: str,
    old: dict[str, Any],
    new: dict[str, Any],
    outcome: str,
) -> None:
    found = _changes(export(_made(type_, "x", old)), lambda: Thing(type_, "x", new))
    (step,) = found.steps
    assert ("refused" if step.refused else step.action) == outcome
    assert bool(found.fails) == (outcome == "refused")


@pytest.mark.parametrize(
    ("type_", "action", "told"),
    [
        ("aws:eks/cluster:Cluster", "replace", True),
        ("azure-native:containerservice:ManagedCluster", "replace", True),
        ("gcp:container/cluster:Cluster", "replace", True),
        ("aws:eks/cluster:Cluster", "update", False),
        ("aws:eks/nodeGroup:NodeGroup", "replace", False),
    ],
)
def test_a_cluster_that_is_replaced_is_another_environment(type_: str, action: Any, told: bool) -> None:
    step = Step(action=action, type=type_, name="x", urn="urn:x")
    assert Changes(steps=(step,), same=0).other_environment is told
