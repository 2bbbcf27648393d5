"""`python -m gpuplatform`, where the console script is not on PATH."""

from __future__ import annotations

from gpuplatform.cli import main

main()
