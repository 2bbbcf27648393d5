"""Rules about the machine type: it exists, fits the pool, still lives, is of a model that may be used."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from datetime import date
from typing import Final

from gpuplatform.catalog import CLOUDS, Catalog, Cloud, Sku, Status
from gpuplatform.guardrails.footprint import NodeGroup, Unknown
from gpuplatform.guardrails.limits import Limits
from gpuplatform.guardrails.verdict import Verdict, fail, not_evaluated, passed, warn

__all__ = ["judge_machine"]

_A_TYPE_OF: Final = {"aws": "an AWS", "azure": "an Azure", "gcp": "a Google Cloud"}
_ADD: Final = "a machine type that the catalogue lacks is added as docs/how-to/add-a-sku.md says"


def judge_machine(group: NodeGroup, limits: Limits, catalog: Catalog, today: date) -> Iterator[Verdict]:
    """The verdicts of `machine`, `gpu-pool`, `retired`, `gpu-model` and `fabric` on one group."""
    if isinstance(group.machine, Unknown):
        yield not_evaluated("machine", group, str(group.machine))
    elif group.machine == "":
        yield not_evaluated(
            "machine", group, "no machine type is given, the cloud would choose one", "name one"
        )
    for machine in filter(None, group.machines):
        sku = catalog.sku(group.cloud, machine)
        if sku is None and catalog.machine(group.cloud, machine) is None:
            yield _not_known(group, machine, catalog)
            continue
        yield passed("machine", group, f"{machine} exists")
        yield from _fits_pool(group, machine, sku, catalog)
        if sku is not None:
            yield _alive(group, sku, today)
            if limits.gpu_models is not None:
                yield _model(group, sku, limits.gpu_models)
            yield from _fabric(group, sku)


def _not_known(group: NodeGroup, machine: str, catalog: Catalog) -> Verdict:
    near = catalog.nearest(group.cloud, machine)
    spelled = next((name for name in near if name.casefold() == machine.casefold()), None)
    if spelled is not None:
        return fail("machine", group, f"{machine} is spelled {spelled}", f"write {spelled}")
    other = _cloud_of(group.cloud, machine, catalog)
    if other is not None:
        message = (
            f"{machine} is {_A_TYPE_OF[other]} machine type, and the pool is {_A_TYPE_OF[group.cloud]} one"
        )
        return fail("machine", group, message, _instead(group))
    hint = f"did you mean {_either(near)}?" if near else _ADD
    message = f"{group.cloud} has no machine type {machine}, as far as the catalogue knows"
    # A group without GPUs may well use a machine type newer than the catalogue. One that differs from a known
    # type in digits alone (m9i.xlarge, m8i.xlarge) is such a one; anything else that comes close is a slip.
    newer = not near or any(_shape(machine) == _shape(name) for name in near)
    if group.asks_for_gpus is not True and newer:
        return not_evaluated("machine", group, message, hint)
    return fail("machine", group, message, f"{hint} Else {_ADD}" if near else hint)


def _cloud_of(cloud: Cloud, machine: str, catalog: Catalog) -> Cloud | None:
    """The other cloud that has such a machine type, in any case or generation."""
    for other in CLOUDS:
        if other == cloud:
            continue
        if catalog.sku(other, machine) or catalog.machine(other, machine):
            return other
        if any(_shape(name) == _shape(machine) for name in catalog.nearest(other, machine)):
            return other
    return None


def _instead(group: NodeGroup) -> str:
    if group.asks_for_gpus is False:
        return f"name {_A_TYPE_OF[group.cloud]} machine type"
    return f"choose one from gpuplatform sku list --cloud {group.cloud}"


def _shape(machine: str) -> str:
    return re.sub(r"\d+", "#", machine.casefold())


def _fits_pool(group: NodeGroup, machine: str, sku: Sku | None, catalog: Catalog) -> Iterator[Verdict]:
    match group.asks_for_gpus, sku:
        case True, None:
            likely = _likely(group, machine, catalog)
            hint = f"did you mean {_either(likely)}?" if likely else "choose one from gpuplatform sku list"
            yield fail("gpu-pool", group, f"{machine} has no GPU, and the pool asks for GPUs", hint)
        case False, Sku():
            yield fail(
                "gpu-pool",
                group,
                f"{machine} has GPUs ({_gpus(sku)}), and the pool asks for none",
                "choose a machine without GPUs; or, if GPUs are meant, keep other pods off with the taint "
                "nvidia.com/gpu:NoSchedule",
            )
        case Unknown(), Sku():
            yield not_evaluated(
                "gpu-pool",
                group,
                f"whether the pool asks for the GPUs of {machine}: {group.asks_for_gpus}",
            )
        case None, _:
            return
        case _:
            yield passed("gpu-pool", group, _gpus(sku) if sku else "no GPUs asked for, none bought")


def _likely(group: NodeGroup, machine: str, catalog: Catalog) -> tuple[str, ...]:
    """GPU machine types that someone who wrote `machine` may have meant: sold there, as many vCPUs, alike."""
    general = catalog.machine(group.cloud, machine)
    candidates = [
        sku
        for sku in catalog.skus(group.cloud)
        if sku.status is Status.ACTIVE
        and sku.k8s_supported
        and sku.gpu_vendor == "nvidia"
        and (not isinstance(group.region, str) or catalog.offering(group.cloud, sku.name, group.region))
    ]

    def unlikeness(sku: Sku) -> tuple[bool, float]:
        alike = difflib.SequenceMatcher(None, machine.casefold(), sku.name.casefold()).ratio()
        return (general is not None and sku.vcpu != general.vcpu, -alike)

    return tuple(sku.name for sku in sorted(candidates, key=unlikeness)[:2])


def _alive(group: NodeGroup, sku: Sku, today: date) -> Verdict:
    way_out = "choose an active one: gpuplatform sku list"
    if sku.is_retired(today):
        since = f" since {sku.retire_on}" if sku.retire_on else ""
        return fail("retired", group, f"{sku.name} is retired{since}", way_out)
    if sku.retire_on is not None:
        return warn("retired", group, f"{sku.name} retires on {sku.retire_on}", way_out)
    if sku.status is Status.LEGACY:
        return warn("retired", group, f"{sku.name} is a legacy type, still sold without an end date", way_out)
    return passed("retired", group, f"{sku.name} is {sku.status}")


def _model(group: NodeGroup, sku: Sku, allowed: tuple[str, ...]) -> Verdict:
    if sku.gpu_model.casefold() in {model.casefold() for model in allowed}:
        return passed("gpu-model", group, f"{sku.gpu_model} is allowed")
    return fail(
        "gpu-model",
        group,
        f"{sku.name} has the GPU model {sku.gpu_model}; allowed: {', '.join(allowed) or 'none'}",
        "choose an allowed model, or ask Operations to allow this one",
    )


def _fabric(group: NodeGroup, sku: Sku) -> Iterator[Verdict]:
    several = isinstance(group.nodes_max, int) and group.nodes_max > 1
    if group.purpose != "training" or not several:
        return
    if sku.fabric == "none":
        yield warn(
            "fabric",
            group,
            f"{sku.name} has no fabric for collectives: training on several nodes talks over TCP",
            "train on one node, or choose a type with a fabric: gpuplatform sku list",
        )
    elif isinstance(group.fabric, Unknown):
        yield not_evaluated("fabric", group, f"whether {sku.fabric} is attached: {group.fabric}")
    elif group.fabric is False:
        yield warn(
            "fabric",
            group,
            f"training on several nodes would talk over TCP: {sku.name} has {sku.fabric}, of which nothing "
            "is attached",
            "attach it (in a stack's own pool: fabric: required), or train on one node",
        )
    else:
        attached = "comes with the machine" if group.fabric is None else "is attached"
        yield passed("fabric", group, f"{sku.fabric} {attached}")


def _gpus(sku: Sku) -> str:
    return f"{sku.gpu_count.normalize():f} x {sku.gpu_model}"


def _either(names: tuple[str, ...]) -> str:
    return " or ".join(names)
