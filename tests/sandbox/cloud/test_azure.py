import base64
import json

import pytest

from gpuplatform.sandbox.sdk_types import UNKNOWN

GROUP = "azure-native:resources:ResourceGroup"
NETWORK = "azure-native:network:VirtualNetwork"
SUBNET = "azure-native:network:Subnet"
CLUSTER = "azure-native:containerservice:ManagedCluster"
POOL = "azure-native:containerservice:AgentPool"
SYSTEM = {"name": "system", "mode": "System", "count": 1.0, "vmSize": "Standard_D4s_v5"}


@pytest.fixture
def azure(client):
    return client("azure-native", location="eastus", subscriptionId="11111111-1111-1111-1111-111111111111")


@pytest.fixture
def group(azure):
    return azure.up(GROUP, "rg", {"location": "East US"})


@pytest.fixture
def cluster(azure, group):
    inputs = {
        "resourceGroupName": group.outputs["name"],
        "resourceName": "aks",
        "kubernetesVersion": "1.35",
        "agentPoolProfiles": [SYSTEM],
        "oidcIssuerProfile": {"enabled": True},
        "identity": {"type": "SystemAssigned"},
    }
    return azure.up(CLUSTER, "aks", inputs)


def pool(azure, group, name="train", **changes):
    inputs = {
        "resourceGroupName": group.outputs["name"],
        "resourceName": "aks",
        "agentPoolName": name,
        "vmSize": "Standard_NC24ads_A100_v4",
        "mode": "User",
        "count": 0.0,
        "gpuProfile": {"driver": "None"},
    }
    return azure.up(POOL, name, {**inputs, **changes})


def test_a_cluster_has_the_outputs_that_programs_build_on(cluster):
    outputs = cluster.outputs

    assert cluster.id.endswith("/providers/Microsoft.ContainerService/managedClusters/aks")
    assert outputs["fqdn"].endswith(".hcp.eastus.azmk8s.io")
    assert outputs["oidcIssuerProfile"]["issuerURL"].startswith("https://eastus.oic.prod-aks.azure.com/")
    assert outputs["identity"]["principalId"]
    assert outputs["identityProfile"]["kubeletidentity"]["objectId"]
    assert outputs["nodeResourceGroup"].startswith("MC_rg")
    assert "resourceGroupName" not in outputs


def test_a_preview_knows_nothing_computed(azure):
    planned = azure.preview(CLUSTER, "aks", {"resourceGroupName": UNKNOWN, "agentPoolProfiles": [SYSTEM]})

    assert planned["fqdn"] == planned["name"] == UNKNOWN
    assert planned["agentPoolProfiles"][0]["vmSize"] == "Standard_D4s_v5"


def test_made_up_names_are_as_the_provider_makes_them(azure, group):
    own = group.inputs["resourceGroupName"]
    net = azure.up(
        NETWORK, "net", {"resourceGroupName": own, "addressSpace": {"addressPrefixes": ["10.0.0.0/16"]}}
    )
    network = net.inputs["virtualNetworkName"]
    child = azure.up(
        SUBNET,
        "nodes",
        {"resourceGroupName": own, "virtualNetworkName": network, "addressPrefix": "10.0.0.0/24"},
    )

    assert len(own) == len("rg") + 8
    assert len(network) == len("net") + 8
    assert child.inputs["subnetName"] == "nodes"
    assert child.id == f"{net.id}/subnets/nodes"


def test_pool_names_and_settings_that_aks_refuses_are_refused_in_preview(azure):
    def failures(**changes):
        base = {"resourceGroupName": "rg", "resourceName": "aks", "agentPoolName": "train"}
        return azure.check(POOL, "p", {**base, **changes}).failures

    assert "up to 11" in failures(agentPoolName="gpu-h100-train")["agentPoolName"]
    assert "up to 11" in failures(agentPoolName="a" * 13)["agentPoolName"]
    spot = failures(scaleSetPriority="Spot", upgradeSettings={"maxSurge": "1"})
    assert spot["upgradeSettings"] == "Spot pools can't set max surge"
    assert "unless" in failures(scaleSetEvictionPolicy="Delete")["scaleSetEvictionPolicy"]
    assert "gpuProfile.driver" in failures(tags={"SkipGPUDriverInstall": "true"})["tags.SkipGPUDriverInstall"]
    assert failures(minCount=3.0, maxCount=1.0, enableAutoScaling=True).keys() == {"minCount"}
    assert failures(minCount=0.0, maxCount=1.0).keys() == {"enableAutoScaling"}
    assert failures(scaleSetPriority="Spot", scaleSetEvictionPolicy="Delete", mode="User") == {}


