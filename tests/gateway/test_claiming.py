"""One call, several tabs, lost answers, silence: executed once, ended once (contract section 9)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from remit.errors import CallOver, ClaimRefused, NotFound
from remit.gateway.acting import Actor
from remit.gateway.answering import Answer, answer
from remit.gateway.claiming import ClientFault, claim
from remit.gateway.client_calls import OnClient, look
from remit.gateway.client_kept import ended_text
from remit.gateway.journal import Ended
from remit.gateway.sessions import erase
from tests.databases import change, kept, on_each_database
from tests.gateway.client_stage import OPEN, SAFE, Tab, asked, error, held, told, tools
from tests.gateway.conversations import Conversation, ask, open_conversation, talk_on
from tests.gateway.nodes import BACKEND, OPERATOR, restarted

pytestmark = on_each_database
HAPPENED = "The action may have happened"


@pytest.fixture
def place(store_url: str) -> str:
    """The store of one test."""
    return store_url


@pytest.fixture
async def talk(place: str) -> AsyncIterator[Conversation]:
    """A session with two tabs; the model wants one thing of them, and is content then."""
    lines = [[ask("open_order", raw='{"id": "7"}')], "Done."]
    async with open_conversation(place, *lines) as opened:
        yield opened


async def two(talk: Conversation, record: dict[str, object] = OPEN) -> tuple[Tab, Tab, str]:
    """Two tabs with the tool, and the call that waits for one of them."""
    first, second = (Tab(talk, name, tools(record)) for name in ("tab-1", "tab-2"))
    await first.announce()
    await second.announce()
    await talk.say()
    return first, second, await asked(talk)


def later(talk: Conversation, ms: int) -> None:
    """Time goes by."""
    talk.stage.time.passed_ms += ms


async def silence(talk: Conversation, *alive: Tab, ms: int) -> None:
    """Time goes by in which only these tabs send their heartbeats; the node works."""
    for _ in range(ms // 10_000):
        later(talk, 10_000)
        for tab in alive:
            await tab.announce()
    later(talk, ms % 10_000)
    await talk.work()


async def test_one_claim_wins_and_again_gives_the_same(talk: Conversation) -> None:
    """A lost answer is asked for again; another tab is told in words."""
    first, second, call = await two(talk)
    later(talk, 2_000)
    claimed = await first.claim(call)
    assert await first.claim(call) == claimed
    with pytest.raises(ClaimRefused, match="Another client executes"):
        await second.claim(call)
    assert (await held(talk, call)).claims == 1


async def test_result_posted_twice_is_harmless(talk: Conversation) -> None:
    """The first stays, whatever the second says (contract section 9)."""
    first, _, call = await two(talk)
    later(talk, 2_000)
    claimed = await first.claim(call)
    await first.post(call, claimed, "one")
    await first.post(call, claimed, "two")
    await talk.work()
    await first.post(call, claimed, "three")
    assert (await told(talk, call))["content"] == '"one"'


async def test_only_the_holder_posts(talk: Conversation) -> None:
    """A claim that is invented, or none, ends nothing."""
    first, second, call = await two(talk)
    later(talk, 2_000)
    for made_up in ("", "clm_made_up"):
        with pytest.raises(ClaimRefused, match="not held by this claim"):
            await second.post(call, made_up, "mine")
    claimed = await first.claim(call)
    with pytest.raises(ClaimRefused):
        await second.post(call, "clm_made_up", "mine")
    await first.post(call, claimed, "real")
    await talk.work()
    assert (await told(talk, call))["content"] == '"real"'


async def test_silent_holder_leaves_an_unknown_outcome(talk: Conversation) -> None:
    """After 30 s nobody knows; nobody is asked again, and a late result changes nothing."""
    first, second, call = await two(talk)
    later(talk, 2_000)
    claimed = await first.claim(call)
    await silence(talk, second, ms=30_000)
    found = await told(talk, call)
    assert found["outcome"] == "outcome_unknown"
    assert HAPPENED in found["content"]
    with pytest.raises(CallOver, match="outcome_unknown"):
        await first.post(call, claimed, "late")
    with pytest.raises(CallOver):
        await second.claim(call)
    assert (await talk.row()).status == "idle"


async def test_heartbeat_holds_a_call(talk: Conversation) -> None:
    """A tab that works for a minute and says so keeps its call."""
    first, _, call = await two(talk)
    later(talk, 2_000)
    claimed = await first.claim(call)
    await silence(talk, first, ms=60_000)
    await first.post(call, claimed, "slow")
    await talk.work()
    assert (await told(talk, call))["content"] == '"slow"'


async def test_holder_that_comes_to_no_end_is_cut_off(talk: Conversation) -> None:
    """A claimed call has a time limit, however alive its client is."""
    first, _, call = await two(talk, {**OPEN, "timeoutMs": 40_000})
    later(talk, 2_000)
    await first.claim(call)
    await silence(talk, first, ms=40_000)
    found = await told(talk, call)
    assert found["outcome"] == "outcome_unknown"
    assert "open_order" in found["content"]
    assert "40 s" in found["content"]
    assert HAPPENED in found["content"]


async def test_idempotent_call_of_a_silent_holder_goes_to_another(place: str) -> None:
    """Nothing else is ever executed twice; the first holder's word no longer counts."""
    lines = [[ask("scroll", raw='{"id": "7"}')], "Done."]
    async with open_conversation(place, *lines) as talk:
        first, second, call = await two(talk, SAFE)
        later(talk, 2_000)
        gone = await first.claim(call)
        await silence(talk, second, ms=30_000)
        assert (await talk.row()).status == "waiting_client"
        told_of = [one["callId"] for one in await talk.data("client_tool_call")]
        assert told_of == [call, call]
        taken = await second.claim(call)
        assert taken.claim != gone.claim
        assert taken.args == gone.args
        with pytest.raises(ClaimRefused):
            await first.post(call, gone, "old")
        await second.post(call, taken, "new")
        await talk.work()
        assert (await told(talk, call))["content"] == '"new"'
        assert (await held(talk, call)).claims == 2


