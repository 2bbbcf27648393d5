from __future__ import annotations

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from gpuplatform.guardrails import Limits, strictest

NAMES = st.none() | st.lists(st.sampled_from(["a", "B", "c"]), max_size=3).map(tuple)
LIMITS = st.builds(
    Limits,
    regions=NAMES,
    gpu_models=NAMES,
    monthly_usd=st.none() | st.decimals(min_value=1, max_value=9, places=2),
    max_price_age_days=st.none() | st.integers(1, 9),
    not_evaluated_fails=st.booleans(),
)


def test_the_stricter_of_two_sets_of_limits_wins():
    one = Limits(regions=("us-east-1", "us-west-2"), monthly_usd=Decimal(100))
    other = Limits(regions=("us-west-2", "eu-west-1"), monthly_usd=Decimal(50), not_evaluated_fails=True)
    assert strictest([one, other]) == Limits(
        regions=("us-west-2",), monthly_usd=Decimal(50), not_evaluated_fails=True
    )


def test_lists_with_nothing_in_common_allow_nothing():
    assert strictest([Limits(regions=("a",)), Limits(regions=("b",))]).regions == ()


def test_no_limits_are_no_limit():
    assert strictest([]) == Limits()


@given(LIMITS, LIMITS)
def test_no_limit_is_ever_loosened_and_the_order_does_not_matter(one, other):
    both, swapped = strictest([one, other]), strictest([other, one])
    for limits in (one, other):
        if limits.regions is not None:
            assert set(both.regions) <= set(limits.regions)
        if limits.monthly_usd is not None:
            assert both.monthly_usd <= limits.monthly_usd
        if limits.max_price_age_days is not None:
            assert both.max_price_age_days <= limits.max_price_age_days
        assert both.not_evaluated_fails >= limits.not_evaluated_fails
    assert set(both.regions or ()) == set(swapped.regions or ())
    assert both.monthly_usd == swapped.monthly_usd
