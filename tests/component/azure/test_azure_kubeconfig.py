"""The kubeconfig: AKS's server and authority, kubelogin's token, no credential."""

from __future__ import annotations

import base64
import json

import pytest
from azure_samples import CA, aks_kubeconfig

from gpuplatform.azure.identity import subscription_of
from gpuplatform.azure.kubeconfig import AKS_SERVER_ID, kubeconfig
from gpuplatform.errors import GpuPlatformError


def test_it_names_the_server_and_the_authority_that_aks_named():
    config = json.loads(kubeconfig(name="vision-prod", credentials=aks_kubeconfig("https://api.example:443")))
    (cluster,) = config["clusters"]
    assert cluster["cluster"] == {"server": "https://api.example:443", "certificate-authority-data": CA}
    assert config["current-context"] == "vision-prod"
    assert config["contexts"][0]["context"] == {"cluster": "vision-prod", "user": "vision-prod"}


def test_the_token_comes_from_a_login_that_a_pipeline_can_answer():
    (user,) = json.loads(kubeconfig(name="vision-prod", credentials=aks_kubeconfig()))["users"]
    plugin = user["user"]["exec"]
    assert plugin["command"] == "kubelogin"
    assert plugin["args"] == ["get-token", "--login", "azurecli", "--server-id", AKS_SERVER_ID]
    assert "devicecode" not in json.dumps(user)


def test_the_same_answer_gives_the_same_text_so_no_update_shows_a_change():
    assert kubeconfig(name="c", credentials=aks_kubeconfig()) == kubeconfig(
        name="c", credentials=aks_kubeconfig()
    )


@pytest.mark.parametrize(
    "credentials",
    [
        "",
        "not base64!",
        base64.b64encode(b"{").decode(),
        base64.b64encode(b"\xff\xfe\xff").decode(),
        base64.b64encode(b"clusters: []").decode(),
        base64.b64encode(b"clusters: [{cluster: {server: x}}]").decode(),
        base64.b64encode(b"just text").decode(),
    ],
)
def test_an_answer_that_is_no_kubeconfig_is_an_error_with_a_way_out(credentials: str):
    with pytest.raises(GpuPlatformError, match="no usable kubeconfig for vision-prod") as failed:
        kubeconfig(name="vision-prod", credentials=credentials)
    assert "Cluster User Role" in failed.value.way_out


def test_a_subscription_is_read_from_a_resource_id():
    assert subscription_of("/subscriptions/abc/resourceGroups/g/providers/p") == "abc"
    assert subscription_of("/Subscriptions/abc") == "abc"


@pytest.mark.parametrize("text", ["", "vision", "/resourceGroups/g", "subscriptions/abc"])
def test_what_is_no_resource_id_has_no_subscription(text: str):
    with pytest.raises(ValueError, match="no Azure resource ID"):
        subscription_of(text)
