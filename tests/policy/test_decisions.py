"""May this call run: allow, ask or deny; and once more at the send (contract section 5)."""

from __future__ import annotations

import pytest
from msgspec import structs

from remit.catalog.scales import Category, Ceiling, DangerLevel
from remit.policy.decisions import (
    Allow,
    AllowedCall,
    Approval,
    Ask,
    Deny,
    SendableCall,
    decide,
    recheck,
)
from tests.calls.making import planned
from tests.catalog.documents import endpoint_tool, load_tool

HIGHEST = Ceiling(category=Category.ACTION, danger_level=DangerLevel.DESTRUCTIVE)
LOWEST = Ceiling(category=Category.READ, danger_level=DangerLevel.SAFE)


def allowed(approval: Approval | None = None, **changes: object) -> AllowedCall:
    """A frozen request with the yes that it has."""
    loaded = load_tool(endpoint_tool(**changes))
    return AllowedCall(request=planned(loaded, {}), tool=loaded[0], approval=approval)


@pytest.mark.promise("T-15")
@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, Allow),
        ({"category": "action", "dangerLevel": "moderate"}, Allow),
        ({"requiresApproval": True}, Ask),
        ({"dangerLevel": "destructive"}, Ask),
        ({"requiresApproval": True, "dangerLevel": "destructive"}, Ask),
    ],
)
def test_approval_and_danger_ask_a_person(changes: dict[str, object], verdict: type) -> None:
    """`requiresApproval` always asks; so does `destructive` by default (section 5, step 6)."""
    call = allowed(**changes)

    assert isinstance(decide(call.tool, HIGHEST), verdict)
    assert isinstance(recheck(call, ceiling=HIGHEST), Deny if verdict is Ask else SendableCall)


def test_own_approval_is_not_to_be_remembered() -> None:
    """`remember` only where the policy alone asked (contract section 9)."""
    for changes in ({"requiresApproval": True}, {"dangerLevel": "destructive"}):
        verdict = decide(allowed(**changes).tool, HIGHEST)
        assert isinstance(verdict, Ask)
        assert not verdict.rememberable


def test_ceiling_outweighs_every_yes() -> None:
    """The tool is within the ceiling *now*, also after an approval (section 5, step 7)."""
    call = allowed(requiresApproval=True, category="write")
    call = structs.replace(call, approval=Approval(digest=call.request.digest, by="ana"))

    verdict = recheck(call, ceiling=LOWEST)
    assert isinstance(verdict, Deny)
    assert verdict.code == "over_ceiling"
    assert isinstance(recheck(call, ceiling=HIGHEST), SendableCall)


def test_yes_is_for_the_request_that_was_shown() -> None:
    """An approval carries the digest of what was shown; nothing else runs on it (5)."""
    call = allowed(requiresApproval=True)
    other = Approval(digest="0" * 64, by="ana")

    verdict = recheck(structs.replace(call, approval=other), ceiling=HIGHEST)
    assert isinstance(verdict, Deny)
    assert verdict.reason == "the approval was given for another request"
    sendable = recheck(
        structs.replace(call, approval=Approval(digest=call.request.digest, by="ana")),
        ceiling=HIGHEST,
    )
    assert isinstance(sendable, SendableCall)
    assert sendable.request is call.request
