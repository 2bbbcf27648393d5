"""A sandbox preview of our program, against a bare program that registers the very same resources."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from measure import ROOT, Ratio, command, paired

from gpuplatform import catalog, clock
from gpuplatform.config import find_project, from_file
from gpuplatform.plan.recorder import record
from gpuplatform.platform import decide
from gpuplatform.platform.build import build

STACK = "aws-prod"

BARE = '''"""As somebody would write it by hand: with the SDK's classes."""
import json, pathlib
import pulumi
import pulumi_aws as aws
from pulumi_kubernetes.helm.v3 import Release

aws.autoscaling.Tag, aws.cloudwatch.LogGroup, aws.ec2.Vpc, aws.eks.Cluster, aws.iam.Role, aws.kms.Key

made = {}
for row in json.loads((pathlib.Path(__file__).parent / "resources.json").read_text()):
    opts = pulumi.ResourceOptions(
        parent=made.get(row["parent"]),
        provider=made.get(row["provider"]),
        depends_on=[made[urn] for urn in row["dependencies"] if urn in made],
    )
    if row["type"].startswith("pulumi:providers:"):
        name = row["type"].rsplit(":", 1)[1]
        made[row["urn"]] = pulumi.ProviderResource(name, row["name"], row["inputs"], opts)
    elif row["custom"]:
        made[row["urn"]] = pulumi.CustomResource(row["type"], row["name"], row["inputs"], opts)
    else:
        made[row["urn"]] = pulumi.ComponentResource(row["type"], row["name"], None, opts)
'''


def preview_against_bare_program() -> Iterator[Ratio]:
    """Both over the same engine, the same simulated clouds, the same number of resources."""
    with tempfile.TemporaryDirectory() as folder:
        bare = Path(folder) / "bare"
        _write_bare(bare)
        yield paired(
            f"sandbox preview of {STACK} / of a bare program with its resources",
            command(_preview(STACK)),
            command(_preview(STACK), cwd=bare),
            goal=1.1,
            runs=3,
        )


def _preview(stack: str) -> list[str]:
    return [
        sys.executable,
        "-m",
        "gpuplatform",
        "sandbox",
        "exec",
        "--",
        "pulumi",
        "preview",
        "--stack",
        stack,
    ]


def _write_bare(folder: Path) -> None:
    decision = decide(from_file(find_project(ROOT), STACK), catalog.load(), clock.today())
    rows = [
        {
            "type": resource.type,
            "name": resource.name,
            "urn": resource.urn,
            "custom": resource.custom,
            "inputs": resource.inputs,
            "parent": resource.parent,
            "provider": resource.provider,
            "dependencies": resource.dependencies,
        }
        for resource in record(lambda: build(decision), stack=STACK).resources
    ]
    (folder / "stacks").mkdir(parents=True)
    shutil.copy(ROOT / "Pulumi.yaml", folder / "Pulumi.yaml")
    (folder / "stacks/__main__.py").write_text(BARE)
    (folder / "stacks/resources.json").write_text(json.dumps(rows))
    (folder / "stacks/config").mkdir()
    shutil.copy(ROOT / f"stacks/config/Pulumi.{STACK}.yaml", folder / f"stacks/config/Pulumi.{STACK}.yaml")
