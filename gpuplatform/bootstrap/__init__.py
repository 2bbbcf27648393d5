"""What a first `pulumi up` needs on a stack's cloud: where its state is kept, and who may deploy it.

A program and a state of its own, apart from the stack: an identity that managed its own rights could widen
them, and the state's store cannot lie in itself.
"""

from __future__ import annotations

from gpuplatform.bootstrap.outcome import Outcome, Variable
from gpuplatform.bootstrap.run import bootstrap

__all__ = ["Outcome", "Variable", "bootstrap"]
