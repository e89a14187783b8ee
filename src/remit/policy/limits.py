"""The limits of a policy: how much may happen before nothing more does (contract section 18).

Whoever keeps the records counts; what a count means is said here.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The most of each; None is no limit, 0 is none at all.

    Attributes:
        calls_per_run: calls in one run.
        writes_per_run: calls in one run of tools that are not ``read``.
        tokens_per_user_day: model tokens, in and out, of one user in one day (UTC).
    """

    calls_per_run: int | None = None
    writes_per_run: int | None = None
    tokens_per_user_day: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """What there has been so far, the call that is asked about left out.

    Attributes:
        calls: calls of this run that were sent, or wait to be.
        writes: those of them whose tool is not ``read``.
        tokens: of this user, today.
    """

    calls: int = 0
    writes: int = 0
    tokens: int = 0


def over_limit(limits: Limits, counts: Counts, *, writes: bool) -> str | None:
    """Why one more call may not run, in words, or None.

    Args:
        limits: of the policy in force.
        counts: what there has been.
        writes: whether the tool of that call is not ``read``. A run that has used up its writes
            may still read.
    """
    if _used_up(limits.calls_per_run, counts.calls):
        return f"the policy allows {_many(limits.calls_per_run, 'call')} in one run, and no more"
    if writes and _used_up(limits.writes_per_run, counts.writes):
        return (
            f"the policy allows {_many(limits.writes_per_run, 'call')} in one run that "
            "change something, and no more"
        )
    if _used_up(limits.tokens_per_user_day, counts.tokens):
        return (
            f"the policy allows {_many(limits.tokens_per_user_day, 'token')} for one user in "
            "one day, and no more"
        )
    return None


def _used_up(limit: int | None, count: int) -> bool:
    return limit is not None and count >= limit


def _many(limit: int | None, noun: str) -> str:
    count = limit or 0
    return f"{count:,} {noun}{'' if count == 1 else 's'}" if count else f"no {noun}s"
