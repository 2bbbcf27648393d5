"""What the simulated Azure says of storage, keys, locks, endpoints, roles and budgets."""

from __future__ import annotations

import pytest

from gpuplatform.sandbox.sdk_types import UNKNOWN

GROUP = "azure-native:resources:ResourceGroup"
ACCOUNT = "azure-native:storage:StorageAccount"
CONTAINER = "azure-native:storage:BlobContainer"
BLOBS = "azure-native:storage:BlobServiceProperties"
POLICY = "azure-native:storage:ManagementPolicy"
SHARE = "azure-native:storage:FileShare"
VAULT = "azure-native:keyvault:Vault"
KEY = "azure-native:keyvault:Key"
LUSTRE = "azure-native:storagecache:AmlFilesystem"
NETWORK = "azure-native:network:VirtualNetwork"
SUBNET = "azure-native:network:Subnet"
ENDPOINT = "azure-native:network:PrivateEndpoint"
ZONE = "azure-native:privatedns:PrivateZone"
LINK = "azure-native:privatedns:VirtualNetworkLink"
IDENTITY = "azure-native:managedidentity:UserAssignedIdentity"
CREDENTIAL = "azure-native:managedidentity:FederatedIdentityCredential"
ROLE = "azure-native:authorization:RoleAssignment"
DEFINITION = "azure-native:authorization:RoleDefinition"
LOCK = "azure-native:authorization:ManagementLockAtResourceGroupLevel"
BUDGET = "azure-native:consumption:Budget"
SUBSCRIPTION = "11111111-1111-1111-1111-111111111111"
SCOPE = f"/subscriptions/{SUBSCRIPTION}"


@pytest.fixture
def azure(client):
    return client("azure-native", location="eastus", subscriptionId=SUBSCRIPTION)


@pytest.fixture
def group(azure):
    return azure.up(GROUP, "rg", {"location": "eastus", "resourceGroupName": "rg"})


@pytest.fixture
def inside(group):
    return {"resourceGroupName": group.outputs["name"]}


def account(azure, inside, name="visiondata", **changes):
    inputs = {**inside, "accountName": name, "kind": "StorageV2", "sku": {"name": "Standard_ZRS"}, **changes}
    return azure.up(ACCOUNT, name, inputs)


def vault(azure, inside, **changes):
    properties = {
        "tenantId": "t",
        "sku": {"family": "A", "name": "standard"},
        "enableRbacAuthorization": True,
        **changes,
    }
    return azure.up(VAULT, "v", {**inside, "vaultName": "visionkeys", "properties": properties})


@pytest.fixture
def subnet(azure, inside):
    net = azure.up(
        NETWORK,
        "net",
        {**inside, "virtualNetworkName": "net", "addressSpace": {"addressPrefixes": ["10.0.0.0/16"]}},
    )
    return azure.up(
        SUBNET,
        "lustre",
        {**inside, "virtualNetworkName": net.outputs["name"], "addressPrefix": "10.0.1.0/24"},
    )


def lustre(azure, inside, subnet, name="scratch", **changes):
    inputs = {
        **inside,
        "amlFilesystemName": name,
        "sku": {"name": "AMLFS-Durable-Premium-250"},
        "storageCapacityTiB": 8.0,
        "zones": ["1"],
        "filesystemSubnet": subnet.id,
        "maintenanceWindow": {"dayOfWeek": "Sunday", "timeOfDayUTC": "02:00"},
    }
    return azure.up(LUSTRE, name, {**inputs, **changes})


def test_account_names_belong_to_whoever_takes_them_first_in_the_world(azure, inside, client, refusal):
    account(azure, inside)
    with refusal("already exists under the subscription"):
        azure.up(GROUP, "other", {"location": "eastus", "resourceGroupName": "other"})
        account(azure, {"resourceGroupName": "other"})
    theirs = client("azure-native", location="eastus", subscriptionId="22222222-2222-2222-2222-222222222222")
    theirs.up(GROUP, "rg", {"location": "eastus", "resourceGroupName": "rg"})
    with refusal("StorageAccountAlreadyTaken", "visiondata"):
        account(theirs, inside)


