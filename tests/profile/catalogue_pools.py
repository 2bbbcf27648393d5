"""Pools over the whole catalogue: every machine type, and every way of asking for it."""

from __future__ import annotations

from functools import cache

from gpuplatform import catalog
from gpuplatform.config import NodePool

RESERVATIONS = {
    "aws": "cr-0123456789abcdef0",
    "azure": "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/some-group/providers/"
    "Microsoft.Compute/capacityReservationGroups/some-reservations",
    "gcp": "some-reservation",
}
CAPACITIES = ("on-demand", "spot", "reservation", "capacity-block", "flex-start", "queued")
SHARINGS = (
    None,
    {"kind": "mig", "profile": "1g.10gb"},
    {"kind": "mig", "profile": "3g.71gb"},
    {"kind": "mig", "profile": "1g.24gb"},
    {"kind": "time-slicing", "replicas": 4},
    {"kind": "mps", "replicas": 20},
)
FABRICS = (None, "required", "none")
DRIVERS = (None, "cloud", "operator")
IMAGES = (None, "al2023", "bottlerocket", "ubuntu", "azurelinux", "cos")
DISKS = (None, "ephemeral", "raw", "none")


@cache
def skus():
    return catalog.load().skus()


@cache
def supported():
    return tuple(sku for sku in skus() if sku.k8s_supported and sku.gpu_vendor == "nvidia")


def capacity_of(kind, cloud):
    ids = {"reservation": RESERVATIONS[cloud], "capacity-block": RESERVATIONS["aws"]}
    return {"kind": kind, **({"id": ids[kind]} if kind in ids else {})}


def pool_of(sku, *, capacity="on-demand", purpose="inference", nodes=2, **asked):
    fields = {key: value for key, value in asked.items() if value is not None}
    return NodePool.model_validate(
        {
            "name": "pool",
            "sku": sku.name,
            "purpose": purpose,
            "nodes": {"max": nodes},
            "capacity": capacity_of(capacity, sku.cloud),
            **fields,
        }
    )
