"""What Azure keeps beside AKS for its nodes, and of the subscription."""

from __future__ import annotations

from collections.abc import Iterator

from gpuplatform.sandbox.cloud.azure.common import IN_GROUP, PROXIMITY
from gpuplatform.sandbox.cloud.rule import Call, CloudError, NameRule, Rule
from gpuplatform.sandbox.sdk_types import Problem

__all__ = ["RULES"]


def _check_proximity(call: Call) -> Iterator[Problem]:
    zones = call.get("zones[]", None)
    if zones is not None and call.get("intent.vmSizes[]", None) is None:
        yield Problem("zones", "can be specified only together with intent.vmSizes")


def _register_feature(call: Call) -> None:
    """A feature always exists, if only unregistered: pulumi/pulumi-azure-native#1722."""
    path = f"featureProviders/{call.get('providerNamespace')}/subscriptionFeatureRegistrations"
    raise CloudError(
        f"cannot create already existing resource '/subscriptions/{call.account.owner}/providers"
        f"/Microsoft.Features/{path}/{call.get('featureName')}'"
    )


RULES = (
    Rule(
        PROXIMITY,
        names=NameRule(r"\w([\w.-]{0,78}\w)?", "1 to 80 of letters, digits, _, . and -"),
        references=(IN_GROUP,),
        check=_check_proximity,
    ),
    Rule("azure-native:features:SubscriptionFeatureRegistration", create=_register_feature),
)
