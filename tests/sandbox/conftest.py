"""Fixtures of the sandbox's tests: small projects, and a cloud of yes."""

# The methods' names and arguments are those of the engine's protocol.
# ruff: noqa: ARG002, N802

from __future__ import annotations

import os
import subprocess
import textwrap
import time
from concurrent import futures
from pathlib import Path

import grpc
import pytest
from google.protobuf import empty_pb2, struct_pb2
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc

from gpuplatform.sandbox.session import Sandbox


class YesCloud(provider_pb2_grpc.ResourceProviderServicer):
    """Accepts everything and remembers what it was asked to make."""

    def __init__(self) -> None:
        self.made: list[str] = []

    def Handshake(self, request, context):
        return provider_pb2.ProviderHandshakeResponse(
            accept_secrets=True, accept_resources=True, accept_outputs=True
        )

    def GetPluginInfo(self, request, context):
        return plugin_pb2.PluginInfo(version="7.0.0")

    def GetSchema(self, request, context):
        return provider_pb2.GetSchemaResponse(schema="{}")

    def CheckConfig(self, request, context):
        return provider_pb2.CheckResponse(inputs=request.news)

    def DiffConfig(self, request, context):
        return provider_pb2.DiffResponse(changes=provider_pb2.DiffResponse.DIFF_NONE)

    def Configure(self, request, context):
        return provider_pb2.ConfigureResponse(
            acceptSecrets=True, acceptResources=True, acceptOutputs=True, supportsPreview=True
        )

    def Check(self, request, context):
        return provider_pb2.CheckResponse(inputs=request.news)

    def Diff(self, request, context):
        old, new = dict(request.old_inputs), dict(request.news)
        changed = [key for key in old | new if old.get(key) != new.get(key)]
        some, none = provider_pb2.DiffResponse.DIFF_SOME, provider_pb2.DiffResponse.DIFF_NONE
        return provider_pb2.DiffResponse(changes=some if changed else none, diffs=changed)

    def Create(self, request, context):
        properties = struct_pb2.Struct()
        properties.CopyFrom(request.properties)
        if request.preview:
            return provider_pb2.CreateResponse(properties=properties)
        self.made.append(request.urn)
        return provider_pb2.CreateResponse(id=f"id-{len(self.made)}", properties=properties)

    def Update(self, request, context):
        return provider_pb2.UpdateResponse(properties=request.news)

    def Delete(self, request, context):
        return empty_pb2.Empty()

    def Read(self, request, context):
        return provider_pb2.ReadResponse(id=request.id, properties=request.properties, inputs=request.inputs)

    def Attach(self, request, context):
        return empty_pb2.Empty()

    def Cancel(self, request, context):
        return empty_pb2.Empty()


class YesClouds:
    """Stands in for `gpuplatform.sandbox.cloud.serve`: the tests of the engine's side need no real rules."""

    def __init__(self, _world: Path, clouds) -> None:
        self.cloud = YesCloud()
        self.server = grpc.server(futures.ThreadPoolExecutor(8))
        provider_pb2_grpc.add_ResourceProviderServicer_to_server(self.cloud, self.server)
        port = self.server.add_insecure_port("127.0.0.1:0")
        self.server.start()
        self.ports = dict.fromkeys(clouds, port)

    def stop(self) -> None:
        self.server.stop(0).wait()


PROGRAM = """
import pulumi


class Thing(pulumi.CustomResource):
    def __init__(self, name, props, opts=None):
        super().__init__("aws:test/thing:Thing", name, props, opts)


size = pulumi.Config().require_int("size")
print("hello from the program")
kept = Thing("kept", {"size": size}, pulumi.ResourceOptions(protect=True))
Thing("other", {"size": size, "of": kept.id})
pulumi.export("size", size)
pulumi.export("id", kept.id)
pulumi.export("token", pulumi.Output.secret("not for the log"))
"""

PACK = """
from pulumi_policy import EnforcementLevel, PolicyPack, ResourceValidationPolicy


def small(args, report):
    if args.resource_type == "aws:test/thing:Thing" and args.props["size"] > 5:
        report(f"size {args.props['size']:.0f} is over 5")


MANDATORY = EnforcementLevel.MANDATORY
PolicyPack("tiny", [ResourceValidationPolicy("small", "Things are small.", small, MANDATORY)])
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A Pulumi project with two stacks and a policy pack, laid out as ours is."""
    files = {
        "Pulumi.yaml": "name: tiny\nruntime: python\nmain: stacks/\nstackConfigDir: stacks/config\n",
        "stacks/__main__.py": PROGRAM,
        "stacks/config/Pulumi.dev.yaml": 'config:\n  tiny:size: "3"\n',
        "stacks/config/Pulumi.prod.yaml": 'config:\n  tiny:size: "7"\n',
        "policies/tiny/PulumiPolicy.yaml": "runtime: python\nversion: 1.0.0\n",
        "policies/tiny/__main__.py": PACK,
    }
    for name, text in files.items():
        file = tmp_path / "project" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(text).lstrip(), encoding="utf-8")
    return tmp_path / "project"


@pytest.fixture
def open_sandbox(engine):  # noqa: ARG001 - asked for so that the test is skipped without one
    """Opens a sandbox over the cloud that says yes."""

    def open_(start: Path, environ=None, clouds=YesClouds):
        return Sandbox.open(start, report=print, environ=environ or dict(os.environ), serve=clouds)

    return open_


@pytest.fixture
def alive():
    """The processes of a group that still run; a short while is given to them to end."""

    def alive_(group: int) -> list[str]:
        deadline = time.monotonic() + 5
        while True:
            rows = subprocess.run(
                ["ps", "-eo", "pgid=,stat=,args="], capture_output=True, text=True, check=True
            )
            fields = [row.split(None, 2) for row in rows.stdout.splitlines()]
            left = [row[2] for row in fields if int(row[0]) == group and not row[1].startswith("Z")]
            if not left or time.monotonic() > deadline:
                return left
            time.sleep(0.05)

    return alive_


@pytest.fixture
def wait_for():
    """The text of a file that another process writes, once its line is whole."""

    def wait_for_(file: Path) -> str:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            if file.is_file() and (text := file.read_text()).endswith("\n"):
                return text
            time.sleep(0.05)
        return pytest.fail(f"{file} never came")

    return wait_for_
