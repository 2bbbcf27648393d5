"""What a killed engine left open is settled by what exists."""

from __future__ import annotations

import json
from typing import Any

from gpuplatform.sandbox.cloud.world import Thing
from gpuplatform.sandbox.repair import repair
from gpuplatform.sandbox.sdk_types import SECRET, SIGNATURE

STACK = "urn:pulumi:dev::tiny::pulumi:pulumi:Stack::tiny-dev"
PROVIDER = "urn:pulumi:dev::tiny::pulumi:providers:aws::default"
REFERENCE = f"{PROVIDER}::1234"
POOL = "gpuplatform:index:EksGpuPool"
SECRET_VALUE = {SIGNATURE: SECRET, "value": {"token": "abc"}}


def urn(name: str, above: str = "") -> str:
    return f"urn:pulumi:dev::tiny::{above}aws:ec2/eip:Eip::{name}"


def record(name: str, **more: Any) -> dict[str, Any]:
    return {
        "urn": urn(name),
        "custom": True,
        "type": "aws:ec2/eip:Eip",
        "inputs": {"domain": "vpc"},
        "parent": STACK,
        "provider": REFERENCE,
        **more,
    }


def thing(name: str, id_: str, **more: Any) -> Thing:
    values: dict[str, Any] = {
        "key": 1,
        "cloud": "aws",
        "scope": "123",
        "token": "aws:ec2/eip:Eip",
        "id": id_,
        "name": "",
        "urn": urn(name),
        "stack": "tiny/dev",
        "inputs": {"domain": "vpc"},
        "outputs": {"publicIp": "203.0.113.1", "secret": SECRET_VALUE},
        "created": "2026-11-30T12:00:00+00:00",
    }
    return Thing(**values | more)


def state(*resources: dict[str, Any], pending: tuple[tuple[str, dict[str, Any]], ...] = ()) -> dict[str, Any]:
    above = [
        {"urn": STACK, "custom": False, "type": "pulumi:pulumi:Stack"},
        {"urn": PROVIDER, "custom": True, "type": "pulumi:providers:aws", "id": "1234", "parent": STACK},
    ]
    notes = [{"type": type_, "resource": resource} for type_, resource in pending]
    return {"resources": [*above, *resources], **({"pending_operations": notes} if notes else {})}


def test_what_is_in_order_is_left_alone() -> None:
    before = state(record("one", id="eip-1"))

    found = repair(before, [thing("one", "eip-1")])

    assert not found.needed
    assert found.deployment == before


def test_a_noted_create_that_took_effect_joins_the_state_with_all_the_note_says() -> None:
    note = record("two", protect=True, dependencies=[urn("one")])
    before = state(record("one", id="eip-1"), pending=(("creating", note),))
    untouched = json.dumps(before)

    found = repair(before, [thing("one", "eip-1"), thing("two", "eip-2")])

    assert found.adopted == (urn("two"),)
    assert found.deployment["resources"][-1] == {
        **note,
        "id": "eip-2",
        "outputs": {
            "publicIp": "203.0.113.1",
            "secret": {SIGNATURE: SECRET, "plaintext": '{"token": "abc"}'},
        },
    }
    assert "pending_operations" not in found.deployment
    assert json.dumps(before) == untouched


def test_a_noted_create_without_effect_is_forgotten() -> None:
    found = repair(state(pending=(("creating", record("two")),)), [])

    assert found.needed
    assert (found.adopted, found.dropped) == ((), 1)
    assert found.deployment == state()


def test_a_replacement_whose_predecessor_stands_is_left_to_the_engine_to_delete() -> None:
    """Only one of the two may be the resource, and others stand on the old one."""
    old = record("one", id="eip-1", protect=True)
    found = repair(
        state(old, pending=(("creating", record("one", protect=True)),)),
        [thing("one", "eip-1"), thing("one", "eip-9")],
    )

    assert found.superfluous == (urn("one"),)
    assert found.deployment["resources"][2] == old
    marked = found.deployment["resources"][3]
    assert (marked["id"], marked["delete"], marked["protect"]) == ("eip-9", True, False)


