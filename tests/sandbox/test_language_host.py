# The methods' names and arguments are those of the engine's protocol.
# ruff: noqa: ARG002, N802

from __future__ import annotations

import subprocess
import sys
import threading
from concurrent import futures
from contextlib import contextmanager

import grpc
import pytest
from google.protobuf import empty_pb2
from pulumi.runtime.proto import (
    engine_pb2,
    engine_pb2_grpc,
    language_pb2,
    language_pb2_grpc,
    resource_pb2,
    resource_pb2_grpc,
)

from gpuplatform.sandbox import language_host

# gRPC in one process shares a connection between channels to one address, unless it is told not to.
OWN_CONNECTION = [("grpc.use_local_subchannel_pool", 1)]


@pytest.fixture
def host():
    running = language_host.serve()
    yield running
    running.stop()


@pytest.fixture
def stub(host):
    with grpc.insecure_channel(f"127.0.0.1:{host.port}") as channel:
        yield language_pb2_grpc.LanguageRuntimeStub(channel)


class Log(engine_pb2_grpc.EngineServicer, resource_pb2_grpc.ResourceMonitorServicer):
    """The parts of an engine that take what a program prints and registers."""

    def __init__(self) -> None:
        self.lines: list[tuple[int, str]] = []

    def Log(self, request, context):
        if request.severity != engine_pb2.DEBUG:
            self.lines.append((request.severity, request.message))
        return empty_pb2.Empty()

    def SupportsFeature(self, request, context):
        return resource_pb2.SupportsFeatureResponse(hasSupport=False)

    def RegisterResource(self, request, context):
        return resource_pb2.RegisterResourceResponse(urn=f"urn:pulumi:s::p::{request.type}::{request.name}")

    def RegisterResourceOutputs(self, request, context):
        return empty_pb2.Empty()

    def SignalAndWaitForShutdown(self, request, context):
        return empty_pb2.Empty()


@contextmanager
def small_engine():
    server = grpc.server(futures.ThreadPoolExecutor(4))
    log = Log()
    engine_pb2_grpc.add_EngineServicer_to_server(log, server)
    resource_pb2_grpc.add_ResourceMonitorServicer_to_server(log, server)
    log.address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    yield log
    server.stop(0).wait()


@pytest.fixture
def log(stub):
    with small_engine() as log:
        stub.Handshake(language_pb2.LanguageHandshakeRequest(engine_address=log.address))
        yield log


def plugin(tmp_path, source, kind="resource"):
    (tmp_path / "plugin.py").write_text(source)
    info = language_pb2.ProgramInfo(program_directory=str(tmp_path), entry_point="plugin.py")
    return language_pb2.RunPluginRequest(
        pwd=str(tmp_path), info=info, kind=kind, env=["MARK=x=y"], args=["one"]
    )


def run_plugin(stub, request):
    out, err, code = b"", b"", None
    for message in stub.RunPlugin(request):
        match message.WhichOneof("output"):
            case "stdout":
                out += message.stdout
            case "stderr":
                err += message.stderr
            case "exitcode":
                code = message.exitcode
    return out.decode(), err.decode(), code


def program(tmp_path, source, log):
    (tmp_path / "__main__.py").write_text(source)
    info = language_pb2.ProgramInfo(
        root_directory=str(tmp_path), program_directory=str(tmp_path), entry_point="."
    )
    return language_pb2.RunRequest(
        monitor_address=log.address, project="p", stack="s", pwd=str(tmp_path), info=info, config={"p:a": "1"}
    )


def test_a_plugin_gets_its_arguments_and_environment_and_its_output_is_streamed(stub, tmp_path):
    source = (
        "import os, sys; print(sys.argv[1:], os.environ['MARK']); print('oops', file=sys.stderr); sys.exit(7)"
    )

    out, err, code = run_plugin(stub, plugin(tmp_path, source))

    assert (out, err, code) == ("['one'] x=y\n", "oops\n", 7)


def test_more_output_than_a_pipe_holds_comes_through_whole(stub, tmp_path):
    out, _, code = run_plugin(stub, plugin(tmp_path, "print('x' * 3_000_000)"))

    assert (len(out), code) == (3_000_001, 0)


def test_a_cancelled_call_ends_the_plugin_and_all_that_it_started(stub, tmp_path, alive, wait_for):
    source = f"""
import os, subprocess
subprocess.Popen(["sleep", "60"])
open({str(tmp_path / "pid")!r}, "w").write(f"{{os.getpid()}}\\n")
import time; time.sleep(60)
"""
    call = stub.RunPlugin(plugin(tmp_path, source))
    threading.Thread(target=lambda: list(_quietly(call)), daemon=True).start()
    pid = int(wait_for(tmp_path / "pid"))

    call.cancel()

    assert alive(pid) == []


def _quietly(call):
    try:
        yield from call
    except grpc.RpcError:
        return


def test_stopping_the_host_ends_its_children(tmp_path, alive, wait_for):
    running = language_host.serve()
    request = plugin(
        tmp_path,
        f"import os,time; open({str(tmp_path / 'pid')!r},'w').write(f'{{os.getpid()}}\\n'); time.sleep(60)",
    )
    with grpc.insecure_channel(f"127.0.0.1:{running.port}") as channel:
        call = language_pb2_grpc.LanguageRuntimeStub(channel).RunPlugin(request)
        threading.Thread(target=lambda: list(_quietly(call)), daemon=True).start()
        pid = int(wait_for(tmp_path / "pid"))

        running.stop()

    assert alive(pid) == []


HOST_OF_ITS_OWN = """
import sys
from gpuplatform.sandbox import language_host
running = language_host.serve()
print(running.port, flush=True)
sys.stdin.read()
"""


