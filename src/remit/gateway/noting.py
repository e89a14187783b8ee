"""The record of a call while the call is being made, so that a refusal is recorded whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from msgspec import structs

from remit.documents.canonical import compact_json
from remit.gateway.journal import asked, moment, requested, ruled
from remit.gateway.ledger import CallRow
from remit.gateway.permitting import Yes
from remit.gateway.steps import secrets_of
from remit.policy.decisions import Approval
from remit.values.secrets import NOTHING_SECRET, Masker

if TYPE_CHECKING:
    from remit.calls.arguments import Arguments
    from remit.calls.planning import FrozenRequest
    from remit.catalog.model import Tool
    from remit.gateway.apps import App
    from remit.gateway.commands import Command, Remembered
    from remit.gateway.ledger import CallStatus
    from remit.gateway.node import AppInForce, Held, Node
    from remit.gateway.permitting import Case
    from remit.policy.verdicts import Ruling
    from remit.values.json import JsonObject
    from remit.values.secrets import Secret


@final
class Notes:
    """What is known of one call so far.

    Attributes:
        record: the call record as far as it is written.
        tool: None until it was found.
    """

    def __init__(self, command: Command, call_id: str, traceparent: str, at: int) -> None:
        self.command = command
        self.call_id = call_id
        self.traceparent = traceparent
        self.at = at
        self.tool: Tool | None = None
        self.version = 0
        self._app: App | None = None
        self._secrets: tuple[Secret, ...] = ()
        self.record: JsonObject = {
            "id": call_id,
            "at": moment(at),
            "workspace": command.actor.workspace,
            "user": command.user,
            "actor": command.actor.label,
            "app": command.app,
            "version": 0,
            "tool": command.tool,
            "offeredAs": command.offered_as or command.tool,
            "source": command.source,
            **(_of_session(command) if command.session or command.run else {}),
            "traceId": traceparent[3:35],
        }

    @classmethod
    def of(cls, node: Node, command: Command) -> Notes:
        """The first notes of a call, with an id and a trace of its own."""
        call_id = command.call_id or node.ids.call_id()
        return cls(command, call_id, node.ids.traceparent(), node.wall.unix_ms())

    @property
    def masker(self) -> Masker:
        """Takes out of texts whatever secret is known by now; made when asked for."""
        return NOTHING_SECRET if self._app is None else self._app.masker(self._secrets)

    def stands(self, found: AppInForce) -> None:
        """The app was found."""
        self.version = found.version
        self.record |= {"version": self.version, "catalogDigest": found.catalog_digest}

    def settled(self, tool: Tool, arguments: Arguments, app: App) -> None:
        """The arguments are what they will be."""
        self._secrets = secrets_of(tool, arguments, app.catalog)
        self._app = app
        self.record |= asked(tool, arguments, self.masker)

    def frozen(self, request: FrozenRequest) -> None:
        """The request is frozen."""
        self.record["request"] = requested(request, self.masker)

    def judged(self, ruling: Ruling) -> None:
        """The rules have spoken."""
        self.record |= ruled(ruling.fired)

    def connected(self, held: Held, app: App) -> None:
        """It is known with which credential the call goes out."""
        self._app = app
        self.record["connectionId"] = held.connection_id
        if held.account is not None:
            self.record["account"] = held.account

    def remembered(self, case: Case, given: Remembered) -> Case:
        """A person's yes of before holds for this request, too."""
        self.record |= {"answeredBy": given.by, "remembered": True}
        approval = Approval(digest=case.frozen.request.digest, by=given.by)
        yes = Yes(approval=approval, is_user=given.is_user, is_operator=given.is_operator)
        return structs.replace(case, record=self.record, yes=yes)

    def row(
        self,
        status: CallStatus,
        at: int,
        record: JsonObject,
        *,
        private: str | None = None,
        sent_at: int | None = None,
        node: str | None = None,
    ) -> CallRow:
        """The call as a row of the ledger."""
        command, tool = self.command, self.tool
        return CallRow(
            workspace=command.workspace,
            id=self.call_id,
            app=command.app,
            version=self.version,
            tool=command.tool,
            user=command.user,
            status=status,
            category="" if tool is None else tool.category.word,
            danger_level="" if tool is None else tool.danger_level.word,
            source=command.source,
            at=self.at,
            updated_at=at,
            record_json=compact_json(record),
            session=command.session,
            response_seq=command.response_seq,
            model_call_id=command.model_call_id,
            run=command.run,
            sent_at=sent_at,
            node=node,
            private=private,
        )


def _of_session(command: Command) -> JsonObject:
    named: JsonObject = {
        "sessionId": command.session,
        "runId": command.run,
        "seq": command.response_seq,
        "model": command.model,
        "held": command.held if command.model is not None else None,
    }
    return {name: value for name, value in named.items() if value is not None}