async def test_unclaimed_call_waits_an_hour_and_no_longer(talk: Conversation) -> None:
    """A reload finds it still there; after an hour the run goes on without it."""
    first, _, call = await two(talk)
    later(talk, 59 * 60_000)
    await talk.work()
    assert (await talk.row()).status == "waiting_client"
    await first.announce()
    later(talk, 60_000)
    await talk.work()
    found = await told(talk, call)
    assert (found["outcome"], error(found)["code"]) == ("error", "client_unavailable")
    assert "mayHaveHappened" not in error(found)
    with pytest.raises(CallOver):
        await first.claim(call)


async def test_call_is_found_by_the_tab_that_comes_back(talk: Conversation) -> None:
    """No tab is left; a reload announces the same and executes what waited."""
    first, second, call = await two(talk)
    await first.detach()
    await second.detach()
    later(talk, 600_000)
    back = Tab(talk, "tab-3")
    with pytest.raises(ClaimRefused, match="schema"):
        await back.claim(call)
    await back.announce()
    await back.post(call, await back.claim(call), "here")
    await talk.work()
    assert (await told(talk, call))["content"] == '"here"'


async def test_tab_that_sent_the_message_is_asked_first(place: str) -> None:
    """The others wait for two seconds, and are told how long (contract section 9)."""
    lines = [[ask("open_order", raw='{"id": "7"}')], "Done."]
    async with open_conversation(place, *lines) as talk:
        first, second = Tab(talk, "tab-1"), Tab(talk, "tab-2")
        await first.announce()
        later(talk, 5)
        await second.announce()
        await talk.say(client="tab-1")
        call = await asked(talk)
        later(talk, 500)
        with pytest.raises(ClaimRefused, match="asked first") as refused:
            await second.claim(call)
        assert refused.value.retry_after_ms == 1_500
        await first.claim(call)


async def test_tab_seen_last_is_asked_where_nobody_sent_the_message(talk: Conversation) -> None:
    """And after two seconds whoever comes first."""
    first, second = Tab(talk, "tab-1"), Tab(talk, "tab-2")
    await first.announce()
    later(talk, 5)
    await second.announce()
    await talk.say()
    call = await asked(talk)
    with pytest.raises(ClaimRefused, match="asked first"):
        await first.claim(call)
    later(talk, 2_000)
    await first.claim(call)


