"""No two stacks share a variable on GitHub."""

from __future__ import annotations

import pytest

from gpuplatform.errors import ConfigError
from gpuplatform.trust import variable


def test_a_stack_s_variable_is_its_name_in_capitals() -> None:
    assert variable("aws-dev", "DEPLOY_ROLE") == "AWS_DEV_DEPLOY_ROLE"


@pytest.mark.parametrize("stack", ["aws_dev", "aws.dev", "AWS-dev", "1-dev", "github-x", ""])
def test_a_name_that_could_be_another_stack_s_is_refused(stack: str) -> None:
    with pytest.raises(ConfigError, match="gives no name of a variable"):
        variable(stack, "DEPLOY_ROLE")
