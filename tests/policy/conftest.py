"""Drives the pack as the engine does: protobuf requests in, diagnostics out; policies see real proxies."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import date

import pytest
from google.protobuf import struct_pb2
from pulumi.runtime.proto import analyzer_pb2
from pulumi_policy import EnforcementLevel

from gpuplatform.policy.pack import NAME, POLICY_NAMES, servicer
from gpuplatform.policy.policies import policies
from gpuplatform.policy.session import Session

MARK = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
DAY = date(2026, 11, 30)


def struct(props) -> struct_pb2.Struct:
    made = struct_pb2.Struct()
    made.update(props)
    return made


@dataclass(frozen=True)
class Note:
    policy: str
    message: str
    urn: str
    mandatory: bool


class Engine:
    """One operation over some resources."""

    def __init__(self, folder) -> None:
        self.session = Session(POLICY_NAMES, today=lambda: DAY, folder=lambda: folder)
        self.servicer = servicer(self.session)(NAME, "0", policies(self.session), EnforcementLevel.MANDATORY)
        self.resources: list = []

    def configure(self, _level=analyzer_pb2.MANDATORY, _only=None, **config) -> None:
        """Pack configuration, `_` for `-` in the policies' names; `_level` for each, or for `_only` those."""
        request = analyzer_pb2.ConfigureAnalyzerRequest()
        for name, values in config.items():
            level = _level if _only is None or name in _only else analyzer_pb2.MANDATORY
            entry = analyzer_pb2.PolicyConfig(enforcementLevel=level)
            entry.properties.update(values)
            request.policyConfig[name.replace("_", "-")].CopyFrom(entry)
        self.servicer.Configure(request, None)

    def start(self, *, platform=None, dry_run=True, secret=False) -> None:
        config = {} if platform is None else {"gpuplatform:platform": json.dumps(platform, default=str)}
        self.servicer.ConfigureStack(
            analyzer_pb2.AnalyzerStackConfigureRequest(
                stack="dev",
                project="p",
                dry_run=dry_run,
                config=config,
                config_secret_keys=list(config) if secret else [],
            ),
            None,
        )

    def register(self, type_, props, *, name="r", region="us-east-1", outputs=None, **depends) -> list[Note]:
        """Registers a resource; what the resource policies say of its inputs."""
        urn = f"urn:pulumi:dev::p::{type_}::{name}"
        provider = analyzer_pb2.AnalyzerProviderResource(
            type="pulumi:providers:aws", urn="urn:p", name="p", properties=struct({"region": region})
        )
        resource = analyzer_pb2.AnalyzerResource(
            type=type_, urn=urn, name=name, provider=provider, properties=struct(props | (outputs or {}))
        )
        for prop, others in depends.items():
            urns = [one.urn for one in self.resources if one.name in others]
            assert len(urns) == len(others)
            resource.propertyDependencies[prop].CopyFrom(analyzer_pb2.AnalyzerPropertyDependencies(urns=urns))
        self.resources.append(resource)
        request = analyzer_pb2.AnalyzeRequest(
            type=type_, urn=urn, name=name, provider=provider, properties=struct(props)
        )
        return _notes(self.servicer.Analyze(request, None))

    def finish(self) -> list[Note]:
        """What the stack policies say."""
        request = analyzer_pb2.AnalyzeStackRequest(resources=self.resources)
        return _notes(self.servicer.AnalyzeStack(request, None))


def _notes(response) -> list[Note]:
    return [
        Note(one.policyName, one.message, one.urn, one.enforcementLevel == analyzer_pb2.MANDATORY)
        for one in response.diagnostics
    ]


@pytest.fixture
def engine(tmp_path):
    return Engine(tmp_path)


@pytest.fixture
def mark():
    return MARK
