"""The read that fills an approval card, run once under a server (contract section 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.errors import ClientUnavailable
from remit.gateway.apps import App
from remit.gateway.freezing import FrozenCall
from remit.gateway.permitting import Case, env_of, permitted
from remit.gateway.running import exchange_of
from remit.gateway.steps import PREVIEW_TIMEOUT_MS, freeze, preview, read_once

if TYPE_CHECKING:
    from remit.calls.arguments import Arguments
    from remit.calls.lookup import Found
    from remit.catalog.model import Tool
    from remit.gateway.node import AppInForce, Node
    from remit.values.json import JsonObject
    from remit.values.secrets import Masker


async def previewed(
    node: Node, case: Case, found: AppInForce, pins: JsonObject, masker: Masker
) -> tuple[Found, str | None]:
    """What the preview of a call says, or why there is none.

    It has the same pins and the same connection, and goes out only if nobody must be asked.
    """

    async def run(tool: Tool, arguments: Arguments) -> Found:
        if tool.request is None:
            raise ClientUnavailable(f"{tool.name} runs in the user's client; it shows nothing.")
        app = App(
            definition=found.definition,
            catalog=found.catalog,
            env=await env_of(node, case.workspace, found, tool),
        )
        request = freeze(tool, app, arguments, version=found.version)
        reading = Case(
            workspace=case.workspace,
            call_id=node.ids.call_id(),
            app=case.app,
            user=case.user,
            source=case.source,
            record={},
            frozen=FrozenCall(
                request=request,
                tool=tool,
                arguments=arguments,
                traceparent=case.frozen.traceparent,
                connection_id=case.frozen.connection_id,
                account=case.frozen.account,
            ),
        )
        permit = await permitted(node, reading, found=found)
        timeout_ms = min(PREVIEW_TIMEOUT_MS, tool.timeout_ms)
        exchange = exchange_of(
            node, reading, permit.app, node.egress, timeout_ms=timeout_ms, retry=False
        )
        return await read_once(exchange, permit.sendable)

    app = App(definition=found.definition, catalog=found.catalog)
    return await preview(case.tool, case.frozen.arguments, pins, app, run, masker)
