"""The pack around the rules: levels, configuration, exceptions, and what it costs."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest
import yaml
from google.protobuf import empty_pb2
from pulumi.runtime.proto import analyzer_pb2
from pulumi_policy import EnforcementLevel

import gpuplatform
from gpuplatform.policy.security import (
    NOTES,
    POLICY_NAMES,
    SCHEMA,
    SECURITY,
    SecurityOperation,
    policies,
)
from gpuplatform.security import RULES, concerns

PACK = Path(__file__).parents[2] / "policies" / "security"
DOCS = Path(__file__).parents[2] / "docs" / "security.md"
KEY = "aws:iam/accessKey:AccessKey"


def test_pol_2_the_rules_are_mandatory_and_only_the_notes_are_advisory():
    levels = {policy.name: policy.enforcement_level for policy in policies(SecurityOperation())}
    assert levels == {SECURITY: EnforcementLevel.MANDATORY, NOTES: EnforcementLevel.ADVISORY}
    assert tuple(levels) == POLICY_NAMES


def test_the_engine_is_told_a_schema_that_it_can_check_against(pack):
    info = pack.servicer.GetAnalyzerInfo(empty_pb2.Empty(), None)
    assert {name for policy in info.policies for name in policy.configSchema.properties} == set(SCHEMA)
    for rule in SCHEMA.values():
        jsonschema.Draft7Validator.check_schema(rule)


def test_the_packs_file_names_the_products_version_and_its_program_only_starts_it():
    document = yaml.safe_load((PACK / "PulumiPolicy.yaml").read_text())
    assert document["version"] == gpuplatform.__version__
    program = (PACK / "__main__.py").read_text().splitlines()
    assert program[-3:] == ["from gpuplatform.policy.security import run", "", "run()"]


def test_the_docs_name_every_rule_and_every_key():
    text = DOCS.read_text()
    assert [name for name in (*RULES, *SCHEMA) if f"`{name}`" not in text] == []


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"githubOwner": ["acme"]}, "did you mean 'githubOwners'"),
        ({"githubOwners": []}, "[] is not accepted"),
        ({"githubOwners": "acme"}, "'acme' is not accepted"),
        ({"wholeRepository": "allow"}, "'allow' is not accepted"),
        ({"ebsEncryptedByDefault": "yes"}, "'yes' is not accepted"),
        ({"advisory": ["open-ports"]}, "['open-ports'] is not accepted"),
        ({"exceptions": ["open-port"]}, "'open-port' is no exception"),
        ({"exceptions": ["open-ports:ssh"]}, "the rules are"),
        ({"notEvaluated": "block"}, "'block' is not accepted"),
    ],
)
@pytest.mark.parametrize("level", [analyzer_pb2.MANDATORY, analyzer_pb2.ADVISORY, analyzer_pb2.DISABLED])
def test_a_wrong_configuration_blocks_once_whatever_the_levels_are(pack, config, words, level):
    pack.configure(_level=level, **config)
    (note,) = pack.register("random:index/randomId:RandomId", {})
    assert note.mandatory
    assert words in note.message
    assert pack.register(KEY, {}) == []
    assert pack.finish() == []


def test_two_values_of_one_key_block(pack):
    request = analyzer_pb2.ConfigureAnalyzerRequest()
    for name, value in (("security", "accept"), ("security-notes", "refuse")):
        request.policyConfig[name].properties.update({"wholeRepository": value})
        request.policyConfig[name].enforcementLevel = analyzer_pb2.MANDATORY
    pack.servicer.Configure(request, None)
    (note,) = pack.register(KEY, {})
    assert "wholeRepository is set twice" in note.message


def test_a_configuration_set_on_all_holds(pack):
    request = analyzer_pb2.ConfigureAnalyzerRequest()
    request.policyConfig["all"].properties.update({"advisory": ["long-lived-key"]})
    pack.servicer.Configure(request, None)
    assert pack.register(KEY, {}) == []
    assert [note.rule for note in pack.finish()] == ["long-lived-key"]


def test_an_exception_is_one_rule_of_one_resource_and_stays_a_note(pack):
    pack.configure(exceptions=["long-lived-key:legacy"])
    assert pack.register(KEY, {}, name="legacy") == []
    assert [note.mandatory for note in pack.register(KEY, {}, name="other")] == [True]
    (note,) = pack.finish()
    assert "accepted as an exception" in note.message


def test_a_policy_made_advisory_or_disabled_blocks_nothing(pack):
    pack.configure(_level=analyzer_pb2.ADVISORY)
    assert [note.mandatory for note in pack.register(KEY, {})] == [False]
    pack.configure(_level=analyzer_pb2.DISABLED)
    assert pack.register(KEY, {}) == []


def test_a_new_operation_forgets_the_notes_of_the_last_one(pack, mark):
    pack.register("aws:iam/role:Role", {"assumeRolePolicy": mark})
    assert len(pack.finish()) == 1
    pack.start()
    assert pack.finish() == []


@pytest.mark.parametrize(
    "type_", ["kubernetes:apps/v1:Deployment", "aws:eks/nodeGroup:NodeGroup", "gpuplatform:index:EksCluster"]
)
def test_no_property_is_read_of_a_type_without_a_rule(type_):
    assert not concerns(type_)
    assert concerns(KEY)
