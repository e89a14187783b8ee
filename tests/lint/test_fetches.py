"""What a fetch of `toolsUrl` tells of it."""

from __future__ import annotations

import pytest

from remit.lint.fetches import lint_fetch


@pytest.mark.promise("T-63")
@pytest.mark.parametrize(
    ("elapsed_ms", "size_bytes", "findings"),
    [
        (40, 10_000, 0),
        (1_000, 1_048_576, 0),
        (1_001, 10_000, 1),
        (40, 1_048_577, 1),
        (1_900, 2_000_000, 2),
    ],
)
def test_a_catalog_that_is_slow_or_large_is_found(
    elapsed_ms: int, size_bytes: int, findings: int
) -> None:
    """Seed, checklist: toolsUrl answers quickly; contract section 7: 2 s, 2 MiB."""
    found = lint_fetch(elapsed_ms=elapsed_ms, size_bytes=size_bytes)
    assert [(m.rule, m.level) for m in found] == [("tools-url-slow", "warning")] * findings


def test_a_catalog_that_cannot_be_fetched_is_one_error() -> None:
    """`--fetch` asked to judge what is there."""
    (found,) = lint_fetch(
        elapsed_ms=0, size_bytes=0, failure="https://a.example/t answered 503.\nTry again."
    )
    assert (found.rule, found.level, found.pointer) == (
        "tools-url-unreachable",
        "error",
        "/toolsUrl",
    )
    assert found.message.endswith("to judge: https://a.example/t answered 503. Try again.")
