"""A call of a client's tool at rest: what its row keeps, and how it ended.

The tool is kept as it was when the call was made: whoever takes the call up later, after an
approval or with the client's result, needs no announcement and no catalog for it.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any, cast

from msgspec import Struct

from remit.calls.arguments import Arguments
from remit.calls.repair import Repair
from remit.catalog.model import ClientTarget
from remit.catalog.requests import Surroundings
from remit.catalog.scales import Category, Ceiling, DangerLevel
from remit.documents.canonical import canonical_json, compact_json
from remit.errors import NotApproved
from remit.gateway.announcements import WIDGET, as_widget
from remit.gateway.freezing import Unreadable, tool_json, tool_of
from remit.gateway.journal import Ended
from remit.gateway.resting import opened_text, sealed_text
from remit.values.secrets import Masker

if TYPE_CHECKING:
    from remit.catalog.model import Tool
    from remit.gateway.ledger import CallRow, Source
    from remit.gateway.node import Node
    from remit.values.json import JsonObject, JsonValue

#: What ``target`` of a call record says of a call that a client executes.
CLIENT = "client"
_FORM = 1


class Kept(Struct, frozen=True, kw_only=True):
    """What a call of a client's tool needs to go on.

    Attributes:
        app: id of the app whose tool it is; empty for one that a client announced.
        schema_digest: of the announced tool; empty for an app's.
        ceiling: of what clients announce, as the session had it.
        wanted: the client that is asked first.
        source: ``button`` where a press of an action card made it.
        device: the one that may execute it, where the card was for one; None for any.
    """

    session: str
    app: str
    tool: Tool
    arguments: Arguments
    schema_digest: str
    ceiling: Ceiling
    wanted: str | None
    source: Source = "session"
    device: str | None = None

    @property
    def handler(self) -> str | None:
        """The client's own handler that an app's tool goes to."""
        target = self.tool.destination
        return target.name if self.app and isinstance(target, ClientTarget) else None

    @property
    def masker(self) -> Masker:
        """Takes secret arguments out of what is stored and shown."""
        return Masker(self.tool.parameters.secrets_in(self.arguments.values))

    @property
    def shown(self) -> JsonObject:
        """The arguments as they may be stored and shown."""
        return self.tool.parameters.masked(self.arguments.values)

    @property
    def digest(self) -> str:
        """What an approval is bound to: there is no request, so these very arguments."""
        called: JsonObject = {
            "session": self.session,
            "app": self.app or None,
            "tool": self.tool.name,
            "args": self.shown if self.tool.parameters.secrets else self.arguments.values,
        }
        return sha256(canonical_json(called)).hexdigest()


async def kept_text(node: Node, kept: Kept, row: CallRow) -> str:
    """The text for the row; sealed where an argument may be secret.

    Raises:
        VaultFault: there is no key to seal it with.
        StoreUnavailable: it has to be sealed, and the store does not give the key.
    """
    arguments, ceiling = kept.arguments, kept.ceiling
    text = compact_json(
        {
            "form": _FORM,
            "session": kept.session,
            "app": kept.app,
            "tool": tool_json(kept.tool),
            "args": arguments.values,
            "origins": dict(arguments.origins),
            "repaired": [[one.name, one.pointer, one.words] for one in arguments.repaired],
            "refused": arguments.refused_pins,
            "undeclared": arguments.undeclared_pins,
            "schema": kept.schema_digest,
            "ceiling": [ceiling.category.word, ceiling.danger_level.word],
            "wanted": kept.wanted,
            "source": kept.source,
            "device": kept.device,
        }
    )
    if kept.tool.parameters.secrets is None and not arguments.undeclared_pins:
        # A pin that the tool does not declare may be the secret of another one.
        return text
    return await sealed_text(
        node, text, workspace=row.workspace, app=row.app, user=row.user, call=row.id
    )


async def kept_of(node: Node, row: CallRow) -> Kept:
    """What ``kept_text`` wrote.

    Raises:
        NotApproved: this release cannot read it.
        VaultFault: it cannot be opened.
    """
    text = await opened_text(node, row)
    try:
        record = cast("dict[str, Any]", json.loads(text))
        if record["form"] != _FORM:
            raise Unreadable(f"kept calls of form {record['form']} cannot be read here")
        category, danger_level = record["ceiling"]
        tool = tool_of(record["tool"], Surroundings(brand=node.terms.brand))
        return Kept(
            session=record["session"],
            app=record["app"],
            tool=as_widget(tool) if row.tool.startswith(WIDGET) else tool,
            arguments=Arguments(
                values=record["args"],
                undeclared_pins=record["undeclared"],
                origins=record["origins"],
                refused_pins=tuple(record["refused"]),
                repaired=tuple(
                    Repair(name=n, pointer=p, words=w) for n, p, w in record["repaired"]
                ),
                ignored=(),
            ),
            schema_digest=record["schema"],
            ceiling=Ceiling(category=Category(category), danger_level=DangerLevel(danger_level)),
            wanted=record["wanted"],
            source=record.get("source", "session"),
            device=record.get("device"),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise NotApproved(
            f"{row.tool} was not called: what was kept of it cannot be read "
            f"({type(error).__name__}). Call again."
        ) from None


def ended_text(ended: Ended) -> str:
    """How a call ended, whole: the record beside it has values over 4 KiB cut."""
    display = ended.display
    drawn: JsonValue = display
    if display is not None and display.get("renderer") == "json":
        # Its data are the result.
        drawn = {"renderer": "json"}
    return compact_json(
        {
            "outcome": ended.outcome,
            "record": ended.record,
            "result": ended.result,
            "content": ended.content,
            "display": drawn,
            "error": ended.error,
        }
    )


def ended_of(call_id: str, text: str) -> Ended:
    """What ``ended_text`` wrote."""
    found = cast("dict[str, Any]", json.loads(text))
    display = found["display"]
    if display == {"renderer": "json"}:
        display = {"renderer": "json", "data": found["result"]}
    return Ended(
        call_id=call_id,
        outcome=found["outcome"],
        record=found["record"],
        result=found["result"],
        content=found["content"],
        display=display,
        error=found["error"],
    )