def test_a_killed_host_leaves_no_child_behind(tmp_path, alive, wait_for):
    process = subprocess.Popen(
        [sys.executable, "-c", HOST_OF_ITS_OWN], stdout=subprocess.PIPE, stdin=subprocess.PIPE
    )
    port = int(process.stdout.readline())
    request = plugin(
        tmp_path,
        f"import os,time; open({str(tmp_path / 'pid')!r},'w').write(f'{{os.getpid()}}\\n'); time.sleep(60)",
    )
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        call = language_pb2_grpc.LanguageRuntimeStub(channel).RunPlugin(request)
        threading.Thread(target=lambda: list(_quietly(call)), daemon=True).start()
        pid = int(wait_for(tmp_path / "pid"))

        process.kill()
        process.communicate()

    assert alive(pid) == []


def test_what_a_program_prints_reaches_the_engine_as_information(stub, log, tmp_path):
    source = (
        "import sys; print('one\\ntwo'); print('three', file=sys.stderr); print('four', end=''); sys.exit(0)"
    )

    response = stub.Run(program(tmp_path, source, log))

    text = "\n".join(message for _, message in log.lines)
    assert sorted(text.split()) == ["four", "one", "three", "two"]
    assert {severity for severity, _ in log.lines} == {engine_pb2.INFO}
    assert (response.error, response.bail) == ("", False)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("import pulumi; raise pulumi.RunError('the size is wrong')", "the size is wrong"),
        (
            "from gpuplatform.errors import Refusal as R; raise R('no such key', where='f', way_out='w')",
            "f: no such key\n  way out: w",
        ),
    ],
)
def test_an_expected_error_is_told_in_its_own_words_without_a_traceback(stub, log, tmp_path, source, said):
    response = stub.Run(program(tmp_path, source, log))

    assert [message for severity, message in log.lines if severity == engine_pb2.ERROR] == [said]
    assert "Traceback" not in str(log.lines)
    assert (response.error, response.bail) == ("", True)


def test_a_bug_in_a_program_is_told_with_its_traceback(stub, log, tmp_path):
    response = stub.Run(program(tmp_path, "def f():\n    return 1 / 0\nf()\n", log))

    [error] = [message for severity, message in log.lines if severity == engine_pb2.ERROR]
    assert "ZeroDivisionError" in error
    assert "in f" in error
    assert response.bail


@pytest.mark.parametrize(
    ("source", "ended"),
    [("import sys; sys.exit(3)", "exited with code 3"), ("import os; os.kill(os.getpid(), 9)", "SIGKILL")],
)
def test_a_program_that_ends_without_a_word_is_an_error_that_says_how(stub, log, tmp_path, source, ended):
    response = stub.Run(program(tmp_path, source, log))

    assert ended in response.error
    assert not response.bail


def test_a_program_reads_its_configuration(stub, log, tmp_path):
    source = "import pulumi, sys; sys.exit(40 + int(pulumi.Config('p').require('a')))"

    assert "exited with code 41" in stub.Run(program(tmp_path, source, log)).error


def test_a_program_finds_its_own_modules_but_not_those_of_the_working_folder(stub, log, tmp_path):
    folder = tmp_path / "stacks"
    folder.mkdir()
    (folder / "mine.py").write_text("value = 5")
    (tmp_path / "stray.py").write_text("raise SystemExit('imported from the working folder')")
    request = program(
        folder,
        "import importlib.util, mine, sys\n"
        "found = importlib.util.find_spec('stray')\n"
        "sys.exit(40 + mine.value if not found else 1)",
        log,
    )
    request.pwd = str(tmp_path)

    assert "exited with code 45" in stub.Run(request).error


def test_two_engines_at_once_are_told_about_their_own_programs_only(host, stub, log, tmp_path):
    with small_engine() as other, grpc.insecure_channel(f"127.0.0.1:{host.port}", OWN_CONNECTION) as channel:
        second = language_pb2_grpc.LanguageRuntimeStub(channel)
        second.Handshake(language_pb2.LanguageHandshakeRequest(engine_address=other.address))
        stub.Run(program(tmp_path, "print('first'); raise SystemExit(0)", log))
        second.Run(program(tmp_path, "print('second'); raise SystemExit(0)", other))

    assert [message for _, message in log.lines] == ["first"]
    assert [message for _, message in other.lines] == ["second"]


def test_one_engine_that_cancels_does_not_end_the_programs_of_another(host, stub, log, tmp_path, wait_for):
    done = futures.ThreadPoolExecutor(1).submit(
        stub.Run,
        program(
            tmp_path,
            f"import time; open({str(tmp_path / 'on')!r}, 'w').write('x\\n')\n"
            "time.sleep(2); raise SystemExit(9)",
            log,
        ),
    )
    wait_for(tmp_path / "on")

    with grpc.insecure_channel(f"127.0.0.1:{host.port}", OWN_CONNECTION) as channel:
        language_pb2_grpc.LanguageRuntimeStub(channel).Cancel(empty_pb2.Empty())

    assert "exited with code 9" in done.result(30).error


def test_the_engine_is_told_that_nothing_has_to_be_installed(stub):
    assert not stub.GetRequiredPackages(language_pb2.GetRequiredPackagesRequest()).packages
    assert stub.About(language_pb2.AboutRequest()).executable == sys.executable


def test_a_program_in_a_terminal_is_not_in_the_group_that_gets_ctrl_c(stub, log, tmp_path):
    stub.Run(program(tmp_path, "import os; print(os.getpgrp() == os.getpid()); raise SystemExit(0)", log))

    assert [message for _, message in log.lines] == ["True"]
