"""Node profiles made by hand, for tests of what is made from a profile, whatever the clouds decide."""

from __future__ import annotations

from gpuplatform.profile import (
    CapacityPlan,
    Flavor,
    LocalDisks,
    NodeProfile,
    NoFabric,
    Placement,
    PodWiring,
    Taint,
)

GPU_TAINT = Taint(key="nvidia.com/gpu", value="present", effect="NoSchedule")
SHARED_FABRIC = NoFabric(reason="asked for none")


def made_profile(
    driver, *taints, pool="train", sharing=None, fabric=SHARED_FABRIC, plugin="gpu-operator", **other
):
    """A profile of eight GPUs a node; `taints` come beside the GPU taint."""
    fields = {
        "purpose": "training",
        "sku": "some-machine",
        "gpus": 8,
        "gpu_model": "H100",
        "accelerator": None,
        "arch": "amd64",
        "image": "some-image",
        "capacity": CapacityPlan(kind="on-demand"),
        "placement": Placement(kind="none"),
        "local_disks": LocalDisks(mode="none"),
        "labels": {"gpuplatform.io/pool": pool},
        "scale_from_zero": {},
        "device_plugins": (plugin,),
        "advertised": {"nvidia.com/gpu": 8},
        "pod": PodWiring(resources={"nvidia.com/gpu": "8"}),
        "flavor": Flavor(name=pool, node_labels={"gpuplatform.io/pool": pool}),
        "bandwidth": None,
        "preconditions": (),
        "disk_gib": 200,
    }
    return NodeProfile(
        pool=pool,
        driver=driver,
        fabric=fabric,
        sharing=sharing,
        taints=(GPU_TAINT, *taints),
        **{**fields, **other},
    )
