"""What only Google Cloud knows of a project: its number, and the account by which Cloud Storage acts."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import pulumi

from gpuplatform.component import Component

__all__ = ["project_number", "storage_agent"]


def project_number(owner: Component, project: str) -> pulumi.Output[str]:
    """The project's number: what IAM's principals and Cloud Billing name it by, never its ID.

    Asking needs the API `cloudresourcemanager` in the project.
    """
    answer = _ask(owner, "gcp:organizations/getProject:getProject", projectId=project)
    return answer.apply(lambda known: str(known["number"]))


def storage_agent(owner: Component, project: str) -> pulumi.Output[str]:
    """Cloud Storage's service agent, as an IAM member: whom a bucket's own key is granted to.

    Asked for and not put together from the project's number: a project has none before somebody asks
    (https://cloud.google.com/storage/docs/getting-service-agent).
    """
    answer = _ask(owner, "gcp:storage/getProjectServiceAccount:getProjectServiceAccount", project=project)
    return answer.apply(lambda known: f"serviceAccount:{known['emailAddress']}")


def _ask(owner: Component, function: str, **inputs: Any) -> pulumi.Output[dict[str, Any]]:
    """A function of the provider by its token: the SDK's module of `storage` is among the large ones."""
    answer: pulumi.Output[dict[str, Any]] = pulumi.runtime.invoke_output(
        function, inputs, pulumi.InvokeOptions(parent=owner, version=version("pulumi-gcp"))
    )
    return answer
