"""Elastic Fabric Adapters: which interfaces a machine is launched with.

Source, also for every layout below: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-acc-inst-types.html.
Numbers of cards and adapters agree with EC2 DescribeInstanceTypes, as recorded in moto 5.2.5.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gpuplatform.catalog import Sku
from gpuplatform.config import NodePool
from gpuplatform.errors import Refusal
from gpuplatform.profile.fabric import Efa, Fabric, NetworkInterface, NoFabric

__all__ = ["EFA_LABEL", "EFA_RESOURCE", "fabric"]

EFA_RESOURCE: Final = "vpc.amazonaws.com/efa"
EFA_LABEL: Final = "vpc.amazonaws.com/efa.present"

# Cards with an adapter, where they are not the first ones. The number of network cards tells nothing
# (eksctl-io/eksctl#8692): both of these have 17, and the first takes ENA only.
_CARDS: Final[Mapping[str, tuple[int, ...]]] = {
    "p6-b300": tuple(range(1, 17)),
    # Cards 1 and 3, 5 and 7, ... lead to one GPU each and share its 400 Gbit/s; even cards share their odd
    # neighbour's port. One adapter a GPU reaches all of the 1,600 Gbit/s.
    "p6e-gb200": (1, 5, 9, 13),
}

# P machines from p4d on (aws/aws-ofi-nccl#547), and what was announced since: G7e with several GPUs, G7
# (https://aws.amazon.com/ec2/instance-types/g7e/, .../g7/).
_GPUDIRECT: Final = frozenset(
    {"p4d", "p4de", "p5", "p5e", "p5en", "p6-b200", "p6-b300", "p6e-gb200", "g7", "g7e"},
)


def fabric(pool: NodePool, sku: Sku, where: str) -> Fabric:
    """What connects the pool's nodes.

    Left to the machine, adapters that GPUs reach directly are always used: inference over several nodes moves
    its caches through them. Those of the other machines cost huge pages on every node and buy little, so only
    training gets them unasked.

    Raises:
        Refusal: The machine has EFA, and the catalogue does not know how many adapters.
    """
    if sku.fabric != "efa":
        return NoFabric(
            reason=f"{sku.name} has no Elastic Fabric Adapter, which the larger GPU machines have"
        )
    if pool.fabric == "none":
        return NoFabric(reason="the pool asks for none")
    if pool.fabric is None and pool.purpose != "training" and not _gpudirect(sku):
        return NoFabric(
            reason=f"{sku.name} for {pool.purpose} has one only where the pool says fabric: required"
        )
    if not sku.efa_interfaces:
        raise Refusal(
            f"how many Elastic Fabric Adapters {sku.name} takes is unknown",
            where=f"{where}.sku",
            rule="a machine is launched with all of them or none: a wrong number is refused, or idles GPUs",
            way_out="add MaximumEfaInterfaces (aws ec2 describe-instance-types) to the catalogue as "
            "efa_interfaces, or say fabric: none",
        )
    return Efa(
        interfaces=_interfaces(sku.family, sku.efa_interfaces),
        adapters=sku.efa_interfaces,
        gpudirect=_gpudirect(sku),
        nvlink_domain=sku.intra_node == "nvl72",
    )


def _interfaces(family: str, adapters: int) -> tuple[NetworkInterface, ...]:
    """The primary interface, with the node's and the pods' addresses, and one `efa-only` for each adapter.

    `efa-only` takes no IP address, where `efa` takes one a card, and leaves one interface to route by. The
    primary interface cannot be one; on its card, the adapter is the second device. A device index is 0 or 1
    on every card: it does not count the cards (eksctl-io/eksctl#7520).
    """
    primary = NetworkInterface(card=0, device=0, type="interface")
    cards = _CARDS.get(family, tuple(range(adapters)))
    return (
        primary,
        *(NetworkInterface(card=card, device=1 if card == 0 else 0, type="efa-only") for card in cards),
    )


def _gpudirect(sku: Sku) -> bool:
    """Whether the adapter reads and writes GPU memory; not on the P and G7e sizes with one GPU."""
    return sku.family in _GPUDIRECT and (sku.gpu_count > 1 or sku.family == "g7")
