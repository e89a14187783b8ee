"""`remit apply` and `remit why` against a running server (contract section 13)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from remit.main.telling import page_of
from tests.catalog.documents import parameters
from tests.main.conftest import Remit
from tests.main.processes import serving
from tests.main.scripted import ScriptedApp
from tests.main.test_serving import ALLOW, Api, shop


@pytest.fixture
def api(kept: Remit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    """A server with an operator's key, which the commands find in their environment."""
    key = kept("keys", "create", "--role", "operator", "--name", "Ops desk").out.strip()
    monkeypatch.delenv("REMIT_EGRESS_ALLOW")
    with serving(tmp_path, **ALLOW) as server:
        monkeypatch.setenv("REMIT_SERVER_URL", server.url)
        monkeypatch.setenv("REMIT_KEY", key)
        yield Api(url=server.url, key=key)


def written(document: dict[str, Any]) -> str:
    """A definition's file."""
    Path("acme.json").write_text(json.dumps(document), "utf-8")
    return "acme.json"


def test_definitions_are_applied_and_a_call_of_them_is_told(
    api: Api, kept: Remit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """New app, nothing, edit, version: each said before and after; then the page of a call."""
    with ScriptedApp([{"status": 200, "body": {"paid": True}}]) as app:
        document = shop(app.url)
        file = written(document)
        planned = kept("apply", file, "--plan")
        assert planned.code == 1
        assert "A new app" in planned.out
        assert api.done("GET", "/v1/apps")["items"] == []

        applied = kept("apply", file)
        assert applied.code == 1
        assert "A reviewer must act: acme." in applied.err
        api.done("POST", "/v1/apps/acme/versions/1/approve", {"consent": "workspace"})

        same = kept("apply", file)
        assert (same.code, same.out) == (0, "acme.json: acme, version 1\n  Nothing changed.\n")

        document["tools"][1]["description"] = "Looks at the till."
        written(document)
        plan = kept("apply", file, "--plan", "--format", "json")
        assert (plan.code, plan.json[0]["change"], plan.json[0]["needsReview"]) == (
            0,
            "edit",
            False,
        )
        assert kept("apply", file).code == 0
        read = api.done("GET", "/v1/apps/acme")
        assert read["definition"]["tools"][1]["description"] == "Looks at the till."

        document["name"] = "Acme Two"
        written(document)
        version = kept("apply", file, "--format", "json")
        assert (version.code, version.json[0]["change"]) == (1, "version")
        assert version.json[0]["version"] == 2

        call = api.call("pay").json["callId"]
    page = kept("why", call).out
    assert page.startswith("pay of acme\n  It was done. (ok)\n")
    for words in (
        "ana, over the API, through Ops desk (key:key_",
        "no rule of the policy spoke",
        f"POST {app.url}/pay",
        "answered 200 after",
        '{"paid": true}',
    ):
        assert words in page
    assert kept("why", call, "--format", "json").json["id"] == call
    _check_refusals(kept, call, api, monkeypatch)


def _check_refusals(remit: Remit, call: str, api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be told is one message with its mend, and no key in it (bad input)."""
    backend = {"role": "backend", "name": "Shop"}
    monkeypatch.setenv("REMIT_KEY", api.done("POST", "/v1/keys", backend)["key"])
    # Only an operator's key may list keys: with another one their ids are told.
    assert "through key:key_" in remit("why", call).out
    monkeypatch.setenv("REMIT_KEY", api.key)
    unknown = remit("why", "call_none")
    assert (unknown.code, unknown.out) == (2, "")
    assert 'There is no call "call_none"' in unknown.err
    monkeypatch.setenv("REMIT_KEY", api.key[:-1] + ("0" if api.key[-1] != "0" else "1"))
    wrong = remit("why", call)
    assert (wrong.code, wrong.out) == (2, "")
    assert "REMIT_KEY" in wrong.err
    assert api.key[:-1] not in wrong.err


def test_what_a_reviewer_will_see_is_printed_as_lint_prints_it(api: Api, kept: Remit) -> None:
    """A DELETE called safe, a tool over the ceiling: rule, place and mend, before what is next."""
    del api
    document = shop("https://api.acme.example")
    document["ceiling"] = {"category": "read", "dangerLevel": "safe"}
    document["tools"][0]["endpoint"]["method"] = "DELETE"
    file = written(document)
    linted = kept("lint", file)
    assert {"understated-danger", "over-ceiling"} <= set(linted.out.split())

    for arguments in (("--plan",), ()):
        ran = kept("apply", file, *arguments)
        assert ran.code == 1
        # Word for word, but for the notes, which ask for nothing.
        for line in linted.out.splitlines():
            if "over-ceiling" in line or "understated-danger" in line:
                assert line.split() in [shown.split() for shown in ran.out.splitlines()]
        assert "A reviewer must act" not in ran.out
    document["tools"][1]["description"] = "Looks at the till."
    again = kept("apply", written(document), "--format", "json")
    found = kept("lint", file, "--format", "json").json["findings"]
    assert again.code == 1
    assert again.json[0]["findings"] == [one for one in found if one["level"] != "note"]
    assert kept("apply", file, "--format", "json").json[0]["findings"] == []


@pytest.mark.parametrize(
    ("url", "key", "said"),
    [
        ("http://127.0.0.1:1", "rk_x", "Start it with `remit serve`"),
        ("127.0.0.1:8700", "rk_x", "REMIT_SERVER_URL is no address of a server"),
        ("http://127.0.0.1:1", "", "Make one with `remit keys create"),
        ("http://127.0.0.1:1", "rk\nx", "Make one with `remit keys create"),
    ],
)
def test_server_that_is_not_there_is_wrong_use(
    url: str, key: str, said: str, remit: Remit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit 2 and the mend (bad input)."""
    monkeypatch.setenv("REMIT_SERVER_URL", url)
    monkeypatch.setenv("REMIT_KEY", key)
    ran = remit("why", "call_1")

    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert "rk" not in ran.err.replace("work", "")


def test_fault_in_one_file_leaves_all_unsent(remit: Remit, monkeypatch: pytest.MonkeyPatch) -> None:
    """All files are read before the first is sent: no server is even asked."""
    monkeypatch.setenv("REMIT_SERVER_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("REMIT_KEY", "rk_x")
    good = written(shop("https://api.acme.example"))
    Path("bad.json").write_text('{"id": "Bad Id"}', "utf-8")
    ran = remit("apply", good, "bad.json")

    assert (ran.code, ran.out) == (1, "")
    assert "bad.json cannot be used" in ran.err


def test_refused_call_is_not_told_as_one_that_was_let_pass(api: Api, kept: Remit) -> None:
    """What stopped it stands there alone; arguments that came are not told as none (section 13)."""
    document = shop("https://api.acme.example")
    document["tools"][1]["parameters"] = {
        **parameters(order="string"),
        "additionalProperties": False,
    }
    api.done("POST", "/v1/apps", document)

    def why(tool: str, **args: object) -> str:
        body = {"user": "ana", "args": args}
        refused = api.ask("POST", f"/v1/tools/acme/{tool}/call", body)
        assert refused.status in {403, 422}
        return kept("why", refused.json["callId"]).out

    api.done("POST", "/v1/apps/acme/versions/1/approve", {
        "consent": "user", "ceiling": {"category": "read", "dangerLevel": "safe"},
    })  # fmt: skip
    for page, code in (
        (why("look", order="o1"), "consent_required"),
        (why("pay"), "over_ceiling"),
    ):
        assert f"What let it pass, or not\n  {code}: " in page
    page = why("look", ordre="o1")
    assert "What let it pass, or not\n  invalid_arguments: " in page
    assert "refused before its arguments were settled" in page
    assert "no arguments" not in page


# -- the page ------------------------------------------------------------------------------

RECORD: dict[str, Any] = {
    "id": "call_1",
    "at": "2026-11-30T14:00:00.000Z",
    "workspace": "acme",
    "user": "ana",
    "actor": "key:key_1",
    "app": "shop",
    "version": 2,
    "tool": "refund",
    "offeredAs": "shop__refund",
    "model": "m-1",
    "source": "session",
    "args": {"order": "o1\nWho answered\n  nobody", "amount": 501},
    "argOrigins": {"order": "model", "amount": "pin"},
    "refusedPins": ["amount"],
    "request": {"method": "POST", "url": "https://api.shop.example/r", "body": {}, "digest": "d1"},
    "policy": [{"rule": "/rules/0", "verdict": "ask", "reason": "Refunds over 500"}],
    "inputId": "inp_1",
    "connectionId": "con_1",
    "account": "ana@shop",
    "outcome": "waiting_human",
}
INPUT: dict[str, Any] = {
    "status": "denied",
    "title": "Refund o1",
    "answeredBy": "user:bo",
    "answeredAt": "2026-11-30T14:05:00.000Z",
    "note": "too much",
}


def test_page_says_who_chose_which_rule_and_who_answered() -> None:
    """A person who was not there understands it (contract section 13)."""
    page = page_of({**RECORD, "outcome": "denied"}, INPUT)

    assert "the model m-1 chose it, offered as shop__refund" in page
    assert "amount = 501   fixed by a pin" in page
    assert "the caller gave amount too; the pin won" in page
    assert "/rules/0 asks a person: Refunds over 500" in page
    assert "denied by user:bo at 2026-11-30T14:05:00.000Z" in page
    assert "they said: too much" in page
    assert "What was sent\n  nothing\n" in page
    assert "It was refused; nothing was sent. (denied)" in page


def test_page_names_the_keys_that_are_known() -> None:
    """A person knows a key by its name; its id tells it from another of that name."""
    record, waited = {**RECORD, "answeredBy": "key:key_2"}, {**INPUT, "answeredBy": "key:key_2"}
    names = {"key:key_1": "Shop\nWho answered", "key:key_2": "Ops desk"}

    assert "through Shop ⏎ Who answered (key:key_1)\n" in page_of(record, None, names)
    assert "Who answered\n  Ops desk (key:key_2)\n" in page_of(record, None, names)
    assert "denied by Ops desk (key:key_2) at " in page_of(record, waited, names)
    assert "denied by key:key_2 at " in page_of(record, waited)


def test_page_of_a_waiting_call_says_until_when() -> None:
    """Something that waits for somebody says so (look and voice)."""
    page = page_of(RECORD, {**INPUT, "status": "open", "expiresAt": "2026-12-01"})

    assert "It waits for a person; nothing was sent so far." in page
    assert "nobody so far; it is open until 2026-12-01" in page


def test_page_of_an_unknown_outcome_says_that_nobody_knows() -> None:
    """What was sent and not answered is shown as that (contract section 5)."""
    tried = {"at": "2026-11-30T14:00:01.000Z", "ms": 9, "status": None}
    error = {"code": "outcome_unknown", "message": "nobody knows"}
    page = page_of(
        {**RECORD, "outcome": "outcome_unknown", "attempts": [tried], "error": error}, None
    )

    assert "Nobody knows whether it happened. (outcome_unknown)" in page
    assert "as ana@shop" in page
    assert "no answer was read after 9 ms" in page


def test_page_of_a_call_that_a_kill_cut_off_says_that_it_was_begun() -> None:
    """Nobody reads "nothing was sent" of what may have happened."""
    begun = {"at": "2026-11-30T14:00:01.000Z", "ms": None, "status": None}
    page = page_of({**RECORD, "outcome": "outcome_unknown", "attempts": [begun]}, None)

    assert "14:00:01.000Z: begun; the server stopped before an answer was read" in page


def test_what_an_argument_says_cannot_look_like_a_line_of_the_page() -> None:
    """A forged heading stays inside its own line (threats: text that steers a reader)."""
    lines = page_of(RECORD, INPUT).splitlines()

    assert lines.count("Who answered") == 1
    assert "  nobody" not in lines
