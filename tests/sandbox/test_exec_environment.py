from __future__ import annotations

import os
from pathlib import Path

import pytest

from gpuplatform.sandbox import environment
from gpuplatform.sandbox.workspace import Home


@pytest.fixture
def home(tmp_path):
    return Home(root=tmp_path / "sandbox")


def build(home, **environ):
    return environment.build(environ, home, Path("/opt/pulumi"), {"aws": 1, "azure-native": 2}, 3)


@pytest.mark.parametrize(
    "name",
    [
        *("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_ROLE_ARN"),
        *("AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ENDPOINT_URL", "AWS_CONTAINER_CREDENTIALS_FULL_URI"),
        *("AZURE_CLIENT_SECRET", "ARM_CLIENT_ID", "ARM_SUBSCRIPTION_ID", "ARM_USE_OIDC", "MSI_ENDPOINT"),
        *(
            "GOOGLE_APPLICATION_CREDENTIALS",
            "GOOGLE_CREDENTIALS",
            "GOOGLE_OAUTH_ACCESS_TOKEN",
            "GCLOUD_PROJECT",
        ),
        *("CLOUDSDK_CORE_ACCOUNT", "ACTIONS_ID_TOKEN_REQUEST_TOKEN", "VAULT_TOKEN", "KUBE_TOKEN"),
        *("PULUMI_ACCESS_TOKEN", "PULUMI_API", "PULUMI_CREDENTIALS_PATH", "PULUMI_CONFIG_PASSPHRASE_FILE"),
        *("PULUMI_OPTION_CONFIG_FILE", "PULUMI_OPTION_REMOTE", "PULUMI_CONFIG", "PULUMI_K8S_CLIENT_QPS"),
    ],
)
def test_what_opens_a_real_account_is_taken_out(home, name):
    assert name not in build(home, **{name: "real"})


@pytest.mark.parametrize(
    "name", ["HOME", "LANG", "VIRTUAL_ENV", "AWS_REGION", "PULUMI_STACK", "PULUMI_PARALLEL"]
)
def test_what_opens_no_account_stays(home, name):
    assert build(home, **{name: "mine"})[name] == "mine"


@pytest.mark.parametrize(
    "name", ["PULUMI_BACKEND_URL", "PULUMI_CONFIG_PASSPHRASE", "PULUMI_HOME", "KUBECONFIG"]
)
def test_the_users_own_value_never_wins_over_the_sandboxs(home, name):
    assert build(home, **{name: "real"})[name] not in ("real", "")


def test_no_real_value_is_left_anywhere(home):
    real = {f"{prefix}SOMETHING": "s3cret" for prefix in environment.REAL_PREFIXES}
    real |= dict.fromkeys(environment.REAL_NAMES, "s3cret")

    assert "s3cret" not in "".join(build(home, **real).values())


def test_the_clouds_own_tools_find_no_credential_files_either(home):
    home.create()
    inside = build(home)

    assert inside["AWS_SHARED_CREDENTIALS_FILE"] == inside["AWS_CONFIG_FILE"] == os.devnull
    assert inside["AWS_EC2_METADATA_DISABLED"] == "true"
    for name in ("AZURE_CONFIG_DIR", "CLOUDSDK_CONFIG"):
        assert list(Path(inside[name]).iterdir()) == []
    assert not Path(inside["KUBECONFIG"]).exists()


def test_the_engine_is_led_to_the_simulated_clouds_and_to_a_state_of_its_own(home):
    inside = build(home, PATH="/usr/bin")

    assert inside["PULUMI_DEBUG_PROVIDERS"] == "aws:1,azure-native:2"
    assert inside["PULUMI_DEBUG_LANGUAGES"] == "python:3"
    assert inside["PULUMI_BACKEND_URL"] == f"file://{home.root}/state?metadata=skip"
    assert inside["PULUMI_HOME"].startswith(str(home.root))
    assert inside["PATH"] == f"{home.bin}:/usr/bin"


@pytest.mark.parametrize("given", [{}, {"NO_PROXY": "corp.example"}, {"no_proxy": "corp.example"}])
def test_a_proxy_is_never_asked_for_this_machine(home, given):
    inside = build(home, HTTPS_PROXY="http://proxy:1", **given)

    assert inside["NO_PROXY"] == inside["no_proxy"]
    assert inside["NO_PROXY"].split(",")[-2:] == ["127.0.0.1", "localhost"]
    assert ("corp.example" in inside["NO_PROXY"]) == bool(given)
