"""Plans of storage tiers in the sample stacks, whose pools are real machines."""

from __future__ import annotations

import pytest
from samples import decision_of

from gpuplatform.config import SharedFilesystem
from gpuplatform.errors import Refusal
from gpuplatform.storage import storage_plans

PROD = {"aws": "aws-prod", "azure": "azure-prod", "gcp": "gcp-prod"}


@pytest.fixture
def plans():
    """The plans of `tiers` on a cloud, by name; `profiles` replaces the stack's own, `changed` its fields.

    A file system that must name a zone and doesn't is put into the network's first, unless `zoned` is false.
    """

    def made(cloud, tiers, /, *, stack=None, profiles=None, zoned=True, **changed):
        decision = decision_of(stack or PROD[cloud])
        if zoned:
            first = decision.config.network.zones[0]
            tiers = {name: _in_zone(cloud, tier, first) for name, tier in tiers.items()}
        config = decision.config.model_copy(update={"storage": tiers, **changed})
        chosen = decision.profiles if profiles is None else profiles
        return {plan.tier: plan for plan in storage_plans(config, chosen)}

    return made


@pytest.fixture
def refused(plans):
    """The refusal of one tier, which is named `data`."""

    def made(cloud, tier, /, **more):
        with pytest.raises(Refusal) as caught:
            plans(cloud, {"data": tier}, **more)
        return caught.value

    return made


def _in_zone(cloud, tier, zone):
    zonal = isinstance(tier, SharedFilesystem) and (cloud, tier.service) != ("azure", "nfs")
    return tier.model_copy(update={"zone": zone}) if zonal and tier.zone is None else tier
