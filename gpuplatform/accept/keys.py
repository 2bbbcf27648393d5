"""An ssh key pair for one run."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from gpuplatform.accept.job import Keys
from gpuplatform.errors import ClusterError

__all__ = ["new_keys"]


def new_keys() -> Keys:
    """A fresh pair; nothing of it stays on this machine.

    Raises:
        ClusterError: OpenSSH's ssh-keygen is not installed or fails.
    """
    program = shutil.which("ssh-keygen")
    if program is None:
        raise ClusterError("ssh-keygen is not installed", way_out="install OpenSSH's client")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "id"
        done = subprocess.run(  # noqa: S603 - no shell, no input of the user's
            [program, "-q", "-t", "ed25519", "-N", "", "-C", "gpuplatform-accept", "-f", str(file)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        if done.returncode:
            raise ClusterError(f"ssh-keygen failed: {done.stderr.strip() or done.returncode}")
        return Keys(private=file.read_text(), public=file.with_suffix(".pub").read_text())
