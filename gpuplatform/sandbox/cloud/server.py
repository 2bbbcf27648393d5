"""Starts the gRPC servers."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from concurrent import futures
from pathlib import Path

import grpc
from pulumi.runtime.proto import provider_pb2_grpc

from gpuplatform.errors import SandboxError
from gpuplatform.sandbox.cloud import CLOUDS, Running
from gpuplatform.sandbox.cloud.faults import Faults
from gpuplatform.sandbox.cloud.provider import Provider
from gpuplatform.sandbox.cloud.rule import Cloud
from gpuplatform.sandbox.cloud.world import World

__all__ = ["start"]

_MODULES = {"aws": "aws", "azure-native": "azure", "gcp": "gcp", "kubernetes": "kubernetes"}
_THREADS = 16
# The engine's own limit for one message (sdk/go/common/util/rpcutil, GrpcChannelOptions): 400 MB.
_OPTIONS = [("grpc.max_receive_message_length", 400 << 20), ("grpc.max_send_message_length", 400 << 20)]


def start(db: Path, clouds: Sequence[str]) -> Running:
    """See `gpuplatform.sandbox.cloud.serve`."""
    unknown = sorted(set(clouds) - set(CLOUDS))
    if unknown:
        raise SandboxError(
            f"no such simulated cloud: {', '.join(unknown)}", rule=f"one of {', '.join(CLOUDS)}"
        )
    world = World(db)
    faults = Faults(world)
    servers: list[grpc.Server] = []
    ports = {}
    for name in clouds:
        server = grpc.server(futures.ThreadPoolExecutor(_THREADS, thread_name_prefix=name), options=_OPTIONS)
        provider_pb2_grpc.add_ResourceProviderServicer_to_server(
            Provider(_cloud(name), world, faults), server
        )
        ports[name] = server.add_insecure_port("127.0.0.1:0")
        server.start()
        servers.append(server)

    def stop() -> None:
        for stopping in [server.stop(grace=1) for server in servers]:
            stopping.wait()
        world.close()

    return Running(ports=ports, world=world, faults=faults, stop=stop)


def _cloud(name: str) -> Cloud:
    module = importlib.import_module(f"gpuplatform.sandbox.cloud.{_MODULES[name]}")
    cloud: Cloud = module.CLOUD
    return cloud
