"""What a person must have done before a deployment, in words."""

from __future__ import annotations

import pytest
from samples import config_of

from gpuplatform.platform.preconditions import preconditions_of


@pytest.mark.parametrize(
    ("stack", "viewer", "said"),
    [
        ("aws-dev", "arn:aws:iam::123456789012:role/preview", "EKS refuses an access entry"),
        ("azure-dev", "00000000-0000-4000-8000-0000000000bb", "a member of a group in cluster.viewers"),
        ("gcp-dev", "serviceAccount:preview@example.iam.gserviceaccount.com", "IAM refuses a policy"),
    ],
)
def test_who_looks_at_the_cluster_must_exist_before(stack: str, viewer: str, said: str) -> None:
    config = config_of(stack)
    cluster = config.cluster.model_copy(update={"viewers": (viewer,)})
    found = preconditions_of(config.model_copy(update={"cluster": cluster}), (), ())
    (sentence,) = (sentence for what, sentence in found if what == "cluster")
    assert said in sentence
    assert not [what for what, _ in preconditions_of(config, (), ()) if what == "cluster"]
