"""Who did what to a session: in the audit, and in its log where an input was answered."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from remit.errors import InvalidRequest, SessionClosed
from remit.gateway import sessions
from remit.gateway.acting import Actor
from remit.gateway.answering import Answer, answer
from remit.gateway.sessions import NewSession, Patch
from tests.gateway.conversations import open_conversation
from tests.gateway.nodes import BACKEND
from tests.gateway.test_turns import ADD, ask

TEXT = "QUOKKA"


async def test_every_act_is_in_the_audit_with_who_did_it(scratch: Path) -> None:
    """Contract section 10: made, changed, stopped, closed, erased; never what was said."""
    async with open_conversation(scratch, [ask("integration_refund", **ADD)], "Done.") as talk:
        await talk.say(TEXT)
        await sessions.patch(talk.talks, BACKEND, talk.id, Patch(instructions=TEXT))
        client = Actor(key_id="k_tab", role="client", workspace="acme", user="ana", session=talk.id)
        await sessions.cancel(talk.talks, client, talk.id)
        await talk.work()
        await sessions.close(talk.talks, BACKEND, talk.id)
        await sessions.erase(talk.talks, BACKEND, talk.id)

        entries = await talk.stage.server.audit()
        of_it = [one for one in entries if one.subject == f"session/{talk.id}"]
        assert [(one.kind, one.actor) for one in of_it] == [
            ("session.created", "key:k_back"),
            ("session.changed", "key:k_back"),
            ("session.cancelled", "user:ana"),
            ("session.closed", "key:k_back"),
            ("session.erased", "key:k_back"),
        ]
        assert [json.loads(one.detail_json) for one in of_it] == [
            {"user": "ana", "apps": ["acme/1"]},
            {"changed": ["instructions"]},
            {},
            {},
            {},
        ]
        assert TEXT not in str(entries)


async def test_what_was_refused_or_changed_nothing_is_not_in_the_audit(scratch: Path) -> None:
    """A stop of a session that rests, a second close, a change of a closed one."""
    async with open_conversation(scratch, "Done.") as talk:
        await sessions.cancel(talk.talks, BACKEND, talk.id)
        await sessions.close(talk.talks, BACKEND, talk.id)
        before = await talk.stage.server.audit()
        await sessions.close(talk.talks, BACKEND, talk.id)
        with pytest.raises(SessionClosed):
            await sessions.patch(talk.talks, BACKEND, talk.id, Patch(instructions="Be brief."))
        with pytest.raises(SessionClosed):
            await sessions.cancel(talk.talks, BACKEND, talk.id)
        with pytest.raises(InvalidRequest):
            await sessions.create(talk.talks, BACKEND, NewSession(user=" "))

        assert await talk.stage.server.audit() == before
        assert [one.kind for one in before if one.subject.startswith("session/")] == [
            "session.created",
            "session.closed",
        ]


async def test_log_says_from_which_device_an_input_was_answered(scratch: Path) -> None:
    """``human_input_resolved.device`` is that of the token; a key has none."""
    call = [ask("integration_refund", **ADD)]
    async with open_conversation(scratch, call, "Done.", call, "Done.") as talk:
        phone = Actor(
            key_id="k_tab", role="client", workspace="acme", user="ana", session=talk.id,
            device="dev_phone",
        )  # fmt: skip
        await talk.say("Refund it.")
        (input_id,) = (await talk.row()).state.inputs
        await answer(talk.stage.node, phone, input_id, Answer(decision="approve", in_person=True))
        await talk.work()
        await talk.say("Refund another.")
        await talk.answer("approve")

        resolved = await talk.data("human_input_resolved")
        assert [one.get("device") for one in resolved] == ["dev_phone", None]