async def test_tab_executes_one_call_at_a_time(place: str) -> None:
    """Client calls to one client go one after another (contract section 9, "Order")."""
    both = [ask("open_order", raw='{"id": "7"}'), ask("open_order", "c2", raw='{"id": "8"}')]
    async with open_conversation(place, both, "Done.") as talk:
        tab = Tab(talk, "tab-1")
        await tab.announce()
        await talk.say()
        first, second = [one["callId"] for one in await talk.data("client_tool_call")]
        claimed = await tab.claim(first)
        with pytest.raises(ClaimRefused, match="one call at a time"):
            await tab.claim(second)
        await tab.post(first, claimed, 1)
        await tab.post(second, await tab.claim(second), 2)
        await talk.work()
        results = await talk.data("tool_result")
        assert [one["content"] for one in results] == ["1", "2"]


async def test_closed_tab_keeps_its_call_until_it_was_silent(talk: Conversation) -> None:
    """Its result may be on the way; after 30 s it is given up."""
    first, second, call = await two(talk)
    later(talk, 2_000)
    claimed = await first.claim(call)
    later(talk, 20_000)
    await first.detach()
    await silence(talk, second, ms=20_000)
    assert (await talk.row()).status == "waiting_client"
    await first.post(call, claimed, "just in time")
    await talk.work()
    assert (await told(talk, call))["content"] == '"just in time"'


@pytest.mark.promise("A-04")
async def test_thrown_error_is_an_error_of_the_tool(talk: Conversation) -> None:
    """The model reads what was thrown, and that it was the client; nothing hides in it."""
    first, _, call = await two(talk)
    later(talk, 2_000)
    fault = ClientFault(message="No such \u202eorder.")
    await first.fail(call, await first.claim(call), fault)
    await talk.work()
    found = await told(talk, call)
    assert (found["outcome"], error(found)["code"]) == ("error", "client_error")
    assert "open_order" in error(found)["message"]
    assert "No such ⟨U+202E⟩order." in error(found)["message"]
    assert (await talk.row()).status == "idle"


@pytest.mark.promise("A-04")
async def test_call_whose_end_was_not_awaited_is_not_known(talk: Conversation) -> None:
    """Its time was over, or its page was left: it is no failure, which one would try again."""
    first, _, call = await two(talk)
    later(talk, 2_000)
    fault = ClientFault(message="it took longer than 100 ms.", code="outcome_unknown")
    await first.fail(call, await first.claim(call), fault)
    await talk.work()
    found = await told(talk, call)
    assert (found["outcome"], error(found)["code"]) == ("outcome_unknown", "outcome_unknown")
    assert "open_order: it took longer than 100 ms." in error(found)["message"]
    assert HAPPENED in error(found)["message"]
    assert error(found)["mayHaveHappened"] is True


@pytest.mark.promise("A-05")
@pytest.mark.parametrize("sent", [None, "x" * 1_048_577], ids=["by-the-client", "too-large"])
async def test_result_that_cannot_be_sent_says_what_may_have_happened(
    talk: Conversation, sent: str | None
) -> None:
    """A cycle, a Date, more than 1 MiB: the error names the tool (contract section 9)."""
    first, _, call = await two(talk)
    later(talk, 2_000)
    claimed = await first.claim(call)
    if sent is None:
        fault = ClientFault(message="it has a cycle.", code="unserializable_result")
        await first.fail(call, claimed, fault)
    else:
        await first.post(call, claimed, sent)
    await talk.work()
    found = error(await told(talk, call))
    assert found["code"] == "unserializable_result"
    assert "open_order" in found["message"]
    assert HAPPENED in found["message"]
    assert found["mayHaveHappened"] is True


async def test_endless_error_text_is_cut(talk: Conversation) -> None:
    """A client's words are bounded before they reach the model."""
    first, _, call = await two(talk)
    later(talk, 2_000)
    await first.fail(call, await first.claim(call), ClientFault(message="e" * 1_000_000))
    await talk.work()
    assert len((await told(talk, call))["content"]) < 3_000


async def test_stranger_gets_neither_call_nor_claim(talk: Conversation) -> None:
    """Another session's token, another workspace's key: the same 404 as an unknown id."""
    first, _, call = await two(talk)
    later(talk, 2_000)
    strangers = [
        Actor(key_id="t", role="client", workspace="acme", user="ana", session="ses_other"),
        Actor(key_id="t", role="client", workspace="acme", user="ben", session=talk.id),
        Actor(key_id="t", role="user", workspace="acme", user="ana"),
        replace(OPERATOR, workspace="other"),
    ]
    for stranger in strangers:
        with pytest.raises(NotFound):
            await claim(talk.talks, stranger, talk.id, call, "tab-1")
    with pytest.raises(NotFound):
        await first.claim("call_unknown")


