"""May this call go out now: asked before a person is asked, and again at the send (section 5, 7).

What is looked at: the app stands and its tool is within the ceiling, the request goes where the
remit in force says, the user consents, the same connection and account as were shown are there,
and the policy in force still lets it through with the yes that it has.
"""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from remit.calls.planning import reachable
from remit.calls.wire import carries_credential, use_credential
from remit.catalog.model import AppTarget
from remit.errors import (
    AppSuspended,
    ConsentRequired,
    Denied,
    NotApproved,
    NotConnected,
    NotFound,
    OverCeiling,
)
from remit.gateway.apps import App
from remit.gateway.identity import Identity, component_audience
from remit.gateway.node import NotStanding
from remit.gateway.steps import denial
from remit.policy.decisions import AllowedCall, Ask, Deny, may_answer, recheck
from remit.policy.reach import why_elsewhere
from remit.policy.verdicts import evaluate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.catalog.model import Definition, Tool
    from remit.gateway.freezing import FrozenCall
    from remit.gateway.ledger import Source
    from remit.gateway.node import AppInForce, Held, Node
    from remit.policy.decisions import Approval, SendableCall
    from remit.policy.verdicts import Ruling
    from remit.values.json import JsonObject
    from remit.values.secrets import Secret


class Yes(Struct, frozen=True, kw_only=True):
    """A person's yes, with what they were when they said it.

    Attributes:
        is_user: the user whom the call concerns; ``is_operator``: of the workspace.
    """

    approval: Approval
    is_user: bool
    is_operator: bool


#: Of a tool that takes none.
NO_ENV: Mapping[str, Secret] = MappingProxyType({})


class Case(Struct, frozen=True, kw_only=True):
    """One call on its way, with all that is known of it.

    Attributes:
        record: the call record as far as it is written.
        yes: None where nobody has said it.
    """

    workspace: str
    call_id: str
    app: str
    user: str
    source: Source
    record: JsonObject
    frozen: FrozenCall
    yes: Yes | None = None

    @property
    def tool(self) -> Tool:
        """The tool, as it was when the request was frozen."""
        return self.frozen.tool

    def connected(self, held: Held) -> Case:
        """The same, to be sent with that credential and no other."""
        frozen = structs.replace(
            self.frozen, connection_id=held.connection_id, account=held.account
        )
        return structs.replace(self, frozen=frozen)


class Access(Struct, frozen=True, kw_only=True):
    """What a call is made with: the app as this user has it now."""

    app: App
    held: Held | None = None


class Permit(Struct, frozen=True, kw_only=True):
    """Everything that the send needs; made just before it."""

    sendable: SendableCall
    app: App
    standing: AppInForce


async def standing(node: Node, workspace: str, app: str) -> AppInForce:
    """The app as it stands now.

    Raises:
        NotFound: there is none of that id in this workspace.
        NotApproved, AppSuspended: no call may be made in it.
    """
    found = await node.standing.app(workspace, app)
    if not isinstance(found, NotStanding):
        return found
    if found.code == "unknown_app":
        raise NotFound(found.reason)
    raise (AppSuspended if found.code == "app_suspended" else NotApproved)(found.reason)


async def access(node: Node, case: Case, found: AppInForce) -> Access:
    """What the call goes out with, if the user may make it.

    Raises:
        OverCeiling: the catalog in force has the tool above the ceiling.
        Denied: the request goes where the remit in force sends nothing.
        ConsentRequired: the user's consent is missing.
        NotConnected: no usable credential, or another one than was shown.
    """
    tool, definition = case.frozen.tool, found.definition
    if found.catalog.tool(tool.name) is None:
        dropped = found.catalog.dropped_tool(tool.name)
        if dropped is not None and dropped.over_ceiling:
            raise OverCeiling(f"{tool.name} was not called: {dropped.reason}.")
    # Else the reviewer consented for everybody.
    if found.approved_version.consent != "workspace":
        missing = await node.consents.missing(case.workspace, found, case.user)
        if missing is not None:
            raise ConsentRequired(f"{tool.name} was not called: {missing}")
    if found.version != case.frozen.request.version or case.source == "button":
        _refuse_elsewhere(definition, case.frozen)
    held = None
    carries, auth = carries_credential(tool), definition.auth
    if carries and auth.type not in {"none", "identity"}:
        held = _same(case, await node.wallet.credential(case.workspace, found, case.user))
    credential = None if held is None else held.secret
    use = None
    if carries and auth.type != "identity":
        # Before anybody is asked: a yes should not be wasted on what cannot be sent.
        use = use_credential(auth, credential)
    app = App(
        definition=definition,
        catalog=found.catalog,
        credential=credential,
        use=use,
        env=await env_of(node, case.workspace, found, tool) if takes_env(tool) else NO_ENV,
        version=node.terms.version,
        brand=node.terms.brand,
    )
    return Access(app=app, held=held)


