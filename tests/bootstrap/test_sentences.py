"""What a bootstrap says where the cloud has things already."""

from __future__ import annotations

import pytest

from gpuplatform.bootstrap.run import _failure, _lost
from gpuplatform.sandbox.events import Diagnostic, Result


def result(message: str) -> Result:
    return Result(
        exit_code=1,
        counts={},
        outputs={},
        diagnostics=(Diagnostic(severity="error", message=message),),
        violations=(),
        types={},
        duration_seconds=1,
    )


TAKEN = "creating IAM OpenIDConnectProvider: EntityAlreadyExists: Provider with url ... already exists"


@pytest.mark.parametrize(
    "end", [lambda found: _lost(found, {"deployment": {}}, "f"), lambda f: _failure(f, "f")]
)
def test_an_account_that_trusts_github_already_is_told_the_key_for_it(end) -> None:
    assert "`create_provider: false`" in end(result(TAKEN)).way_out
    assert "create_provider" not in end(result("creating S3 Bucket: BucketAlreadyOwnedByYou")).way_out
