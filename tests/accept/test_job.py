"""The job is wired from the profile, for every fabric, and by nothing else."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml
from samples import decision_of

from gpuplatform.accept import Keys, manifests
from gpuplatform.accept.images import image_for
from gpuplatform.accept.script import SCRIPT
from gpuplatform.profile import Bandwidth, NodeProfile, PodWiring

KEYS = Keys(private="private", public="public")


def made(profile: NodeProfile, **fields):
    return manifests(profile, **{"nodes": 2, "namespace": "accept-x", "keys": KEYS, **fields})


def job_of(profile: NodeProfile, **fields):
    (job,) = [each for each in made(profile, **fields) if each["kind"] == "Job"]
    return job


def sample(stack: str, pool: str = "train") -> NodeProfile:
    return next(profile for profile in decision_of(stack).profiles if profile.pool == pool)


SAMPLES = ("aws-prod", "azure-prod", "gcp-prod")


@pytest.mark.parametrize("stack", SAMPLES)
def test_pods_get_everything_that_the_profile_says_and_take_whole_nodes(stack):
    profile = sample(stack)
    pod = job_of(profile)["spec"]["template"]
    (container,) = pod["spec"]["containers"]
    wiring = profile.pod
    assert container["resources"]["limits"] == wiring.resources
    assert wiring.resources.items() <= container["resources"]["requests"].items()
    assert container["resources"]["limits"]["nvidia.com/gpu"] == str(profile.gpus)
    environment = {each["name"]: each.get("value") for each in container["env"]}
    assert wiring.env.items() <= environment.items()
    assert environment["NCCL_DEBUG"] == "INFO"
    assert container["securityContext"]["capabilities"]["add"] == list(wiring.capabilities)
    assert pod["metadata"]["annotations"] == wiring.annotations
    assert [*wiring.volumes] == pod["spec"]["volumes"][:-1]
    assert [*wiring.mounts] == container["volumeMounts"][:-1]
    assert pod["spec"].get("initContainers", []) == list(wiring.init_containers)
    assert pod["spec"]["nodeSelector"] == {"gpuplatform.io/pool": "train"}


@pytest.mark.parametrize("stack", SAMPLES)
def test_every_taint_of_the_pool_is_tolerated_whatever_its_value(stack):
    profile = sample(stack)
    tolerated = job_of(profile)["spec"]["template"]["spec"]["tolerations"]
    assert {(each["key"], each["effect"]) for each in tolerated} == {
        (t.key, t.effect) for t in profile.taints
    }
    assert {each["operator"] for each in tolerated} == {"Exists"}


@pytest.mark.parametrize("stack", SAMPLES)
def test_every_mount_has_its_volume(stack):
    spec = job_of(sample(stack))["spec"]["template"]["spec"]
    names = [volume["name"] for volume in spec["volumes"]]
    assert len(names) == len(set(names))
    for container in (*spec["containers"], *spec.get("initContainers", ())):
        assert {mount["name"] for mount in container.get("volumeMounts", ())} <= set(names)


def test_each_cloud_and_fabric_has_an_image_of_its_own():
    images = {stack: image_for(sample(stack)) for stack in SAMPLES}
    assert images["aws-prod"].startswith("public.ecr.aws/hpc-cloud/nccl-tests:")
    assert images["azure-prod"].startswith("ghcr.io/azure/")
    assert "gpudirect-tcpxo" in images["gcp-prod"]
    assert len(set(images.values())) == 3
    (container,) = job_of(sample("aws-prod"), image="mine:1")["spec"]["template"]["spec"]["containers"]
    assert container["image"] == "mine:1"


def test_pods_stand_on_different_nodes_find_each_other_and_are_not_tried_twice(profile):
    objects = {each["kind"]: each for each in made(profile(), nodes=4)}
    spec = objects["Job"]["spec"]
    assert (spec["completionMode"], spec["completions"], spec["parallelism"]) == ("Indexed", 4, 4)
    assert spec["backoffLimit"] == 0
    pod = spec["template"]["spec"]
    (rule,) = pod["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert rule["topologyKey"] == "kubernetes.io/hostname"
    assert rule["labelSelector"]["matchLabels"] == spec["template"]["metadata"]["labels"]
    service = objects["Service"]
    assert service["spec"]["clusterIP"] == "None"
    assert service["spec"]["publishNotReadyAddresses"]
    assert service["spec"]["selector"] == spec["template"]["metadata"]["labels"]
    assert pod["subdomain"] == service["metadata"]["name"]
    environment = {each["name"]: each.get("value") for each in pod["containers"][0]["env"]}
    assert environment["SUBDOMAIN"] == service["metadata"]["name"]
    assert environment["JOB_NAME"] == objects["Job"]["metadata"]["name"]
    assert environment["NODES"] == "4"


def test_all_objects_are_in_the_one_namespace_that_is_deleted(profile):
    claims = ({"name": "domain", "resourceClaimTemplateName": "train-channel"},)
    domain = {"apiVersion": "resource.nvidia.com/v1beta1", "kind": "ComputeDomain", "metadata": {"name": "d"}}
    wiring = PodWiring(resources={"nvidia.com/gpu": "4"}, claims=claims, objects=(domain,))
    namespace, *others = made(profile(pod=wiring))
    assert namespace["kind"] == "Namespace"
    assert {each["metadata"]["namespace"] for each in others} == {namespace["metadata"]["name"]}
    assert [each["kind"] for each in others] == ["Secret", "Service", "ComputeDomain", "Job"]
    pod = others[-1]["spec"]["template"]["spec"]
    assert pod["resourceClaims"] == list(claims)
    assert pod["containers"][0]["resources"]["claims"] == [{"name": "domain"}]
    assert "namespace" not in domain["metadata"], "the profile's own object is left alone"


def test_the_tests_and_sizes_are_those_of_the_published_floor(profile):
    floor = Bandwidth(
        floor=25,
        metric="average",
        source="s",
        collective="all_gather",
        min_bytes=1 << 20,
        max_bytes=512 << 20,
    )
    pods = [job_of(profile(bandwidth=each))["spec"]["template"]["spec"] for each in (floor, None)]
    told = [{e["name"]: e.get("value") for e in pod["containers"][0]["env"]} for pod in pods]
    assert told[0]["COLLECTIVES"] == "all_reduce all_gather"
    assert (told[0]["MIN_BYTES"], told[0]["MAX_BYTES"]) == ("1048576", "536870912")
    assert told[1]["COLLECTIVES"] == "all_reduce"


def test_huge_pages_are_asked_for_together_with_memory():
    """The API refuses a pod that asks for huge pages and neither for processors nor memory."""
    (container,) = job_of(sample("aws-prod"))["spec"]["template"]["spec"]["containers"]
    requests = container["resources"]["requests"]
    assert "hugepages-2Mi" in requests
    assert "memory" in requests
    assert requests["hugepages-2Mi"] == container["resources"]["limits"]["hugepages-2Mi"]


def test_the_script_is_bash_and_the_manifests_are_yaml(profile, tmp_path: Path):
    file = tmp_path / "script.sh"
    file.write_text(SCRIPT)
    subprocess.run(["bash", "-n", str(file)], check=True)
    again = list(yaml.safe_load_all(yaml.safe_dump_all(made(profile()))))
    assert again[-1] == made(profile())[-1]