def takes_env(tool: Tool) -> bool:
    """Whether the tool names an env value; most do not, and nothing is opened for them."""
    template = tool.request
    return template is not None and bool(template.env_names)


async def env_of(node: Node, workspace: str, found: AppInForce, tool: Tool) -> Mapping[str, Secret]:
    """The env values that a tool can use."""
    return await node.wallet.env(workspace, found, tool) if takes_env(tool) else NO_ENV


async def permitted(
    node: Node,
    case: Case,
    *,
    found: AppInForce | None = None,
    ruling: Ruling | None = None,
    given: Access | None = None,
) -> Permit:
    """Ask everything again, now; only what comes out of here is sent.

    Args:
        node: where it is asked.
        case: what is to be sent.
        found: how the app stands, where that was looked up in this very step.
        ruling: what the policy says, likewise.
        given: what the call goes out with, likewise.

    Raises:
        CallError: it may not be sent; nothing was.
    """
    found = found or await standing(node, case.workspace, case.app)
    given = given or await access(node, case, found)
    ruling = ruling or judged(case, found)
    call = AllowedCall(
        request=case.frozen.request,
        tool=case.tool,
        approval=None if case.yes is None else case.yes.approval,
    )
    _refuse_wrong_person(case, ruling)
    verdict = recheck(call, ceiling=found.definition.ceiling, verdict=ruling.verdict)
    if isinstance(verdict, Deny):
        raise denial(case.tool, verdict)
    app = given.app
    if takes_identity(case.tool, app):
        app = await signed(node, case, found, app)
    return Permit(sendable=verdict, app=app, standing=found)


def judged(case: Case, found: AppInForce) -> Ruling:
    """What the built-in rules and the policy in force say of the call, over its final arguments.

    Where a refresh tightened the tool meanwhile, the stricter judgement holds.
    """
    tool = case.frozen.tool
    return evaluate(
        found.policy,
        stricter(tool, found.catalog.tool(tool.name)),
        app=case.app,
        ceiling=found.definition.ceiling,
        args=reachable(tool, case.frozen.arguments),
        source=case.source,
    )


def takes_identity(tool: Tool, app: App) -> bool:
    """Whether the tool's destination wants an identity token (section 8)."""
    if isinstance(tool.destination, AppTarget):
        return True
    return app.definition.auth.type == "identity" and carries_credential(tool)


async def signed(node: Node, case: Case, found: AppInForce, app: App) -> App:
    """The app with a fresh identity token, where its destination wants one (section 8)."""
    if not takes_identity(case.tool, app):
        return app
    destination = case.tool.destination
    if isinstance(destination, AppTarget):
        audience = component_audience(case.app, destination.component)
    else:
        audience = str(case.frozen.request.origin)
    identity = Identity(
        audience=audience,
        user=case.user,
        workspace=case.workspace,
        installation=found.installation,
        call_id=case.call_id,
    )
    token = await node.minter.mint(identity, now_s=node.wall.unix_ms() // 1000)
    if isinstance(destination, AppTarget):
        return structs.replace(app, identity=token)
    return structs.replace(app, credential=token)


def _same(case: Case, held: Held | str) -> Held:
    """The credential, if it is the one that was shown."""
    if isinstance(held, str):
        raise NotConnected(f"{case.tool.name} was not called: {held}")
    frozen = case.frozen
    shown = (frozen.connection_id, frozen.account)
    if frozen.connection_id is not None and shown != (held.connection_id, held.account):
        raise NotConnected(
            f"{case.tool.name} was not called: the account was connected anew since this request "
            "was shown, and another one may stand behind it. Call again."
        )
    return held


def _refuse_elsewhere(definition: Definition, frozen: FrozenCall) -> None:
    """Hold the frozen request to the remit in force: its origin, and the env that goes there."""
    tool, request = frozen.tool, frozen.request
    why = why_elsewhere(definition, tool.destination, str(request.origin), request.env_names)
    if why is not None:
        raise Denied(f"{tool.name} was not called: {why}. Call again.")


def _refuse_wrong_person(case: Case, ruling: Ruling) -> None:
    """Hold an approval to the rule in force: it may ask for somebody else by now."""
    yes, verdict = case.yes, ruling.verdict
    if yes is None or not isinstance(verdict, Ask):
        return
    if not may_answer(verdict, is_user=yes.is_user, is_operator=yes.is_operator):
        raise Denied(
            f"{case.tool.name} was not called: the policy in force wants another person's yes "
            f"than the one it has: {verdict.reason}. Call again."
        )


def stricter(tool: Tool, current: Tool | None) -> Tool:
    """The tool with the stricter of two judgements; itself where there is no other."""
    if current is None or current is tool:
        return tool
    return replace(
        tool,
        category=max(tool.category, current.category),
        danger_level=max(tool.danger_level, current.danger_level),
        requires_approval=tool.requires_approval or current.requires_approval,
    )
