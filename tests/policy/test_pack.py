from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from google.protobuf import empty_pb2
from pulumi.runtime.proto import analyzer_pb2
from pulumi_policy import EnforcementLevel

import gpuplatform
from gpuplatform.policy.pack import POLICY_NAMES
from gpuplatform.policy.policies import BUDGET, MACHINE, NOTES, PLACEMENT, policies
from gpuplatform.policy.settings import SCHEMA

PACK = Path(__file__).parents[2] / "policies" / "gpu"


def test_pol_2_every_guardrail_is_mandatory_and_only_the_notes_are_advisory(engine):
    levels = {policy.name: policy.enforcement_level for policy in policies(engine.session)}
    assert levels == {
        MACHINE: EnforcementLevel.MANDATORY,
        PLACEMENT: EnforcementLevel.MANDATORY,
        BUDGET: EnforcementLevel.MANDATORY,
        NOTES: EnforcementLevel.ADVISORY,
    }
    assert set(levels) == set(POLICY_NAMES)


def test_the_engine_is_told_levels_and_a_schema_that_it_can_check_against(engine):
    info = engine.servicer.GetAnalyzerInfo(empty_pb2.Empty(), None)
    assert info.supportsConfig
    told = {policy.name: policy for policy in info.policies}
    assert told[BUDGET].enforcementLevel == analyzer_pb2.MANDATORY
    assert told[BUDGET].policy_type == analyzer_pb2.POLICY_TYPE_STACK
    assert told[MACHINE].policy_type == analyzer_pb2.POLICY_TYPE_RESOURCE
    assert set(told[MACHINE].configSchema.properties) == set(SCHEMA)


def test_the_schema_is_json_schema():
    import jsonschema

    for rule in SCHEMA.values():
        jsonschema.Draft7Validator.check_schema(rule)
    jsonschema.validate({"monthlyUsd": 100}, {"properties": SCHEMA})
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"regions": []}, {"properties": SCHEMA})


def test_the_packs_file_names_the_products_version_and_its_program_only_starts_it():
    document = yaml.safe_load((PACK / "PulumiPolicy.yaml").read_text())
    assert document["version"] == gpuplatform.__version__
    program = (PACK / "__main__.py").read_text().splitlines()
    assert program[-3:] == ["from gpuplatform.policy import run", "", "run()"]


def test_a_policy_can_be_made_advisory_by_configuration(engine):
    request = analyzer_pb2.ConfigureAnalyzerRequest()
    request.policyConfig[MACHINE].CopyFrom(analyzer_pb2.PolicyConfig(enforcementLevel=analyzer_pb2.ADVISORY))
    engine.servicer.Configure(request, None)
    (note,) = engine.register("aws:ec2/instance:Instance", {"instanceType": "p3.2xlarge"})
    assert not note.mandatory
