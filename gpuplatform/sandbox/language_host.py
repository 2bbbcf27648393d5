"""A Python language host for the engine: it runs programs and policy packs with this same interpreter.

The engine attaches to it through PULUMI_DEBUG_LANGUAGES=python:PORT, one of its debugging hooks, so the
sandbox needs no `pulumi-language-python` and behaves the same whichever way the engine came.

Each program and each pack runs in a child process (`program`), in a process group of its own: a Ctrl-C
in the terminal goes to the engine, and the engine's cancellation of the call ends the child. The child also
ends when this process dies, since its standard input closes then.
"""

# The methods' names and arguments are those of the engine's protocol.
# ruff: noqa: ARG002, D102, N802

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from concurrent import futures
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import (
    engine_pb2,
    engine_pb2_grpc,
    language_pb2,
    language_pb2_grpc,
    plugin_pb2,
)

from gpuplatform.sandbox.program import LOGGED

__all__ = ["LanguageHost", "Running", "serve"]

MESSAGE_LIMIT = 400 << 20
"""Bytes; the engine's own limit (sdk/go/common/util/rpcutil/serve.go), where gRPC's default is 4 MiB."""


@dataclass(frozen=True, slots=True)
class Running:
    """A language host that answers on 127.0.0.1."""

    port: int
    host: LanguageHost
    server: grpc.Server = field(repr=False)

    def stop(self) -> None:
        """Ends the children, then the server."""
        self.host.end_children()
        self.server.stop(0).wait()


