"""A short form of `make chaos`: a killed server sends nothing twice and loses nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.chaos.running import Plan, run


@pytest.mark.parametrize(
    "plan",
    [
        Plan(calls=1_500, kills=4, store="sqlite", seed=1),
        Plan(calls=600, kills=2, store="postgresql", seed=2),
    ],
    ids=lambda plan: plan.store,
)
def test_server_that_is_killed_sends_nothing_twice_and_loses_nothing(
    plan: Plan, tmp_path: Path
) -> None:
    """Whenever it dies: one record a call, true to what the app saw (sections 5 and 10)."""
    report = run(plan, tmp_path)

    said = "\n".join(report.lines())
    assert report.violations == [], said
    assert report.outcomes.total() == plan.calls, said
    # Else it would have shown nothing: bytes of a write were out at a kill, and nobody knows.
    assert len(report.evidence.kills) == plan.kills, said
    assert any(kill.out for kill in report.evidence.kills), said
    assert report.outcomes["outcome_unknown"] > 0, said
    assert report.counts["repeats"] > 0, said
