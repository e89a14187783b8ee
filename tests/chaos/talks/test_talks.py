"""A short form of `make chaos`: conversations go on, whatever befalls their servers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.chaos.talks.running import Plan, run


@pytest.mark.parametrize(
    "plan",
    [
        Plan(sessions=8, deaths=2, store="sqlite", seed=1, at_once=6),
        Plan(sessions=8, deaths=1, store="postgresql", seed=2, at_once=6, stopped_s=12),
    ],
    ids=lambda plan: plan.store,
)
def test_conversations_outlive_their_servers_and_send_no_write_twice(
    plan: Plan, tmp_path: Path
) -> None:
    """Killed, or stopped beyond the lease: each log is whole, each call has one result (section 9).

    No write came twice, no message that was accepted is lost, every session ends as it should.
    """
    report = run(plan, tmp_path)
    for more in range(1, 5):
        if plan.store != "postgresql" or any(one.held for one in report.evidence.deaths):
            break
        # By chance every session was over, or rested elsewhere: again, at other moments.
        place = tmp_path / f"again-{more}"
        place.mkdir()
        report = run(replace(plan, seed=plan.seed + 3 * more, sessions=16), place)

    said = "\n".join(report.lines())
    assert report.violations == [], said
    assert all(held.settled for held in report.evidence.talks), said
    # Else it would have shown nothing.
    kinds = [death.kind for death in report.evidence.deaths]
    assert kinds.count("kill") == plan.deaths, said
    if plan.store == "postgresql":
        assert kinds.count("stop") == plan.deaths, said
        assert sum(death.held for death in report.evidence.deaths) > 0, said
    else:
        assert any(death.out for death in report.evidence.deaths), said
        assert report.outcomes["outcome_unknown"] > 0, said