def test_account_names_and_settings_are_checked_in_preview(azure, inside):
    def failures(token, **inputs):
        return azure.check(token, "x", {**inside, "accountName": "visiondata", **inputs}).failures

    kind = {"kind": "StorageV2", "sku": {"name": "Standard_LRS"}}
    assert "24" in failures(ACCOUNT, **kind | {"accountName": "vision-data"})["accountName"]
    assert "accountName" in failures(ACCOUNT, **kind | {"accountName": "a" * 25})
    missing = failures(ACCOUNT, **kind, encryption={"keySource": "Microsoft.Keyvault"})
    assert "encryption.keyVaultProperties" in missing
    assert "deleteRetentionPolicy.days" in failures(BLOBS, deleteRetentionPolicy={"days": 366.0})
    assert "63" in failures(CONTAINER, containerName="Data")["containerName"]
    assert "policy.rules" in failures(POLICY, managementPolicyName="default", policy={"rules": []})
    assert failures(ACCOUNT, **kind) == {}


def test_an_account_has_the_addresses_that_programs_read(azure, inside):
    made = account(azure, inside)
    assert made.id == f"{SCOPE}/resourceGroups/rg/providers/Microsoft.Storage/storageAccounts/visiondata"
    assert made.outputs["primaryEndpoints"]["dfs"] == "https://visiondata.dfs.core.windows.net/"
    container = azure.up(
        CONTAINER, "c", {**inside, "accountName": made.outputs["name"], "containerName": "data"}
    )
    assert container.id == f"{made.id}/blobServices/default/containers/data"
    assert azure.read(container).outputs["name"] == "data"


def test_a_container_needs_its_account_and_goes_with_it_and_its_data(azure, inside, refusal):
    inputs = {**inside, "accountName": "visiondata", "containerName": "data"}
    with refusal("storageAccounts/visiondata' was not found"):
        azure.up(CONTAINER, "c", inputs)
    made = account(azure, inside)
    container = azure.up(CONTAINER, "c", inputs)
    azure.delete(made)
    assert azure.read(container).id == ""


def test_a_public_container_is_refused_by_an_account_that_permits_none(azure, inside, refusal):
    account(azure, inside, allowBlobPublicAccess=False)
    inputs = {**inside, "accountName": "visiondata", "containerName": "data", "publicAccess": "Blob"}
    with refusal("PublicAccessNotPermitted"):
        azure.up(CONTAINER, "c", inputs)


def test_a_hierarchical_namespace_has_no_versions_and_is_for_good(azure, inside, refusal):
    made = account(azure, inside, isHnsEnabled=True)
    versions = {
        **inside,
        "accountName": "visiondata",
        "blobServicesName": "default",
        "isVersioningEnabled": True,
    }
    with refusal("FeatureNotSupportedForAccount"):
        azure.up(BLOBS, "b", versions)
    assert list(azure.diff(made, isHnsEnabled=False).replaces) == ["isHnsEnabled"]


def test_copies_move_between_zones_on_request_only(azure, inside, refusal):
    made = account(azure, inside)
    with refusal("AccountPropertyCannotBeUpdated", "Standard_ZRS"):
        azure.update(made, sku={"name": "Standard_LRS"})
    azure.update(made, minimumTlsVersion="TLS1_2")


def test_nfs_shares_are_on_premium_accounts_only(azure, inside, refusal):
    account(azure, inside)
    share = {**inside, "accountName": "visiondata", "shareName": "home", "enabledProtocols": "NFS"}
    with refusal("premium file shares only"):
        azure.up(SHARE, "s", share)
    account(azure, inside, "visionfiles", kind="FileStorage", sku={"name": "Premium_LRS"})
    made = azure.up(SHARE, "s", {**share, "accountName": "visionfiles"})
    with refusal("PropertyChangeNotAllowed", "enabledProtocols"):
        azure.update(made, enabledProtocols="SMB")