def test_a_cluster_needs_a_system_pool(azure):
    user = [{**SYSTEM, "mode": "User"}]

    assert (
        "mode System"
        in azure.check(CLUSTER, "c", {"resourceGroupName": "rg", "agentPoolProfiles": user}).failures[
            "agentPoolProfiles"
        ]
    )


def test_pools_are_never_added_through_the_cluster(azure, cluster, refusal):
    with refusal("A new agent pool was introduced"):
        azure.update(cluster, agentPoolProfiles=[SYSTEM, {**SYSTEM, "name": "gpu", "mode": "User"}])


def test_what_is_named_must_exist(azure, group, refusal):
    with refusal("ResourceGroupNotFound", "'nope'"):
        azure.up(NETWORK, "n", {"resourceGroupName": "nope"})
    with refusal("managedClusters/aks' was not found"):
        pool(azure, group)


@pytest.mark.usefixtures("cluster")
def test_resource_names_are_found_in_any_case(azure, group):
    name = group.outputs["name"].upper()

    assert azure.up(NETWORK, "n", {"resourceGroupName": name}).outputs["location"] == "eastus"


def test_subnets_lie_in_the_network_and_do_not_overlap(azure, group, refusal):
    own = group.outputs["name"]
    net = azure.up(
        NETWORK, "net", {"resourceGroupName": own, "addressSpace": {"addressPrefixes": ["10.0.0.0/16"]}}
    )
    base = {"resourceGroupName": own, "virtualNetworkName": net.outputs["name"]}
    azure.up(SUBNET, "a", {**base, "addressPrefix": "10.0.0.0/24"})

    with refusal("NetcfgSubnetRangesOverlap"):
        azure.up(SUBNET, "b", {**base, "addressPrefix": "10.0.0.0/20"})
    with refusal("NetcfgSubnetRangeOutsideVnet"):
        azure.up(SUBNET, "c", {**base, "addressPrefix": "192.168.0.0/24"})


def test_a_subnet_in_use_stays(azure, group, refusal):
    own = group.outputs["name"]
    net = azure.up(
        NETWORK, "net", {"resourceGroupName": own, "addressSpace": {"addressPrefixes": ["10.0.0.0/16"]}}
    )
    subnet = azure.up(
        SUBNET,
        "a",
        {"resourceGroupName": own, "virtualNetworkName": net.outputs["name"], "addressPrefix": "10.0.0.0/24"},
    )
    azure.up(
        CLUSTER,
        "aks",
        {
            "resourceGroupName": own,
            "resourceName": "aks",
            "agentPoolProfiles": [{**SYSTEM, "vnetSubnetID": subnet.id}],
        },
    )

    with refusal("InUseSubnetCannotBeDeleted"):
        azure.delete(subnet)
    with refusal("InUseSubnetCannotBeDeleted"):
        azure.delete(net)


def test_a_cluster_takes_its_pools_along_and_a_group_everything(azure, group, cluster, world):
    made = pool(azure, group)
    azure.delete(cluster)
    assert azure.read(made).id == ""

    azure.up(
        CLUSTER,
        "again",
        {"resourceGroupName": group.outputs["name"], "resourceName": "aks", "agentPoolProfiles": [SYSTEM]},
    )
    pool(azure, group)
    azure.delete(group)
    assert world.all() == []


@pytest.mark.parametrize(
    ("changes", "replaced"),
    [
        ({"vmSize": "Standard_NC48ads_A100_v4"}, ["vmSize"]),
        ({"maxCount": 8.0, "minCount": 0.0, "enableAutoScaling": True}, []),
        ({"nodeLabels": {"a": "b"}}, []),
        ({"agentPoolName": "other"}, ["agentPoolName"]),
    ],
)
@pytest.mark.usefixtures("cluster")
def test_a_change_updates_or_replaces_a_pool_as_the_provider_says(azure, group, changes, replaced):
    found = azure.diff(pool(azure, group), **changes)

    assert found.changes == found.DIFF_SOME
    assert list(found.replaces) == replaced
    # The pool's name is the program's own: without the new one it cannot exist beside the old one.
    assert found.deleteBeforeReplace == (replaced == ["vmSize"])


