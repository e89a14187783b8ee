"""May this call run: allow, ask or deny, with a reason; and once more at the send (section 5).

Three types carry the rule. A ``FrozenRequest`` is built and digested; an ``AllowedCall`` had the
yes of the policy or of a person; a ``SendableCall`` had its permission checked again *now*. Only
``recheck`` makes the third, and the gateway sends nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec import Struct

from remit.catalog.scales import DangerLevel
from remit.policy.catalogs import over_ceiling

if TYPE_CHECKING:
    from remit.calls.planning import FrozenRequest
    from remit.catalog.model import Tool
    from remit.catalog.scales import Ceiling

Asked = Literal["user", "operator", "other"]
RefusalCode = Literal["denied", "over_ceiling"]


class Allow(Struct, frozen=True, kw_only=True):
    """The call may run; ``reason`` says which rule let it."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A person must say yes first.

    Attributes:
        reason: why, for the card.
        by: who may answer; ``may_answer`` says what each word means.
        rememberable: False where the tool itself asks or is destructive (contract section 9).
        apart: whether whoever answers must not be the session's user; always with ``other``.
    """

    reason: str
    by: Asked = "user"
    rememberable: bool = False
    apart: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Deny:
    """The call may not run; ``code`` is the error it ends with."""

    code: RefusalCode
    reason: str


Verdict: TypeAlias = "Allow | Ask | Deny"


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """A person's yes to one exact request.

    Attributes:
        digest: of the request that was shown; nothing else may run on this yes.
        by: who said it.
    """

    digest: str
    by: str


class AllowedCall(Struct, frozen=True, kw_only=True):
    """A frozen request with the yes that it has."""

    request: FrozenRequest
    tool: Tool
    approval: Approval | None


class SendableCall(Struct, frozen=True, kw_only=True):
    """A call whose permission was checked just now. Made by ``recheck`` alone."""

    request: FrozenRequest
    tool: Tool


_ALLOWED = Allow(reason="under the ceiling, and nothing asks for a person")
#: Why the built-in rules ask.
APPROVAL_REASON = "the app asks for a person's approval of this tool"
DESTRUCTIVE_REASON = "the tool is destructive"


def may_answer(ask: Ask, *, is_user: bool, is_operator: bool) -> bool:
    """Whether a signed-in person may answer (contract section 9, "Inputs").

    Args:
        ask: what is asked.
        is_user: whether they are the user whom the call concerns.
        is_operator: whether they are an operator of the workspace.
    """
    if is_user and ask.apart:
        return False
    if ask.by == "operator":
        return is_operator
    return ask.by == "other" or is_user or is_operator


def decide(tool: Tool, ceiling: Ceiling) -> Verdict:
    """Judge a tool by the built-in rules (contract sections 5 and 18).

    They are the ceiling and the tool's own approval flag, which no policy lowers, and asking
    before anything destructive, which is the default.
    """
    over = over_ceiling(tool, ceiling)
    if over is not None:
        return Deny(code="over_ceiling", reason=over)
    if tool.requires_approval:
        return Ask(reason=APPROVAL_REASON)
    if tool.danger_level is DangerLevel.DESTRUCTIVE:
        return Ask(reason=DESTRUCTIVE_REASON)
    return _ALLOWED


def asks_by_default(tool: Tool) -> bool:
    """Whether a person is asked before each call, as long as no policy says otherwise."""
    return tool.requires_approval or tool.danger_level is DangerLevel.DESTRUCTIVE


def recheck(
    call: AllowedCall, *, ceiling: Ceiling, verdict: Verdict | None = None
) -> SendableCall | Deny:
    """Check the permission of a call again, just before it is sent.

    Args:
        call: what was allowed; perhaps a while ago.
        ceiling: the ceiling in force now.
        verdict: of the policy in force now, by ``evaluate``; without one the built-in rules are
            all there is. It lifts neither the ceiling nor the tool's own approval flag.
    """
    standing = decide(call.tool, ceiling)
    lowered = isinstance(verdict, Allow) and call.tool.requires_approval
    if verdict is None or isinstance(standing, Deny) or lowered:
        verdict = standing
    if isinstance(verdict, Deny):
        return verdict
    if isinstance(verdict, Ask):
        if call.approval is None:
            return Deny(code="denied", reason=f"nobody approved it: {verdict.reason}")
        if call.approval.digest != call.request.digest:
            return Deny(code="denied", reason="the approval was given for another request")
    return SendableCall(request=call.request, tool=call.tool)