def test_a_key_of_one_s_own_must_be_in_a_vault_that_cannot_be_purged(azure, inside, refusal):
    vault(azure, inside)
    encryption = {
        "keySource": "Microsoft.Keyvault",
        "keyVaultProperties": {"keyName": "storage", "keyVaultUri": "https://visionkeys.vault.azure.net/"},
    }
    with refusal("purge protection"):
        account(azure, inside, encryption=encryption)


def test_an_account_takes_the_key_of_a_protected_vault(azure, inside):
    made = vault(azure, inside, enablePurgeProtection=True)
    key = azure.up(
        KEY, "k", {**inside, "vaultName": "visionkeys", "keyName": "storage", "properties": {"kty": "RSA"}}
    )
    assert key.outputs["keyUri"] == "https://visionkeys.vault.azure.net/keys/storage"
    encryption = {
        "keySource": "Microsoft.Keyvault",
        "keyVaultProperties": {"keyName": "storage", "keyVaultUri": made.outputs["properties"]["vaultUri"]},
    }
    assert account(azure, inside, encryption=encryption).id


def test_a_deleted_vault_keeps_its_name_and_a_made_up_one_is_always_free(azure, inside, refusal):
    azure.delete(vault(azure, inside, enablePurgeProtection=True))
    with refusal("already exists in deleted state"):
        vault(azure, inside, enablePurgeProtection=True)
    properties = {
        "tenantId": "t",
        "sku": {"family": "A", "name": "standard"},
        "enableRbacAuthorization": True,
    }
    first = azure.up(VAULT, "data-kv", {**inside, "properties": properties})
    azure.delete(first)
    second = azure.up(VAULT, "data-kv", {**inside, "properties": properties})
    assert first.outputs["name"] != second.outputs["name"]
    assert len(second.outputs["name"]) == len("data-kv") + 8


def test_purge_protection_is_never_taken_back_and_the_period_never_changes(azure, inside, refusal):
    properties = {
        "tenantId": "t",
        "sku": {"family": "A", "name": "standard"},
        "enableRbacAuthorization": True,
        "enablePurgeProtection": False,
    }
    failures = azure.check(
        VAULT, "v", {**inside, "vaultName": "visionkeys", "properties": properties}
    ).failures
    assert "properties.enablePurgeProtection" in failures
    made = vault(azure, inside, softDeleteRetentionInDays=90.0)
    with refusal("PropertyChangeNotAllowed", "softDeleteRetentionInDays"):
        azure.update(made, properties={**made.inputs["properties"], "softDeleteRetentionInDays": 7.0})


def test_a_key_goes_with_its_vault(azure, inside):
    made = vault(azure, inside)
    key = azure.up(
        KEY, "k", {**inside, "vaultName": "visionkeys", "keyName": "storage", "properties": {"kty": "RSA"}}
    )
    azure.delete(made)
    assert azure.read(key).id == ""


def test_lustre_has_an_address_in_its_subnet_and_holds_it(azure, inside, subnet, refusal):
    made = lustre(azure, inside, subnet)
    assert made.outputs["clientInfo"]["mgsAddress"] == "10.0.1.4"
    with refusal("InUseSubnetCannotBeDeleted"):
        azure.delete(subnet)
    with refusal("used by another AML file system"):
        lustre(azure, inside, subnet, "second")
    azure.delete(made)
    azure.delete(subnet)