def test_an_interrupted_update_is_read_anew() -> None:
    before = state(
        record("one", id="eip-1", outputs={}),
        pending=(("updating", record("one", id="eip-1", inputs={"domain": "new"})),),
    )
    found = repair(before, [thing("one", "eip-1", inputs={"domain": "new"}, outputs={"publicIp": "x"})])

    assert found.updated == (urn("one"),)
    assert found.deployment["resources"][2]["inputs"] == {"domain": "new"}
    assert found.deployment["resources"][2]["outputs"] == {"publicIp": "x"}


def test_an_interrupted_delete_that_took_effect_leaves_the_state() -> None:
    one = record("one", id="eip-1")
    found = repair(state(one, pending=(("deleting", one),)), [])

    assert found.gone == (urn("one"),)
    assert found.deployment == state()


def test_an_interrupted_delete_without_effect_stays() -> None:
    one = record("one", id="eip-1")
    found = repair(state(one, pending=(("deleting", one),)), [thing("one", "eip-1")])

    assert found.gone == ()
    assert found.deployment == state(one)


def test_what_is_gone_and_others_stand_on_waits_for_its_replacement() -> None:
    """A state in which a dependency is missing is refused by the engine."""
    one = record("one", id="eip-1")
    two = record("two", id="eip-2", dependencies=[urn("one")])
    found = repair(state(one, two, pending=(("deleting", one),)), [thing("two", "eip-2")])

    assert found.deployment["resources"][2] == {**one, "pendingReplacement": True}
    again = repair(found.deployment, [thing("two", "eip-2")])
    assert not again.needed, "a second recovery has nothing to do"


def test_what_was_forgotten_comes_back_from_an_older_state_with_the_component_above_it() -> None:
    """`destroy` forgets what is in a cluster before the cluster takes it along."""
    component = {"urn": "urn:pulumi:dev::tiny::my:C::c", "custom": False, "type": "my:C", "parent": STACK}
    lost = record("two", id="eip-2", parent=component["urn"], dependencies=[urn("one"), urn("gone")])
    lost["deletedWith"] = urn("gone")
    older = state(record("gone", id="eip-0"), record("one", id="eip-1"), component, lost)

    found = repair(
        state(record("one", id="eip-1")), [thing("one", "eip-1"), thing("two", "eip-2")], [state(), older]
    )

    assert found.adopted == (urn("two"),)
    names = [resource["urn"].rpartition("::")[2] for resource in found.deployment["resources"]]
    assert names == ["tiny-dev", "default", "one", "c", "two"]
    assert found.deployment["resources"][-1]["dependencies"] == [urn("one")]
    assert "deletedWith" not in found.deployment["resources"][-1]


def test_what_no_state_tells_of_joins_its_like() -> None:
    pools = [
        {
            "urn": f"urn:pulumi:dev::tiny::{POOL}::{name}",
            "custom": False,
            "type": POOL,
            "parent": STACK,
        }
        for name in ("a10", "h100")
    ]
    here = urn("h100-ip", above=f"{POOL}$")
    found = repair(
        state(record("one", id="eip-1"), *pools), [thing("one", "eip-1"), thing("h100-ip", "eip-5", urn=here)]
    )

    assert found.adopted == (here,)
    joined = found.deployment["resources"][-1]
    assert (joined["parent"], joined["provider"], joined["id"]) == (pools[1]["urn"], REFERENCE, "eip-5")


def test_what_cannot_be_placed_is_named_and_not_touched() -> None:
    stray = thing("ip", "eip-5", urn=urn("ip", above="my:Unknown$"))
    found = repair(state(record("one", id="eip-1")), [thing("one", "eip-1"), stray])

    assert found.unknown == (stray,)
    assert not found.needed