@pytest.mark.usefixtures("cluster")
def test_what_aks_fixes_at_creation_is_refused_in_an_update(azure, group, refusal):
    made = pool(azure, group)
    with refusal("PropertyChangeNotAllowed: Changing property 'properties.gpuProfile.driver'"):
        azure.update(made, gpuProfile={"driver": "Install"})


def test_what_azure_fixes_at_creation_and_the_provider_would_update_is_refused(azure, group, refusal):
    gateway = {"resourceGroupName": group.outputs["name"], "natGatewayName": "out", "location": "eastus"}
    made = azure.up("azure-native:network:NatGateway", "out", {**gateway, "sku": {"name": "Standard"}})

    assert list(azure.diff(made, zones=["1"]).replaces) == []
    with refusal("PropertyChangeNotAllowed: Changing property 'properties.zones'"):
        azure.update(made, zones=["1"])


@pytest.mark.usefixtures("cluster")
def test_creating_what_exists_is_refused(azure, group, refusal):
    pool(azure, group)
    with refusal("cannot create already existing resource '/subscriptions/11111111"):
        pool(azure, group)


@pytest.mark.usefixtures("cluster")
def test_a_token_with_an_api_version_follows_the_same_rules(azure, group):
    token = "azure-native:containerservice/v20240101:AgentPool"  # noqa: S105 - a type token
    inputs = {"resourceGroupName": group.outputs["name"], "resourceName": "aks", "agentPoolName": "BAD"}

    assert "agentPoolName" in azure.check(token, "p", inputs).failures
    made = azure.up(token, "p", {**inputs, "agentPoolName": "good", "vmSize": "Standard_D4s_v5"})
    assert made.id.endswith("/agentPools/good")


def test_a_kubeconfig_can_be_had_of_a_cluster_that_exists(azure, group, cluster):
    asked = {"resourceGroupName": group.outputs["name"], "resourceName": "aks"}
    function = "azure-native:containerservice:listManagedClusterUserCredentials"

    found = azure.invoke(function, **asked)["kubeconfigs"]

    assert found["4dabf18193072939515e22adb298388d"], "the credentials are marked secret"
    config = json.loads(base64.b64decode(found["value"][0]["value"]))
    assert config["clusters"][0]["cluster"]["server"] == f"https://{cluster.outputs['fqdn']}:443"
    with pytest.raises(LookupError, match="was not found"):
        azure.invoke(function, **{**asked, "resourceName": "nope"})


@pytest.mark.usefixtures("cluster")
def test_a_machine_type_that_is_not_there_is_refused(azure, group, refusal):
    with refusal("VMSizeNotSupported"):
        pool(azure, group, vmSize="Standard_NC24ads_A100_v44")


def test_a_machine_type_that_its_region_does_not_have_is_refused(client, refusal):
    azure = client("azure-native")
    azure.up(GROUP, "rg", {"resourceGroupName": "rg", "location": "norwayeast"})
    pools = [{**SYSTEM, "vmSize": "Standard_ND96isr_H100_v5"}]
    with refusal("Standard_ND96isr_H100_v5 is not available in location 'norwayeast'"):
        azure.up(CLUSTER, "aks", {"resourceGroupName": "rg", "agentPoolProfiles": pools})


def test_a_list_of_identities_comes_back_as_a_map(azure, group):
    own = {"resourceGroupName": group.outputs["name"]}
    identity = azure.up("azure-native:managedidentity:UserAssignedIdentity", "nodes", own)
    who = {"type": "UserAssigned", "userAssignedIdentities": [identity.id]}

    made = azure.up(CLUSTER, "aks", {**own, "agentPoolProfiles": [SYSTEM], "identity": who})
    planned = azure.preview(CLUSTER, "aks", {**own, "agentPoolProfiles": [SYSTEM], "identity": who})

    assert list(made.outputs["identity"]["userAssignedIdentities"]) == [identity.id]
    assert list(planned["identity"]["userAssignedIdentities"]) == [identity.id]


PROXIMITY = "azure-native:compute:ProximityPlacementGroup"


def near(azure, group, **changes):
    inputs = {
        "resourceGroupName": group.outputs["name"],
        "proximityPlacementGroupName": "close",
        "intent": {"vmSizes": ["Standard_NC24ads_A100_v4"]},
        "zones": ["1"],
    }
    return azure.up(PROXIMITY, "close", {**inputs, **changes})