def test_lustre_needs_room_and_sizes_that_are_sold(azure, inside, subnet, refusal):
    def failures(**changes):
        base = {
            **inside,
            "amlFilesystemName": "x",
            "filesystemSubnet": subnet.id,
            "zones": ["1"],
            "maintenanceWindow": {"dayOfWeek": "Sunday", "timeOfDayUTC": "02:00"},
        }
        return azure.check(LUSTRE, "x", {**base, **changes}).failures

    premium = {"name": "AMLFS-Durable-Premium-250"}
    assert "multiple of 8" in failures(sku=premium, storageCapacityTiB=12.0)["storageCapacityTiB"]
    assert "sku.name" in failures(sku={"name": "Premium"}, storageCapacityTiB=8.0)
    assert "zones" in failures(sku=premium, storageCapacityTiB=8.0, zones=["1", "2"])
    assert failures(sku=premium, storageCapacityTiB=UNKNOWN) == {}
    with refusal("SubnetNotLargeEnough", "a /23 has"):
        lustre(azure, inside, subnet, storageCapacityTiB=400.0)


@pytest.mark.parametrize(
    "change", [{"storageCapacityTiB": 16.0}, {"zones": ["2"]}, {"sku": {"name": "AMLFS-Durable-Premium-500"}}]
)
def test_lustre_neither_grows_nor_moves(azure, inside, subnet, refusal, change):
    made = lustre(azure, inside, subnet)
    with refusal("PropertyChangeNotAllowed"):
        azure.update(made, **change)


def test_a_subnet_moves_only_while_it_is_empty_and_never_over_another(azure, inside, subnet, refusal):
    azure.up(SUBNET, "other", {**inside, "virtualNetworkName": "net", "addressPrefix": "10.0.2.0/24"})
    with refusal("NetcfgSubnetRangesOverlap"):
        azure.update(subnet, addressPrefix="10.0.2.0/25")
    azure.update(subnet, addressPrefix="10.0.1.0/25")
    azure.update(subnet, addressPrefix="10.0.1.0/24")
    lustre(azure, inside, subnet)
    with refusal("InUsePrefixCannotBeDeleted"):
        azure.update(subnet, addressPrefix="10.0.3.0/24")


def test_an_endpoint_needs_its_subnet_and_holds_it(azure, inside, subnet, refusal):
    made = account(azure, inside, "visionfiles", kind="FileStorage", sku={"name": "Premium_LRS"})
    connection = {"name": "files", "privateLinkServiceId": made.id, "groupIds": ["file"]}
    endpoint = {**inside, "privateEndpointName": "files", "privateLinkServiceConnections": [connection]}
    with refusal("was not found"):
        azure.up(ENDPOINT, "e", {**endpoint, "subnet": {"id": f"{subnet.id}x"}})
    azure.up(ENDPOINT, "e", {**endpoint, "subnet": {"id": subnet.id}})
    with refusal("InUseSubnetCannotBeDeleted"):
        azure.delete(subnet)


def test_a_network_has_one_zone_of_a_name(azure, inside, subnet, refusal):
    net = subnet.id.rpartition("/subnets/")[0]
    azure.up(GROUP, "two", {"location": "eastus", "resourceGroupName": "two"})
    for own in ("rg", "two"):
        azure.up(
            ZONE, own, {"resourceGroupName": own, "privateZoneName": "privatelink.file.core.windows.net"}
        )
    link = {"privateZoneName": "privatelink.file.core.windows.net", "virtualNetwork": {"id": net}}
    azure.up(LINK, "l", {**inside, **link, "virtualNetworkLinkName": "files"})
    with refusal("cannot be linked to multiple zones"):
        azure.up(LINK, "m", {"resourceGroupName": "two", **link, "virtualNetworkLinkName": "files"})


@pytest.fixture
def identity(azure, inside):
    return azure.up(IDENTITY, "ci", {**inside, "resourceName": "deploy"})


def credential(azure, inside, name, subject):
    inputs = {
        **inside,
        "resourceName": "deploy",
        "federatedIdentityCredentialResourceName": name,
        "issuer": "https://token.actions.githubusercontent.com",
        "subject": subject,
        "audiences": ["api://AzureADTokenExchange"],
    }
    return azure.up(CREDENTIAL, name, inputs)


