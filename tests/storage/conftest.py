"""Plans of storage tiers in the sample stacks, whose pools are real machines."""

from __future__ import annotations

import pytest
from samples import decision_of

from gpuplatform.errors import Refusal
from gpuplatform.storage import storage_plans

PROD = {"aws": "aws-prod", "azure": "azure-prod", "gcp": "gcp-prod"}


@pytest.fixture
def plans():
    """The plans of `tiers` on a cloud, by name; `profiles` replaces the stack's own, `changed` its fields."""

    def made(cloud, tiers, /, *, stack=None, profiles=None, **changed):
        decision = decision_of(stack or PROD[cloud])
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