@pytest.mark.usefixtures("cluster")
def test_a_proximity_group_holds_its_pools_and_goes_after_them(azure, group, refusal):
    close = near(azure, group)
    assert close.id.endswith("/providers/Microsoft.Compute/proximityPlacementGroups/close")
    train = pool(azure, group, proximityPlacementGroupID=close.id, availabilityZones=["1"])
    with refusal("InUseProximityPlacementGroupCannotBeDeleted"):
        azure.delete(close)
    azure.delete(train)
    azure.delete(close)


def test_zones_of_a_proximity_group_need_the_machines_it_is_for(azure):
    inputs = {"resourceGroupName": "rg", "proximityPlacementGroupName": "close", "zones": ["1"]}
    failures = azure.check(PROXIMITY, "close", inputs).failures
    assert "only together with intent.vmSizes" in failures["zones"]
    intent = {"vmSizes": ["Standard_NC24ads_A100_v4"]}
    assert not azure.check(PROXIMITY, "close", {**inputs, "intent": intent}).failures


def test_a_pool_cannot_combine_what_azure_keeps_apart(azure):
    compute = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute"
    close, reserved = f"{compute}/proximityPlacementGroups/p", f"{compute}/capacityReservationGroups/c"

    def failures(**changes):
        base = {"resourceGroupName": "rg", "resourceName": "aks", "agentPoolName": "p", "mode": "User"}
        return azure.check(POOL, "p", {**base, **changes}).failures

    both = failures(proximityPlacementGroupID=close, capacityReservationGroupID=reserved)
    assert "not supported with a capacity reservation" in both["proximityPlacementGroupID"]
    zones = failures(proximityPlacementGroupID=close, availabilityZones=["1", "2"])
    assert "only one availability zone" in zones["availabilityZones"]
    spot = failures(capacityReservationGroupID=reserved, scaleSetPriority="Spot")
    assert "Spot" in spot["capacityReservationGroupID"]
    assert "2048" in failures(osDiskSizeGB=4096.0)["osDiskSizeGB"]
    assert not failures(capacityReservationGroupID=reserved, availabilityZones=["1", "2"])
    assert not failures(proximityPlacementGroupID=close, availabilityZones=["1"], osDiskSizeGB=2048.0)


@pytest.mark.parametrize(
    "path",
    ["capacityReservationGroupID", "proximityPlacementGroupID", "osDiskType", "scaleSetPriority"],
)
@pytest.mark.usefixtures("cluster")
def test_what_a_pool_was_made_with_stays(azure, group, refusal, path):
    compute = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute"
    values = {
        "capacityReservationGroupID": f"{compute}/capacityReservationGroups/c",
        "proximityPlacementGroupID": f"{compute}/proximityPlacementGroups/p",
        "osDiskType": "Ephemeral",
        "scaleSetPriority": "Spot",
    }
    made = pool(azure, group)
    with refusal(f"PropertyChangeNotAllowed: Changing property 'properties.{path}'"):
        azure.update(made, **{path: values[path]})


def test_a_feature_of_the_subscription_always_exists_already(azure, refusal):
    inputs = {"providerNamespace": "Microsoft.ContainerService", "featureName": "AKSInfinibandSupport"}
    with refusal("cannot create already existing resource", "AKSInfinibandSupport"):
        azure.up("azure-native:features:SubscriptionFeatureRegistration", "infiniband", inputs)


def test_a_role_is_assigned_once_on_a_scope(azure, refusal):
    kind = "azure-native:authorization:RoleAssignment"
    scope = "/subscriptions/11111111-1111-1111-1111-111111111111/resourceGroups/reserved"
    inputs = {
        "principalId": "somebody",
        "principalType": "ServicePrincipal",
        "roleDefinitionId": "/subscriptions/s/providers/Microsoft.Authorization/roleDefinitions/contributor",
        "scope": scope,
    }
    first = azure.up(kind, "one", inputs)
    with refusal("RoleAssignmentExists"):
        azure.up(kind, "two", {**inputs, "scope": scope.upper()})
    azure.up(kind, "three", {**inputs, "principalId": "somebody-else"})
    azure.delete(first)
    azure.up(kind, "two", inputs)
