"""The official release of the engine, checked against the checksums published with it.

File names as in Pulumi's own install script and its release assets (https://get.pulumi.com):
`pulumi-vVERSION-OS-ARCH.tar.gz` and `pulumi-VERSION-checksums.txt` (no v), which is in sha256sum's format.
"""

from __future__ import annotations

import hashlib
import platform
import queue
import shutil
import tarfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path

from gpuplatform.errors import EngineError

__all__ = ["OFFICIAL", "download"]

OFFICIAL = "https://get.pulumi.com/releases/sdk"

ANSWER_SECONDS = 8.0
"""A machine without internet learns it within this time: a name server that swallows the question would
otherwise hold us for as long as the system's resolver likes, whatever the socket's own time-out is."""

STALL_SECONDS = 30.0

SYSTEMS = {"Linux": "linux", "Darwin": "darwin"}
MACHINES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}


def download(version: str, folder: Path, report: Callable[[str], None], environ: Mapping[str, str]) -> Path:
    """Downloads the release into `folder` and returns the path of `pulumi` in it.

    GPUPLATFORM_ENGINE_MIRROR replaces the address, for a mirror that keeps the same file names.

    Raises:
        EngineError: No release for this machine, no connection, or the checksum differs.
    """
    system, machine = SYSTEMS.get(platform.system()), MACHINES.get(platform.machine().lower())
    if not system or not machine:
        raise EngineError(f"no official release for {platform.system()} on {platform.machine()}")
    base = environ.get("GPUPLATFORM_ENGINE_MIRROR", OFFICIAL).rstrip("/")
    name = f"pulumi-v{version}-{system}-{machine}.tar.gz"
    expected = _checksum(_checksums(f"{base}/pulumi-{version}-checksums.txt"), name)
    archive = folder / name
    report(f"engine: downloading {base}/{name}")
    digest = _fetch(f"{base}/{name}", archive, report)
    if digest != expected:
        raise EngineError(f"{name} has the SHA-256 {digest}, but {expected} was published: not used")
    return _extract(archive, folder)


def _checksums(url: str) -> str:
    answer: queue.Queue[str | EngineError] = queue.Queue()

    def ask() -> None:
        try:
            with _open(url, ANSWER_SECONDS) as response:
                answer.put(response.read(1 << 20).decode("utf-8", "replace"))
        except EngineError as error:
            answer.put(error)

    threading.Thread(target=ask, daemon=True).start()
    try:
        text = answer.get(timeout=ANSWER_SECONDS)
    except queue.Empty:
        raise EngineError(f"no answer from {url} within {ANSWER_SECONDS:.0f} s") from None
    if isinstance(text, EngineError):
        raise text
    return text


def _checksum(text: str, name: str) -> str:
    for line in text.splitlines():
        match line.split():
            case [digest, file] if file.lstrip("*") == name:
                return digest.lower()
    raise EngineError(f"the published checksums have no line for {name}")


def _fetch(url: str, target: Path, report: Callable[[str], None]) -> str:
    digest = hashlib.sha256()
    done, told = 0, time.monotonic()
    with _open(url, STALL_SECONDS) as response, target.open("wb") as file:
        total = int(response.headers.get("Content-Length") or 0)
        try:
            while chunk := response.read(1 << 20):
                digest.update(chunk)
                file.write(chunk)
                done += len(chunk)
                if time.monotonic() - told > 5:  # noqa: PLR2004 - seconds between two lines
                    told = time.monotonic()
                    report(f"engine: {done >> 20} MiB" + (f" of {total >> 20} MiB" if total else ""))
        except OSError as error:
            raise EngineError(f"{url} stopped after {done >> 20} MiB: {error}") from error
    if total and done != total:
        raise EngineError(f"{url} stopped after {done} of {total} bytes")
    return digest.hexdigest()


def _open(url: str, timeout: float) -> urllib.request._UrlopenRet:
    if not url.startswith(("https://", "http://")):
        raise EngineError(f"{url} is no web address: GPUPLATFORM_ENGINE_MIRROR takes https://HOST/PATH")
    try:
        return urllib.request.urlopen(url, timeout=timeout)  # noqa: S310 - checked above
    except urllib.error.HTTPError as error:
        raise EngineError(f"{url} answers {error.code} {error.reason}") from error
    except (OSError, ValueError) as error:
        raise EngineError(f"{url} cannot be reached: {getattr(error, 'reason', error)}") from error


def _extract(archive: Path, folder: Path) -> Path:
    """Takes the one file that is needed: the release also carries language hosts, and we attach our own."""
    target = folder / "pulumi"
    try:
        with tarfile.open(archive) as tar, target.open("wb") as file:
            source = tar.extractfile("pulumi/pulumi")
            if source is None:
                raise EngineError(f"{archive.name} has no file pulumi/pulumi")
            shutil.copyfileobj(source, file)
    except (KeyError, tarfile.TarError, OSError, EOFError) as error:
        raise EngineError(f"{archive.name} does not hold pulumi/pulumi: {error}") from error
    target.chmod(0o755)
    return target
