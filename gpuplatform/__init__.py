"""GPU clusters on AKS, EKS and GKE as code.

Importing this package imports no cloud SDK: components live in `gpuplatform.aws`, `gpuplatform.azure`,
`gpuplatform.gcp` and `gpuplatform.kubernetes`, and each loads only its own.
"""

from __future__ import annotations

__version__ = "0.1.0"
