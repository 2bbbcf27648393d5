from __future__ import annotations

import pytest
import yaml

from gpuplatform.errors import ConfigError
from gpuplatform.sandbox import stack_config
from gpuplatform.sandbox.workspace import Home, find_project


@pytest.fixture
def home(tmp_path):
    return Home(root=tmp_path / "home" / "sandbox")


def write(project, stack, text):
    file = project / "stacks" / "config" / f"Pulumi.{stack}.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def copy(project, home, stack="dev", given=None):
    return stack_config.copy(find_project(project), home, stack, given)


REAL = """\
secretsprovider: awskms://alias/prod?region=us-east-1
encryptedkey: AQICAHi0=
# yaml-language-server: $schema=x
encryptionsalt: v1:real:v1:abc
config:
  tiny:size: "3"          # a comment
  tiny:list: [1, 2]
"""


def test_the_keys_of_the_real_state_are_left_out_and_all_else_stays(project, home):
    write(project, "dev", REAL)

    text = copy(project, home).read_text()

    assert text == REAL[REAL.index("# yaml") :].replace("encryptionsalt: v1:real:v1:abc\n", "")


def test_the_users_file_is_not_touched(project, home):
    file = write(project, "dev", REAL)
    before = file.read_bytes(), file.stat().st_mtime_ns

    copy(project, home)

    assert (file.read_bytes(), file.stat().st_mtime_ns) == before


def test_the_sandboxs_own_salt_outlives_a_change_of_the_users_file(project, home):
    first = copy(project, home)
    first.write_text(first.read_text() + "encryptionsalt: v1:own:v1:xyz\n")
    write(project, "dev", 'config:\n  tiny:size: "4"')

    data = yaml.safe_load(copy(project, home).read_text())

    assert data == {"config": {"tiny:size": "4"}, "encryptionsalt": "v1:own:v1:xyz"}


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("config:\n  tiny:password:\n    secure: v1:x\n", "tiny:password"),
        ("config:\n  gpuplatform:platform:\n    a:\n      b: {secure: v1:x}\n", "gpuplatform:platform.a.b"),
        (
            "config:\n  gpuplatform:platform:\n    pools: [{sku: {secure: v1:x}}]\n",
            "gpuplatform:platform.pools[0].sku",
        ),
        ("config:\n  tiny:a: {secure: x}\n  tiny:b: {secure: y}\n", "tiny:a, tiny:b are"),
    ],
)
def test_an_encrypted_value_is_refused_by_its_path_wherever_it_stands(project, home, text, path):
    write(project, "dev", text)

    with pytest.raises(ConfigError) as caught:
        copy(project, home)

    assert path in str(caught.value)
    assert "Pulumi.dev.yaml" in caught.value.where
    assert "--config-file" in caught.value.way_out


def test_a_value_that_only_looks_encrypted_is_kept(project, home):
    write(project, "dev", "config:\n  tiny:api: {secure: true, port: 443}\n")

    assert "port: 443" in copy(project, home).read_text()


def test_values_from_pulumi_esc_are_refused(project, home):
    write(project, "dev", "environment: [prod]\nconfig: {}\n")

    with pytest.raises(ConfigError, match="Pulumi ESC"):
        copy(project, home)


@pytest.mark.parametrize("text", ["config: [1\n", "a: b: c\n", "\tx: 1\n", "config:\n  x: 1\n x: 2\n"])
def test_a_file_that_is_no_yaml_is_refused_with_its_place(project, home, text):
    write(project, "dev", text)

    with pytest.raises(ConfigError, match="no YAML") as caught:
        copy(project, home)

    assert "Pulumi.dev.yaml:" in caught.value.where


def test_a_file_that_is_no_text_is_refused(project, home):
    (project / "stacks/config/Pulumi.dev.yaml").write_bytes(b"\xff\xfe\x00config")

    with pytest.raises(ConfigError, match="UTF-8"):
        copy(project, home)


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing\n"])
def test_an_empty_file_is_copied_and_left_to_the_program_to_judge(project, home, text):
    write(project, "dev", text)

    assert copy(project, home).read_text() == text


@pytest.mark.parametrize("text", ["{encryptionsalt: v1:real, config: {}}\n", '"encryptionsalt": v1:real\n'])
def test_a_salt_that_cannot_be_cut_out_is_refused_rather_than_carried_over(project, home, text):
    write(project, "dev", text)

    with pytest.raises(ConfigError, match="cannot leave out encryptionsalt"):
        copy(project, home)


def test_a_stack_without_a_file_is_refused_with_the_nearest_name(project, home):
    with pytest.raises(ConfigError, match="'prdo'") as caught:
        copy(project, home, "prdo")

    assert "did you mean 'prod'" in caught.value.way_out
    assert "dev, prod" in caught.value.way_out


def test_a_project_without_any_stack_file_gets_an_empty_one(project, home):
    for file in (project / "stacks/config").iterdir():
        file.unlink()

    assert copy(project, home, "anything").read_text() == ""


def test_a_file_named_by_the_user_is_copied_in_place_of_the_projects_own(project, home, tmp_path):
    given = tmp_path / "other.yaml"
    given.write_text("config: {tiny:size: 1}\n")

    assert copy(project, home, given=given).read_text() == "config: {tiny:size: 1}\n"


def test_a_file_named_by_the_user_that_is_not_there_is_refused(project, home, tmp_path):
    with pytest.raises(ConfigError) as caught:
        copy(project, home, given=tmp_path / "none.yaml")

    assert "none.yaml" in caught.value.where


def test_the_shadow_project_has_the_same_name_and_none_of_the_projects_settings(project, home):
    copy(project, home)

    shadow = yaml.safe_load((home.shadow(find_project(project)) / "Pulumi.yaml").read_text())

    assert shadow == {"name": "tiny", "runtime": "python"}


@pytest.mark.parametrize("text", ["", "runtime: python\n", "- a\n", "name: 3\n", "name: ''\n"])
def test_a_pulumi_yaml_without_a_name_is_refused(tmp_path, text):
    (tmp_path / "Pulumi.yaml").write_text(text)

    with pytest.raises(ConfigError, match="needs a name"):
        find_project(tmp_path)


def test_a_folder_outside_any_project_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"no Pulumi\.yaml"):
        find_project(tmp_path)


@pytest.mark.parametrize(
    ("line", "folder"),
    [("stackConfigDir: a/b", "a/b"), ("config: a", "a"), ("config: {x:y: 1}", "."), ("", ".")],
)
def test_stack_files_are_where_the_engine_looks_for_them(tmp_path, line, folder):
    (tmp_path / "Pulumi.yaml").write_text(f"name: x\nruntime: python\n{line}\n")

    assert find_project(tmp_path).stack_file("dev") == tmp_path / folder / "Pulumi.dev.yaml"
