"""Drives the security pack as the engine does: requests in, diagnostics out; rules see real proxies."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from google.protobuf import struct_pb2
from pulumi.runtime.proto import analyzer_pb2
from pulumi_policy import EnforcementLevel

from gpuplatform.policy.security import NAME, PACK, SecurityOperation, policies
from gpuplatform.policy.serving import servicer

MARK = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"


@dataclass(frozen=True)
class Note:
    policy: str
    message: str
    urn: str
    mandatory: bool

    @property
    def rule(self) -> str:
        return self.message[self.message.index("[") + 1 : self.message.index("]")]


class Engine:
    """One operation over some resources."""

    def __init__(self) -> None:
        operation = SecurityOperation()
        self.servicer = servicer(PACK, operation)(NAME, "0", policies(operation), EnforcementLevel.MANDATORY)
        self.stack = "shop-prod"
        self.start()

    def configure(self, _level=analyzer_pb2.MANDATORY, **values) -> None:
        entry = analyzer_pb2.PolicyConfig(enforcementLevel=_level)
        entry.properties.update(values)
        request = analyzer_pb2.ConfigureAnalyzerRequest()
        request.policyConfig["security"].CopyFrom(entry)
        self.servicer.Configure(request, None)

    def start(self, *, dry_run=True) -> None:
        request = analyzer_pb2.AnalyzerStackConfigureRequest(stack=self.stack, project="p", dry_run=dry_run)
        self.servicer.ConfigureStack(request, None)

    def register(self, type_, props, *, name="r", protect=False) -> list[Note]:
        """Registers a resource; what blocks it."""
        properties = struct_pb2.Struct()
        properties.update(props)
        request = analyzer_pb2.AnalyzeRequest(
            type=type_,
            urn=f"urn:pulumi:{self.stack}::p::{type_}::{name}",
            name=name,
            properties=properties,
            options=analyzer_pb2.AnalyzerResourceOptions(protect=protect),
        )
        return _notes(self.servicer.Analyze(request, None))

    def finish(self) -> list[Note]:
        """What is said at the end, and blocks nothing."""
        return _notes(self.servicer.AnalyzeStack(analyzer_pb2.AnalyzeStackRequest(), None))


def _notes(response) -> list[Note]:
    return [
        Note(one.policyName, one.message, one.urn, one.enforcementLevel == analyzer_pb2.MANDATORY)
        for one in response.diagnostics
    ]


@pytest.fixture
def pack():
    return Engine()


@pytest.fixture
def mark():
    return MARK
