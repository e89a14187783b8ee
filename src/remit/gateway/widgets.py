"""Widgets: a call that draws one shows it to the clients that announced it (contract section 9).

Nothing is executed, and no client answers: the event is what is drawn, now or whenever a client
comes back to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from msgspec import Struct, structs

from remit.calls.results import Display, content_of
from remit.catalog.scales import Renderer
from remit.gateway.announcements import WIDGET, loaded
from remit.gateway.announcing import LEASE_MS
from remit.gateway.client_kept import ended_text
from remit.gateway.clients import ClientCallRow
from remit.gateway.journal import Ended, kept, succeeded
from remit.session.events import Widget

if TYPE_CHECKING:
    from remit.gateway.client_kept import Kept
    from remit.gateway.conversing import SessionRow
    from remit.gateway.talks import Talks
    from remit.values.json import JsonObject

_ADVICE = (
    "The user may change things in it. Read the current state before you change anything next."
)
_UNSEEN = "No client shows it at this moment: it is drawn when one comes back. "


class Drawn(Struct, frozen=True, kw_only=True):
    """A widget was drawn: the event, and the end of the call, told after it."""

    ended: Ended
    event: Widget


async def draw(talks: Talks, row: SessionRow, kept_call: Kept, record: JsonObject) -> Ended:
    """The end of a call that draws a widget; whoever made the call commits it to the ledger.

    It is kept whole beside the record, so that whoever tells of it later has all props.
    """
    count = await _clients_with(talks, row, kept_call.schema_digest)
    advice = _ADVICE if count else f"{_UNSEEN}{_ADVICE}"
    result: JsonObject = {"shown": count, "advice": advice}
    ended = succeeded(
        record, result, content_of(result), Display(renderer=Renderer.JSON, data=result)
    )
    name, props = kept_call.tool.name.removeprefix(WIDGET), kept_call.shown
    cut: JsonObject = {key: kept(value) for key, value in props.items()}
    ended = structs.replace(
        ended,
        record={**ended.record, "display": {"widget": name, "props": cut}},
        display={"widget": name, "props": props},
    )
    over = ClientCallRow(
        workspace=row.workspace,
        session=row.id,
        call=ended.call_id,
        tool=kept_call.tool.name,
        schema_digest=kept_call.schema_digest,
        args_json="{}",
        offered_at=await talks.now_ms(),
        timeout_ms=0,
        ended_json=ended_text(ended),
    )
    await talks.clients.offer(row.workspace, over)
    return ended


def drawn_of(row: SessionRow, ended: Ended) -> Drawn | Ended:
    """An end as what is to be told; with the event where a widget was drawn."""
    display = ended.display
    if ended.outcome != "ok" or display is None or "widget" not in display:
        return ended
    event = Widget(
        call_id=ended.call_id,
        widget=cast("str", display["widget"]),
        props=display["props"],
        run_id=row.state.run or cast("str", ended.record.get("runId", "")),
    )
    return Drawn(ended=ended, event=event)


async def _clients_with(talks: Talks, row: SessionRow, digest: str) -> int:
    """How many clients are there now that announced the widget."""
    since = await talks.now_ms() - LEASE_MS
    rows = await talks.clients.attached(row.workspace, row.id, since=since)
    return sum(
        any(widget.schema_digest == digest for widget in loaded(one.announced_json).widgets)
        for one in rows
    )