@pytest.mark.usefixtures("identity")
def test_an_identity_has_twenty_credentials_at_most_and_each_subject_once(azure, inside, refusal):
    credential(azure, inside, "one-0", "repo:o/r:environment:0")
    with refusal("Issuer and subject combination already exists"):
        credential(azure, inside, "again", "repo:o/r:environment:0")
    for index in range(1, 20):
        credential(azure, inside, f"one-{index}", f"repo:o/r:environment:{index}")
    with refusal("at most 20"):
        credential(azure, inside, "one-20", "repo:o/r:environment:20")


def role_definition(azure, name, known="11111111-0000-0000-0000-000000000000"):
    return azure.up(
        DEFINITION,
        name,
        {
            "scope": SCOPE,
            "roleDefinitionId": known,
            "roleName": name,
            "assignableScopes": [SCOPE],
            "permissions": [{"actions": [], "dataActions": []}],
        },
    )


def test_a_role_s_name_is_the_tenant_s_and_it_stays_while_somebody_has_it(azure, identity, refusal):
    made = role_definition(azure, "builds")
    assert made.id.endswith("/roleDefinitions/11111111-0000-0000-0000-000000000000")
    with refusal("RoleDefinitionWithSameNameExists"):
        role_definition(azure, "builds", "22222222-0000-0000-0000-000000000000")
    given = azure.up(
        ROLE,
        "r",
        {"principalId": identity.outputs["principalId"], "roleDefinitionId": made.id, "scope": SCOPE},
    )
    with refusal("RoleDefinitionHasAssignments"):
        azure.delete(made)
    azure.delete(given)
    azure.delete(made)


@pytest.mark.usefixtures("identity")
def test_a_locked_group_takes_no_change_and_lets_nothing_go(azure, inside, refusal):
    made = account(azure, inside)
    locked = azure.up(LOCK, "l", {**inside, "lockName": "read-only", "level": "ReadOnly"})
    with refusal("ScopeLocked", "remove the lock"):
        credential(azure, inside, "more", "repo:o/r:environment:more")
    with refusal("ScopeLocked"):
        azure.update(made, minimumTlsVersion="TLS1_2")
    with refusal("ScopeLocked"):
        azure.delete(made)
    with refusal("ScopeLocked"):
        azure.up(ROLE, "r", {"principalId": "p", "roleDefinitionId": f"{SCOPE}/roles/x", "scope": made.id})
    azure.up(ROLE, "s", {"principalId": "p", "roleDefinitionId": f"{SCOPE}/roles/x", "scope": SCOPE})
    azure.delete(locked)
    azure.delete(made)


def test_a_budget_begins_with_a_month_and_keeps_its_start(azure, refusal):
    alert = {"enabled": True, "operator": "GreaterThan", "threshold": 50.0, "contactEmails": ["a@b.de"]}

    def inputs(**changes):
        return {
            "scope": SCOPE,
            "budgetName": "vision-prod",
            "amount": 100.0,
            "category": "Cost",
            "timeGrain": "Monthly",
            "timePeriod": {"startDate": "2026-12-01T00:00:00Z"},
            "notifications": {"actual-50": alert},
            **changes,
        }

    def failures(**changes):
        return azure.check(BUDGET, "b", inputs(**changes)).failures

    assert "timePeriod.startDate" in failures(timePeriod={"startDate": "2026-12-02T00:00:00Z"})
    assert "notifications" in failures(notifications={f"n{index}": alert for index in range(6)})
    assert "notifications.n" in failures(notifications={"n": {**alert, "contactEmails": []}})
    assert "filter.and" in failures(
        filter={"and": [{"tags": {"name": "a", "operator": "In", "values": ["b"]}}]}
    )
    made = azure.up(BUDGET, "b", inputs())
    assert made.id == f"{SCOPE}/providers/Microsoft.Consumption/budgets/vision-prod"
    with refusal("start date cannot be updated"):
        azure.update(made, timePeriod={"startDate": "2027-01-01T00:00:00Z"})
    azure.update(made, amount=200.0)