async def test_app_call_of_the_session_cannot_be_claimed(place: str) -> None:
    """Only what waits for a client has a claim; a call that waits for a person has none."""
    raw = '{"name": "tea", "amount": 3}'
    async with open_conversation(place, [ask("integration_refund", raw=raw)], "Done.") as talk:
        tab = Tab(talk, "tab-1")
        await tab.announce()
        await talk.say()
        (called,) = await talk.data("tool_call")
        with pytest.raises(NotFound):
            await tab.claim(called["callId"])
        with pytest.raises(NotFound):
            await tab.post(called["callId"], "clm_x", {"total": 0})


async def test_end_that_was_settled_is_told_after_a_crash(talk: Conversation) -> None:
    """The process died between the client's row and the ledger: whoever looks tells it."""
    first, _, call = await two(talk)
    later(talk, 2_000)
    claimed = await first.claim(call)
    record = {**await talk.stage.record(call), "outcome": "ok", "mapped": 1, "content": "1"}
    record["client"] = {"id": "tab-1", "answered": True}
    ended = Ended(call_id=call, outcome="ok", record=record, result=1, content="1")
    clients = talk.talks.clients
    assert await clients.settle(
        "acme", talk.id, call, claim=claimed.claim, ended_json=ended_text(ended)
    )
    assert (await talk.stage.row(call)).status == "await_client"
    await first.post(call, claimed, "again")
    assert (await talk.stage.row(call)).outcome == "ok"
    await talk.work()
    assert (await told(talk, call))["content"] == "1"
    again = await look(talk.talks, await talk.row(), call)
    assert isinstance(again, Ended)
    assert again.content == "1"


async def test_call_that_was_written_down_and_not_offered_is_offered(
    talk: Conversation, place: str
) -> None:
    """The process died in between: whoever looks offers it."""
    first, _, call = await two(talk)
    change(place, "DELETE FROM client_call WHERE call = :call", call=call)
    with pytest.raises(NotFound):
        await first.claim(call)
    assert isinstance(await look(talk.talks, await talk.row(), call), OnClient)
    later(talk, 2_000)
    assert (await first.claim(call)).args == {"id": "7"}


async def test_claim_outlives_the_server_that_gave_it(talk: Conversation) -> None:
    """The tab works on through a restart, and posts to whoever is there then."""
    first, _, call = await two(talk)
    later(talk, 2_000)
    claimed = await first.claim(call)
    await talk.talker.stop()
    after = talk_on(restarted(talk.stage), talk.model)
    after.id = talk.id
    tab = Tab(after, "tab-1")
    assert await tab.claim(call) == claimed
    await tab.post(call, claimed, "after all")
    await after.work()
    assert (await told(after, call))["content"] == '"after all"'
    assert (await after.row()).status == "idle"


async def test_yes_outlives_the_server_that_took_it(place: str) -> None:
    """Answered, and the process died before any client was asked: the next one asks."""
    lines = [[ask("open_order", raw='{"id": "7"}')], "Done."]
    async with open_conversation(place, *lines) as talk:
        tab = Tab(talk, "tab-1", tools({**OPEN, "requiresApproval": True}))
        await tab.announce()
        await talk.say()
        (input_id,) = (await talk.row()).state.inputs
        await talk.talker.stop()
        yes = Answer(decision="approve", user="ana")
        await answer(talk.stage.node, BACKEND, input_id, yes)
        after = talk_on(restarted(talk.stage), talk.model)
        after.id = talk.id
        await after.work()
        call = await asked(after)
        back = Tab(after, "tab-1")
        await back.post(call, await back.claim(call), "opened")
        await after.work()
        assert (await told(after, call))["content"] == '"opened"'


async def test_erased_session_keeps_nothing_of_its_clients(talk: Conversation, place: str) -> None:
    """Arguments, results and announcements go with it (contract section 10, ``DELETE``)."""
    first, _, call = await two(talk)
    later(talk, 2_000)
    await first.post(call, await first.claim(call), "canary-result-4711")
    await talk.work()
    await erase(talk.talks, OPERATOR, talk.id)
    assert await talk.talks.clients.call("acme", talk.id, call) is None
    assert await talk.talks.clients.attached("acme", talk.id, since=0) == ()
    if place.startswith("postgresql"):
        found = b"".join(kept(place).values())
        assert b"canary-result-4711" not in found
        assert b"Opens an order for the user" not in found
