"""What a handler of an app is sent: whom it serves, and where a call comes from (sections 3, 8)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from remit.kit import Refusal, identity, is_thread, tool_context
from remit.kit.identity import Identity
from tests.gateway.card_stage import APP, CALL, said
from tests.gateway.conversations import open_conversation
from tests.gateway.nodes import Stage, furnish, open_stage

ISSUER = "https://remit.acme.example"
AUDIENCE = "acme/api"


async def told(stage: Stage, *, audience: str = AUDIENCE) -> Identity | Refusal:
    """What the kit makes of the token that went out first."""
    now_s = stage.time.unix_ms() // 1000
    signer: Any = stage.node.minter
    return identity(
        dict(stage.egress.sent[0].headers),
        keys=await signer.jwks(now_s=now_s),
        issuer=ISSUER,
        audience=audience,
        now_s=now_s,
    )


@pytest.mark.promise("K-09", "K-22")
async def test_handler_is_told_whom_it_serves_by_a_signed_token(scratch: Path) -> None:
    """User, tenant, installation and call, for this one component (contract section 8)."""
    async with open_stage(scratch, said("Found.")) as stage:
        await furnish(stage, APP)
        signer: Any = stage.node.minter
        await signer.prepare(now_s=stage.time.unix_ms() // 1000)
        ended = await stage.ended("search_mail", {"words": "tea"})

        assert stage.egress.sent[0].url == "https://api.acme.example/tools/search"
        found = await told(stage)
        assert isinstance(found, Identity)
        assert (found.user, found.workspace, found.call_id) == ("ana", "acme", ended.call_id)
        app = await stage.server.store.apps.get("acme", "acme")
        assert app is not None
        assert found.installation == app.installation
        assert found.expires_at_s - found.issued_at_s <= 300
        elsewhere = await told(stage, audience="acme/web")
        assert isinstance(elsewhere, Refusal)
        assert elsewhere.reason == "wrong_audience"


@pytest.mark.promise("K-23")
async def test_handler_is_told_where_the_call_comes_from(scratch: Path) -> None:
    """A thread with its id, or the API; the kit tells them apart."""
    async with open_conversation(
        scratch, CALL, "So it is.", answers=[said("Found.")], document=APP
    ) as talk:
        await talk.say()
        await talk.stage.ended("search_mail", {"words": "tea"})
        thread, api = (tool_context(dict(one.headers)) for one in talk.stage.egress.sent)
        assert is_thread(thread)
        assert thread.thread_id == talk.id
        assert not is_thread(api)
        (result,) = await talk.data("tool_result")
        assert (result["content"], result["display"]["data"]) == ("Found.", "Found.")
        assert json.loads(talk.stage.egress.sent[0].body or b"") == {"words": "tea"}
