"""Where Pulumi keeps an environment's state, on every cloud."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pulumi

from gpuplatform.component import Component
from gpuplatform.tags import Tags

__all__ = ["StateStoreArgs", "StateStoreComponent"]


@dataclass(frozen=True, kw_only=True)
class StateStoreArgs:
    """What a state store is made of, on every cloud.

    Attributes:
        name: Prefix of every physical name, such as `vision-prod`.
        region: The cloud's own name of the region.
        tags: Tags of every resource that takes some.
    """

    name: str
    region: str
    tags: Tags


class StateStoreComponent(Component):
    """A bucket for Pulumi's state and a key for its secrets; both are always protected.

    Outputs:
        backend_url: What `backend: {url: ...}` in Pulumi.yaml or `pulumi login` takes.
        secrets_provider: What `secretsprovider:` in a stack's file takes.
    """

    backend_url: pulumi.Output[str]
    secrets_provider: pulumi.Output[str]

    def finish_state(
        self, *, backend_url: pulumi.Output[str], secrets_provider: pulumi.Output[str], **outputs: Any
    ) -> None:
        """Sets the outputs and registers them, with what else the cloud's store gives."""
        self.backend_url = backend_url
        self.secrets_provider = secrets_provider
        self.finish(backend_url=backend_url, secrets_provider=secrets_provider, **outputs)