def serve() -> Running:
    """Starts a language host on a free port of 127.0.0.1."""
    server = grpc.server(
        futures.ThreadPoolExecutor(max_workers=16, thread_name_prefix="language-host"),
        options=[
            ("grpc.max_receive_message_length", MESSAGE_LIMIT),
            ("grpc.max_send_message_length", MESSAGE_LIMIT),
        ],
    )
    host = LanguageHost()
    language_pb2_grpc.add_LanguageRuntimeServicer_to_server(host, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    return Running(port=port, host=host, server=server)


class LanguageHost(language_pb2_grpc.LanguageRuntimeServicer):
    """The calls that an engine makes while it previews, updates, refreshes and destroys.

    Left out on purpose, so the engine gets UNIMPLEMENTED for them: code generation, packing, linking and
    templates. They belong to `pulumi new`, `convert` and `package`, which need no sandbox.
    """

    def __init__(self) -> None:
        self._engines: dict[str, str] = {}
        self._children: dict[subprocess.Popen[bytes], str] = {}
        self._lock = threading.Lock()

    def Handshake(self, request: Any, context: Any) -> Any:
        # Each operation is an engine of its own with its own address, and two may run at once. All the calls
        # of one engine come over one connection, so that tells them apart: a stale or foreign address would
        # turn an ordinary failure into a connection error.
        self._engines[context.peer()] = request.engine_address
        return language_pb2.LanguageHandshakeResponse()

    def GetPluginInfo(self, request: Any, context: Any) -> Any:
        return plugin_pb2.PluginInfo(version="1.0.0")

    def GetRequiredPackages(self, request: Any, context: Any) -> Any:
        # None: the engine would look for plugins on disk, and ours are attached already.
        return language_pb2.GetRequiredPackagesResponse()

    def GetRequiredPlugins(self, request: Any, context: Any) -> Any:
        return language_pb2.GetRequiredPluginsResponse()

    def RuntimeOptionsPrompts(self, request: Any, context: Any) -> Any:
        return language_pb2.RuntimeOptionsResponse()

    def About(self, request: Any, context: Any) -> Any:
        return language_pb2.AboutResponse(executable=sys.executable, version=sys.version.split()[0])

    def GetProgramDependencies(self, request: Any, context: Any) -> Any:
        return language_pb2.GetProgramDependenciesResponse()

    def InstallDependencies(self, request: Any, context: Any) -> Iterator[Any]:
        # Programs run in the environment that gpuplatform is installed in: there is nothing to install.
        yield language_pb2.InstallDependenciesResponse(
            stdout=f"the sandbox runs programs with {sys.executable}; nothing to install\n".encode()
        )

    def Cancel(self, request: Any, context: Any) -> Any:
        self.end_children(context.peer())
        return empty_pb2.Empty()

    def Run(self, request: Any, context: Any) -> Any:
        """Runs a Pulumi program to its end."""
        entry = request.info.entry_point
        folder = Path(request.info.program_directory or request.pwd)
        program = folder if entry in ("", ".") else folder / entry
        engine = self._engines[context.peer()]
        settings = {
            "project": request.project,
            "stack": request.stack,
            "organization": request.organization,
            "root_directory": request.info.root_directory,
            "dry_run": request.dryRun,
            "parallel": request.parallel,
            "monitor": request.monitor_address,
            "engine": engine,
        }
        task = {
            "settings": settings,
            "config": dict(request.config),
            "secret_keys": list(request.configSecretKeys),
            "program": str(program),
            "args": list(request.args),
        }
        child = self._start(["program"], Path(request.pwd or folder), {}, context)
        _say(child, json.dumps(task))
        forward = [
            threading.Thread(target=self._forward, args=(stream, engine), daemon=True)
            for stream in (child.stdout, child.stderr)
        ]
        for thread in forward:
            thread.start()
        code = child.wait()
        for thread in forward:
            thread.join()
        self._forget(child)
        if code == 0:
            return language_pb2.RunResponse()
        if code == LOGGED:
            return language_pb2.RunResponse(bail=True)
        ended = f"was ended by {_signal_name(-code)}" if code < 0 else f"exited with code {code}"
        return language_pb2.RunResponse(error=f"{program} {ended}")

    def RunPlugin(self, request: Any, context: Any) -> Iterator[Any]:
        """Runs a policy pack (kind `analyzer`) or another Python plugin, and streams what it prints."""
        entry = request.info.entry_point
        folder = Path(request.info.program_directory)
        program = folder if entry in ("", ".") else folder / entry
        environ = dict(variable.split("=", 1) for variable in request.env)
        kind = "policy" if request.kind == "analyzer" else "plugin"
        child = self._start([kind, str(program), *request.args], Path(request.pwd), environ, context)
        output: queue.Queue[tuple[str, bytes]] = queue.Queue()
        for name, stream in (("stdout", child.stdout), ("stderr", child.stderr)):
            threading.Thread(target=_pump, args=(name, stream, output), daemon=True).start()
        open_streams = 2
        while open_streams:
            name, data = output.get()
            if data:
                yield _output(name, data)
            else:
                open_streams -= 1
        code = child.wait()
        self._forget(child)
        yield language_pb2.RunPluginResponse(exitcode=code)

    def end_children(self, peer: str | None = None) -> None:
        """Kills the programs and packs that still run, with all that they started; one engine's, or all."""
        with self._lock:
            children = [child for child, owner in self._children.items() if peer in (None, owner)]
        for child in children:
            _kill(child)

    def _start(
        self, argv: list[str], cwd: Path, environ: Mapping[str, str], context: Any
    ) -> subprocess.Popen[bytes]:
        child = subprocess.Popen(  # noqa: S603 - this interpreter, our own module
            # -P: the working folder is no place to import from, unless the program itself lies there.
            [sys.executable, "-u", "-P", "-m", "gpuplatform.sandbox.program", *argv],
            cwd=cwd,
            env={**os.environ, **environ},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            process_group=0,
        )
        with self._lock:
            self._children[child] = context.peer()
        if not context.add_callback(lambda: _kill(child)):  # the call was cancelled while we started
            _kill(child)
        return child

    def _forget(self, child: subprocess.Popen[bytes]) -> None:
        with self._lock:
            self._children.pop(child, None)
        if child.stdin:
            child.stdin.close()

    def _forward(self, stream: IO[bytes], engine: str) -> None:
        """Hands a program's lines to the engine, which shows them among its diagnostics and logs them.

        Both streams go as information: a warning on stderr is no failure of the program.
        """
        with grpc.insecure_channel(engine) as channel:
            stub = engine_pb2_grpc.EngineStub(channel)
            rest = b""
            while chunk := os.read(stream.fileno(), 1 << 16):
                whole, newline, rest = (rest + chunk).rpartition(b"\n")
                if newline:
                    _log(stub, whole)
            if rest:
                _log(stub, rest)
        stream.close()


def _log(stub: Any, text: bytes) -> None:
    request = engine_pb2.LogRequest(severity=engine_pb2.INFO, message=text.decode("utf-8", "replace"))
    try:
        stub.Log(request)
    except grpc.RpcError:
        # The engine is gone (cancelled); the words still reach the person.
        sys.stderr.buffer.write(text + b"\n")


def _say(child: subprocess.Popen[bytes], line: str) -> None:
    """Writes the task as the first line of the child's standard input, which then stays open."""
    if child.stdin is None:
        raise RuntimeError("the child was started without a standard input")
    try:
        child.stdin.write(line.encode() + b"\n")
        child.stdin.flush()
    except BrokenPipeError:
        return  # it died at once; its exit code tells


def _output(name: str, data: bytes) -> Any:
    if name == "stdout":
        return language_pb2.RunPluginResponse(stdout=data)
    return language_pb2.RunPluginResponse(stderr=data)


def _pump(name: str, stream: IO[bytes], output: queue.Queue[tuple[str, bytes]]) -> None:
    while data := os.read(stream.fileno(), 1 << 16):
        output.put((name, data))
    output.put((name, b""))
    stream.close()


def _kill(child: subprocess.Popen[bytes]) -> None:
    if child.poll() is None:
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            return


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
