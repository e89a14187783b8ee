"""What a fetch of ``toolsUrl`` tells: whether it answers, and how quickly (contract section 7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.catalog.mistakes import Mistake

if TYPE_CHECKING:
    from remit.catalog.mistakes import Level

BUDGET_MS = 2_000
BUDGET_BYTES = 2 * 1024 * 1024
_AT = "/toolsUrl"


def lint_fetch(
    *, elapsed_ms: int, size_bytes: int, failure: str | None = None
) -> tuple[Mistake, ...]:
    """Judge one fetch of a catalog, made for ``remit lint --fetch``.

    Args:
        elapsed_ms: from the start of the request to the last byte.
        size_bytes: of the body, decompressed.
        failure: why there is no catalog, in a sentence ("… answered 503."); None where there is
            one.
    """
    if failure is not None:
        return (
            _finding(
                "tools-url-unreachable",
                "error",
                f"toolsUrl gives no catalog to judge: {' '.join(failure.split())}",
                "make the address answer; until it does, sessions use the last good snapshot, "
                "then the static tools",
            ),
        )
    found: list[Mistake] = []
    if elapsed_ms > BUDGET_MS // 2:
        found.append(
            _finding(
                "tools-url-slow",
                "warning",
                f"toolsUrl took {elapsed_ms:,} ms; after {BUDGET_MS:,} ms a session starts "
                f"without it",
                "serve the catalog from memory, with an ETag",
            )
        )
    if size_bytes > BUDGET_BYTES // 2:
        found.append(
            _finding(
                "tools-url-slow",
                "warning",
                f"the fetched catalog has {size_bytes:,} bytes; more than {BUDGET_BYTES:,} are "
                f"not read",
                "offer fewer tools, or shorten their schemas",
            )
        )
    return tuple(found)


def _finding(rule: str, level: Level, message: str, mend: str) -> Mistake:
    return Mistake(
        rule=rule, level=level, tool=None, pointer=_AT, at=_AT, message=message, mend=mend
    )
