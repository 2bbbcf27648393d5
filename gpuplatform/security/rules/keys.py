"""Credentials that outlive the job they were made for: keys, passwords, tokens without an end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gpuplatform.guardrails import Unknown
from gpuplatform.guardrails.resources import props
from gpuplatform.security.finding import Case, Check, Finding
from gpuplatform.security.read import entries, on

__all__ = ["READERS"]

_FEDERATE: Final = "federate: a workload or a workflow proves who it is by its own OIDC token"


def exists(what: str, way_out: str = _FEDERATE) -> Check:
    """The resource itself is the credential."""

    def check(case: Case) -> Iterator[Finding]:
        if props.value(case.raw.props, "status") != "Inactive":
            yield case.fail("long-lived-key", f"{what} does not expire by itself and can be copied", way_out)

    return check


def _must_be(key: str, wanted: bool, message: str) -> Check:
    """Open to keys unless the switch says otherwise."""

    def check(case: Case) -> Iterator[Finding]:
        found = on(case.raw.props, key)
        if isinstance(found, Unknown):
            yield case.undecided("long-lived-key", found)
        elif found is not wanted:
            yield case.fail("long-lived-key", message, f"{key}: {str(wanted).lower()}")

    return check


def _must_not(path: tuple[str, ...], message: str) -> Check:
    """Closed to keys unless the switch opens it."""

    def check(case: Case) -> Iterator[Finding]:
        found = on(case.raw.props, *path)
        if isinstance(found, Unknown):
            yield case.undecided("long-lived-key", found)
        elif found is True:
            yield case.fail("long-lived-key", message, f"{'.'.join(path)}: false")

    return check


def _application(case: Case) -> Iterator[Finding]:
    found = [entries(case.raw.props, key) for key in ("password", "passwords")]
    if any(found):
        yield case.fail("long-lived-key", "an application's password can be copied", _FEDERATE)


def _token(case: Case) -> Iterator[Finding]:
    """https://kubernetes.io/docs/concepts/configuration/secret/#serviceaccount-token-secrets."""
    kind = props.text(case.raw.props, "type")
    if kind == "kubernetes.io/service-account-token":
        message = "a service account's token that never expires"
        yield case.fail("long-lived-key", message, "a projected token, or kubectl create token")
    elif isinstance(kind, Unknown):
        yield case.undecided("long-lived-key", kind)


def _aws_provider(case: Case) -> Iterator[Finding]:
    source = case.raw.props
    if props.value(source, "accessKey") and not props.value(source, "token"):
        yield case.fail("long-lived-key", "the provider logs in with an access key of its own", _FEDERATE)


def _azure_provider(case: Case) -> Iterator[Finding]:
    if props.value(case.raw.props, "clientSecret"):
        yield case.fail("long-lived-key", "the provider logs in with a client secret", "useOidc: true")


def _google_provider(case: Case) -> Iterator[Finding]:
    if "private_key" in str(props.value(case.raw.props, "credentials")):
        yield case.fail("long-lived-key", "the provider logs in with a service account's key", _FEDERATE)


READERS: Final[dict[str, tuple[Check, ...]]] = {
    "aws:iam/accessKey:AccessKey": (exists("an IAM user's access key"),),
    "aws:iam/userLoginProfile:UserLoginProfile": (
        exists("an IAM user's password", "people come in through IAM Identity Center"),
    ),
    "aws:iam/serviceSpecificCredential:ServiceSpecificCredential": (exists("a service's own password"),),
    "pulumi:providers:aws": (_aws_provider,),
    "azure-native:storage:StorageAccount": (
        _must_be(
            "allowSharedKeyAccess", False, "whoever has the account's key has all its data, unless it is off"
        ),
    ),
    "azure-native:containerservice:ManagedCluster": (
        _must_be(
            "disableLocalAccounts", True, "local accounts give a certificate that Entra does not know of"
        ),
    ),
    "azure-native:containerregistry:Registry": (
        _must_not(("adminUserEnabled",), "the admin user's password is the whole registry's"),
    ),
    "azuread:index/applicationPassword:ApplicationPassword": (exists("an application's password"),),
    "azuread:index/servicePrincipalPassword:ServicePrincipalPassword": (
        exists("a service principal's password"),
    ),
    "azuread:index/application:Application": (_application,),
    "pulumi:providers:azure-native": (_azure_provider,),
    "gcp:serviceaccount/key:Key": (exists("a service account's key"),),
    "gcp:storage/hmacKey:HmacKey": (exists("an HMAC key"),),
    "gcp:container/cluster:Cluster": (
        _must_not(
            ("masterAuth", "clientCertificateConfig", "issueClientCertificate"),
            "a client certificate opens the cluster without any IAM",
        ),
    ),
    "pulumi:providers:gcp": (_google_provider,),
    "kubernetes:core/v1:Secret": (_token,),
}
