"""A small engine: it checks, diffs and creates over gRPC as the real one does, one request at a time."""

import os
from types import SimpleNamespace

import grpc
import pytest
from google.protobuf import struct_pb2
from pulumi.runtime.proto import provider_pb2 as pb
from pulumi.runtime.proto import provider_pb2_grpc

from gpuplatform.replacement import without_version
from gpuplatform.sandbox import sdk_source, sdk_types
from gpuplatform.sandbox.cloud import serve, wire

PROVIDERS = {"aws": "aws", "azure-native": "azure-native", "gcp": "gcp", "kubernetes": "kubernetes"}


def _struct(values):
    struct = struct_pb2.Struct()
    struct.update(values)
    return struct


class Client:
    """One provider resource: it has a connection of its own, as in the engine."""

    def __init__(self, port, package, stack="dev", **config):
        self._channel = grpc.insecure_channel(
            f"127.0.0.1:{port}", options=[("grpc.use_local_subchannel_pool", 1)]
        )
        self._stub = provider_pb2_grpc.ResourceProviderStub(self._channel)
        self._package, self._stack = package, stack
        self._stub.Configure(pb.ConfigureRequest(args=_struct(config), acceptSecrets=True))

    def _urn(self, token, name):
        return f"urn:pulumi:{self._stack}::test::{token}::{name}"

    def _who(self, token, name):
        return {"urn": self._urn(token, name), "name": name, "type": token}

    def check(self, token, name, inputs, olds=None):
        """The checked inputs; the failures are in `.failures`, as {path: reason}."""
        request = pb.CheckRequest(
            **self._who(token, name),
            news=_struct(inputs),
            olds=_struct(olds or {}),
            randomSeed=os.urandom(16),
        )
        response = self._stub.Check(request)
        failures = {f.property: f.reason for f in response.failures}
        return SimpleNamespace(inputs=wire.to_dict(response.inputs), failures=failures)

    def up(self, token, name, inputs):
        """Checks and creates; the result has id, inputs, outputs."""
        checked = self.check(token, name, inputs)
        assert not checked.failures, checked.failures
        response = self._stub.Create(
            pb.CreateRequest(**self._who(token, name), properties=_struct(checked.inputs))
        )
        _fits(token, wire.to_dict(response.properties))
        return SimpleNamespace(
            token=token,
            name=name,
            id=response.id,
            inputs=checked.inputs,
            outputs=wire.to_dict(response.properties),
        )

    def preview(self, token, name, inputs):
        checked = self.check(token, name, inputs)
        assert not checked.failures, checked.failures
        response = self._stub.Create(
            pb.CreateRequest(**self._who(token, name), properties=_struct(checked.inputs), preview=True)
        )
        assert response.id == ""
        return wire.to_dict(response.properties)

    def diff(self, made, **changes):
        news = self.check(made.token, made.name, {**_given(made), **changes}, made.inputs).inputs
        request = pb.DiffRequest(
            **self._who(made.token, made.name),
            id=made.id,
            olds=_struct(made.outputs),
            old_inputs=_struct(made.inputs),
            news=_struct(news),
        )
        return self._stub.Diff(request)

    def update(self, made, *, preview=False, **changes):
        news = self.check(made.token, made.name, {**_given(made), **changes}, made.inputs).inputs
        request = pb.UpdateRequest(
            **self._who(made.token, made.name),
            id=made.id,
            olds=_struct(made.outputs),
            old_inputs=_struct(made.inputs),
            news=_struct(news),
            preview=preview,
        )
        return wire.to_dict(self._stub.Update(request).properties)

    def read(self, made):
        request = pb.ReadRequest(
            **self._who(made.token, made.name),
            id=made.id,
            properties=_struct(made.outputs),
            inputs=_struct(made.inputs),
        )
        response = self._stub.Read(request)
        return SimpleNamespace(
            id=response.id, outputs=wire.to_dict(response.properties), inputs=wire.to_dict(response.inputs)
        )

    def delete(self, made):
        request = pb.DeleteRequest(
            **self._who(made.token, made.name),
            id=made.id,
            properties=_struct(made.outputs),
            old_inputs=_struct(made.inputs),
        )
        self._stub.Delete(request)

    def invoke(self, function, **args):
        response = self._stub.Invoke(pb.InvokeRequest(tok=function, args=_struct(args)))
        if response.failures:
            raise LookupError(response.failures[0].reason)
        return wire.to_dict(getattr(response, "return"))


def _fits(token, outputs):
    """The SDK can read every output that a simulated cloud makes up."""
    found = sdk_source.resource_type(without_version(token))
    if found is not None:
        checker = sdk_types._Checker(named=False)
        assert list(checker.properties("", outputs, found.outputs)) == []


def _given(made):
    """The program's own inputs again: what the provider made up is left out."""
    made_up = {*made.inputs.get("__defaults", [])}
    return {k: v for k, v in made.inputs.items() if not k.startswith("__") and k not in made_up}


@pytest.fixture
def running(tmp_path):
    with serve(tmp_path / "world.sqlite") as servers:
        yield servers


@pytest.fixture
def world(running):
    return running.world


@pytest.fixture
def client(running):
    """Makes a configured provider: client("aws", region="us-east-1")."""

    def make(package, stack="dev", **config):
        return Client(running.ports[package], package, stack, **config)

    return make


@pytest.fixture
def refusal():
    """The cloud's words: `with refusal("DependencyViolation"):`."""
    from contextlib import contextmanager

    @contextmanager
    def expect(*words):
        with pytest.raises(grpc.RpcError) as caught:
            yield
        for word in words:
            assert word in caught.value.details()

    return expect
