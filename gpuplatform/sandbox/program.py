"""The child process of the language host: `python -m gpuplatform.sandbox.program KIND ...`.

    program                       a Pulumi program; its task is one line of JSON on standard input
    policy PACK ENGINE [ARG...]   a CrossGuard pack
    plugin PROGRAM [ARG...]       any other plugin written in Python

Standard input stays open as long as the parent lives. When it closes, the parent is dead, and so is whoever
would have used our result: the process ends at once, so that none is left over.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import runpy
import sys
import threading
import traceback
from typing import Any

from gpuplatform.errors import GpuPlatformError

__all__ = ["LOGGED", "main"]

LOGGED = 32
"""Exit code: it failed, and the engine has already been told why. Pulumi's own hosts use the same number."""


def main(argv: list[str]) -> int:
    """Runs what `argv` asks for; the exit code says how it ended."""
    kind, *args = argv
    if kind == "program":
        # By hand, not through sys.stdin: its buffer's lock would be held by the watching thread at exit.
        task = json.loads(_read_line(0))
        _end_with_parent()
        return _run_program(task)
    _end_with_parent()
    program, *args = args
    if kind == "policy":
        # The module takes its arguments from sys.argv: flags, the engine's address, the pack.
        sys.argv = ["pulumi.policy", *args, program]
        runpy.run_module("pulumi.policy", run_name="__main__", alter_sys=True)
    else:
        sys.argv = [program, *args]
        runpy.run_path(program, run_name="__main__")
    return 0


def _run_program(task: dict[str, Any]) -> int:
    import pulumi
    from pulumi import runtime

    runtime.set_all_config(task["config"], task["secret_keys"])
    runtime.configure(runtime.Settings(**task["settings"]))
    program = task["program"]
    sys.argv = [program, *task["args"]]
    # Its warnings are about Pulumi's way of using the event loop, not about the program.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        loop.run_until_complete(runtime.run_in_stack(lambda: _run_path(program)))
    except (GpuPlatformError, pulumi.RunError) as error:
        pulumi.log.error(str(error))
        return LOGGED
    except Exception:  # noqa: BLE001 - a bug in somebody's program: it gets its traceback
        pulumi.log.error("the program failed:\n" + traceback.format_exc())
        return LOGGED
    return 0


def _run_path(program: str) -> None:
    runpy.run_path(program, run_name="__main__")


def _read_line(descriptor: int) -> bytes:
    data = bytearray()
    while not data.endswith(b"\n") and (chunk := os.read(descriptor, 1 << 16)):
        data += chunk
    return bytes(data)


def _end_with_parent() -> None:
    def watch() -> None:
        while os.read(0, 1 << 10):
            pass
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    sys.exit(code)
