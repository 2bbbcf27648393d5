"""The security pack in the real engine: over a program without gpuplatform, and over samples."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from samples import ROOT

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("engine")]

PACK = ROOT / "policies" / "security"

PROGRAM = """
    import json

    import pulumi
    import pulumi_aws as aws

    bad = pulumi.Config().get_bool("bad")
    opts = pulumi.ResourceOptions(provider=aws.Provider("here", region="us-east-1"))
    host = "token.actions.githubusercontent.com"
    github = aws.iam.OpenIdConnectProvider(
        "github", url=f"https://{host}", client_id_lists=["sts.amazonaws.com"], opts=opts
    )

    def role(name, sub, operator="StringEquals"):
        def document(provider):
            condition = {"StringEquals": {f"{host}:aud": "sts.amazonaws.com"}}
            condition.setdefault(operator, {})[f"{host}:sub"] = sub
            statement = {
                "Effect": "Allow", "Principal": {"Federated": provider},
                "Action": "sts:AssumeRoleWithWebIdentity", "Condition": condition,
            }
            return json.dumps({"Version": "2012-10-17", "Statement": [statement]})

        aws.iam.Role(name, assume_role_policy=github.arn.apply(document), opts=opts)

    def known(name, sub):
        arn = f"arn:aws:iam::123456789012:oidc-provider/{host}"
        statement = {
            "Effect": "Allow", "Principal": {"Federated": arn},
            "Action": "sts:AssumeRoleWithWebIdentity",
            "Condition": {"StringLike": {f"{host}:sub": sub, f"{host}:aud": "sts.amazonaws.com"}},
        }
        document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        aws.iam.Role(name, assume_role_policy=document, opts=opts)

    known("exact", "repo:acme/shop:environment:prod")
    role("later-exact", "repo:acme/shop:environment:prod")
    if bad:
        known("organisation", "repo:acme/*")
        vpc = aws.ec2.Vpc("vpc", cidr_block="10.0.0.0/16", opts=opts)
        aws.ec2.SecurityGroup(
            "ssh", vpc_id=vpc.id, opts=opts,
            ingress=[{"protocol": "tcp", "from_port": 22, "to_port": 22, "cidr_blocks": ["0.0.0.0/0"]}],
        )
    if pulumi.Config().get_bool("later"):
        role("later-organisation", "repo:acme/*", operator="StringLike")
"""


@pytest.fixture
def pulumi(tmp_path):
    """Runs an operation with the pack over the program in the sandbox: exit code and words."""
    environ = {**os.environ, "GPUPLATFORM_HOME": str(tmp_path / "home"), "GPUPLATFORM_TODAY": "2026-11-30"}
    sandbox = [Path(sys.executable).parent / "gpuplatform", "sandbox"]

    def run(folder: Path, *command: str) -> tuple[int, str]:
        done = subprocess.run(
            [*sandbox, *command],
            cwd=folder,
            env=environ,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        return done.returncode, " ".join((done.stdout + done.stderr).split())

    def operate(*operation: str, pack=None, **config) -> tuple[int, str]:
        (tmp_path / "Pulumi.yaml").write_text("name: other\nruntime: python\n")
        values = {f"other:{key}": value for key, value in config.items()}
        (tmp_path / "Pulumi.prod.yaml").write_text(json.dumps({"config": values}))
        (tmp_path / "__main__.py").write_text(textwrap.dedent(PROGRAM))
        (tmp_path / "pack.json").write_text(json.dumps(pack or {}))
        flags = ["--stack", "prod", "--non-interactive", "--color", "never"]
        flags += ["--policy-pack", str(PACK), "--policy-pack-config", "pack.json"]
        return run(tmp_path, "exec", "--", "pulumi", *operation, *flags)

    operate.run = run
    return operate


def test_a_preview_of_somebody_elses_program_fails_for_what_is_known_to_be_wrong(pulumi):
    code, words = pulumi("preview", bad=True)
    assert code != 0
    assert "[oidc-subject] organisation: trusts repositories of acme that are not named" in words
    assert "[open-port] ssh: lets the whole internet in on port 22 (SSH)" in words
    assert "] exact:" not in words
    assert "[mandatory]" in words
    assert "can't run policy" not in words


def test_what_only_the_update_tells_is_a_note_in_the_preview_and_stops_the_role_in_the_update(pulumi):
    code, words = pulumi("preview", later=True)
    assert code == 0, words
    assert (
        "not evaluated: [oidc-subject] later-organisation: assumeRolePolicy is unknown until update" in words
    )
    code, words = pulumi("up", "--skip-preview", "--yes", later=True)
    assert code != 0
    assert "[oidc-subject] later-organisation: trusts repositories of acme that are not named" in words
    assert "] later-exact:" not in words


def test_a_configuration_that_cannot_be_read_stops_the_stack(pulumi):
    code, words = pulumi("preview", pack={"security": {"githubOwner": ["acme"]}})
    assert code != 0
    assert "did you mean 'githubOwners'?" in words


@pytest.mark.parametrize("stack", ["aws-dev", "azure-dev", "gcp-dev"])
def test_an_update_of_a_sample_stack_breaks_no_rule(pulumi, stack):
    code, words = pulumi.run(ROOT, "up", stack, "--policy-pack", str(PACK))
    assert code == 0, words
    assert "[mandatory]" not in words
