"""No shape of a property makes a rule raise: the SDK would make an engine error of it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuplatform.guardrails import RawResource
from gpuplatform.security import Settings, Survey
from gpuplatform.security.expression import cel_scope
from gpuplatform.security.judge import _SUBJECTS
from gpuplatform.security.scope import Reach

MARK = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
TYPES = sorted(
    {type_ for subject in _SUBJECTS for type_ in subject.READERS} | {"gcp:projects/iAMMember:IAMMember"}
)
KEYS = (
    *("assumeRolePolicy", "Statement", "Principal", "Federated", "Condition", "StringLike", "policy", "url"),
    *("issuer", "subject", "audiences", "claimsMatchingExpression", "value", "oidc", "issuerUri"),
    *("attributeCondition", "attributeMapping", "member", "members", "policyData", "tags", "labels"),
    *(
        "ingress",
        "cidrBlocks",
        "cidrIpv4",
        "protocol",
        "fromPort",
        "toPort",
        "securityRules",
        "allows",
        "ports",
    ),
    *("sourceRanges", "sourceAddressPrefix", "destinationPortRange", "vpcConfig", "publicAccessCidrs"),
    *(
        "apiServerAccessProfile",
        "authorizedIPRanges",
        "masterAuthorizedNetworksConfig",
        "cidrBlock",
        "grants",
    ),
    *(
        "blockDeviceMappings",
        "ebs",
        "encrypted",
        "rootBlockDevice",
        "version",
        "forceDestroy",
        "acl",
        "settings",
    ),
)
WORDS = [
    "assertion.repository",
    "assertion.actor",
    "==",
    "!=",
    "in",
    "&&",
    "||",
    "!",
    "(",
    ")",
    "[",
    "]",
    ",",
    "'acme/shop'",
    "'x'",
    "true",
    "false",
    ".startsWith(",
    ".matches(",
    "has(",
    "?",
    ":",
    "5",
]
PLAIN = (
    st.sampled_from(
        [
            None,
            MARK,
            "",
            "*",
            "{}",
            "[1]",
            "{",
            "0.0.0.0/0",
            "https://token.actions.githubusercontent.com",
            0,
            -1.5,
        ]
    )
    | st.booleans()
)
VALUES = st.recursive(
    PLAIN,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=500, deadline=None)
@given(st.sampled_from(TYPES), st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=8))
def test_no_shape_of_a_resource_makes_a_rule_raise(type_, props):
    raw = RawResource(type=type_, name="r", urn="urn:pulumi:prod::p::t::r", props=props)
    for finding in Survey(Settings()).judge(raw):
        assert finding.sentence.startswith(f"[{finding.rule}] r: ")


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.sampled_from(WORDS),
        max_size=9,
    )
)
def test_a_condition_that_never_names_the_repository_lets_nobody_named_in(words):
    scope = cel_scope(" ".join(words), {})
    named = "assertion.repository" in words and "'acme/shop'" in words
    if not named and "false" not in words and scope is not None:
        assert scope.reach is Reach.ANYONE or "'x'" in words


@pytest.mark.parametrize("text", ["(" * 4000, "!" * 4000 + "x", "[" * 4000, '"' * 4001])
def test_a_condition_without_an_end_is_not_read(text):
    assert cel_scope(text, {}) is None
