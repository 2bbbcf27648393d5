"""What a command costs beside importing the SDKs that it stands on."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from measure import Ratio, command, paired

GPUPLATFORM = [sys.executable, "-m", "gpuplatform"]
IMPORT_AWS = [sys.executable, "-c", "import pulumi_aws"]
LARGEST = "aws-prod"
"""The sample stack with the most resources."""

# The SDK loads a module when a name in it is first touched, so importing it alone proves nothing.
RESOURCES = """
import pulumi, pulumi_aws as aws, pulumi_kubernetes as kubernetes
aws.autoscaling.Tag, aws.cloudwatch.LogGroup, aws.ec2.Vpc, aws.eks.Cluster, aws.iam.Role, aws.kms.Key
kubernetes.Provider, kubernetes.helm.v3.Release, kubernetes.core.v1.Namespace
"""


def help_against_sdk() -> Iterator[Ratio]:
    """`--help` against `import pulumi_aws`."""
    yield paired(
        "gpuplatform --help / import pulumi_aws",
        command([*GPUPLATFORM, "--help"]),
        command(IMPORT_AWS),
        goal=0.5,
    )


def skus_against_sdk() -> Iterator[Ratio]:
    """`sku list` against `import pulumi_aws`."""
    yield paired(
        "gpuplatform sku list / import pulumi_aws",
        command([*GPUPLATFORM, "sku", "list"]),
        command(IMPORT_AWS),
        goal=0.5,
    )


def plan_against_sdk() -> Iterator[Ratio]:
    """`plan` of the largest sample against importing the SDK's classes of its resources."""
    yield paired(
        f"gpuplatform plan {LARGEST} / importing the SDK's classes of its resources",
        command([*GPUPLATFORM, "plan", LARGEST]),
        command([sys.executable, "-c", RESOURCES]),
        goal=1.5,
    )
