"""Every environment is this program; what differs is `gpuplatform:platform` in the stack's file."""

from __future__ import annotations

from gpuplatform.platform.run import run

run()
