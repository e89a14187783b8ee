"""Which hosts receive what."""

from __future__ import annotations

import pytest

from remit.statement.document import Items, Paragraph
from remit.statement.hosts import hosts
from remit.statement.subject import Subject
from tests.statement import apps
from tests.statement.apps import Document, loaded


def said(document: Document) -> str:
    """The whole section as one text."""
    lines: list[str] = []
    for block in hosts(Subject.of(loaded(document))).blocks:
        if isinstance(block, Items):
            lines += [block.lead, *block.items]
        elif isinstance(block, Paragraph):
            lines.append(block.text)
    return "\n".join(lines)


URL = {"type": "url", "method": "POST", "body": "${input}"}


def with_url(url: str, **more: object) -> Document:
    """The small app and a tool that goes to this address."""
    record = apps.tool("out", parameters=apps.parameters("q"), category="write")
    del record["endpoint"]
    document = apps.small()
    document["tools"].append({**record, "target": {**URL, "url": url, **more}})
    return document


def test_only_arguments_that_a_request_names_are_sent() -> None:
    """What no reference names never leaves, and a slot for a pin is said to be one."""
    record = apps.tool(
        "find",
        parameters=apps.parameters("b", "a", unused={"type": "string"}),
        queryParams={"x": "{{args.a}} {{args.b.c}}", "y": "{{args.pinned}}"},
    )

    text = said(apps.small() | {"tools": [record]})

    assert "The arguments “a”, “b” and “pinned” (only the session can fill it), from find." in text
    assert "unused" not in text


def test_arguments_of_a_poll_are_sent_as_well() -> None:
    """Contract section 6: a status address may hold arguments."""
    polling = {
        "statusUrl": "/jobs/{{args.job}}",
        "statusField": "status",
        "completeValue": "done",
        "pollIntervalMs": 100,
        "maxPolls": 1,
    }
    record = apps.tool("wait", "POST", parameters=apps.parameters("job"), polling=polling)

    assert "The argument “job”, from wait." in said(apps.small() | {"tools": [record]})


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("https://out.example/x", "https://out.example, an outside host, not the app's own. It"),
        ("http://out.example/x", "UNENCRYPTED (http): whoever is on the way can read and change"),
        ("http://127.0.0.1:9/x", "Unencrypted (http), on the machine where Remit runs."),
        ("http://127.evil.example/x", "UNENCRYPTED"),
        ("http://localhost.evil.example/x", "UNENCRYPTED"),
        ("https://api.acme.example:444/", "https://api.acme.example:444, an outside host"),
    ],
)
def test_an_outside_host_is_called_one_and_http_is_said(url: str, words: str) -> None:
    """Contract section 17: a stranger sees what leaves the app and what is not encrypted."""
    text = said(with_url(url))

    assert words in text
    assert "The argument “q”, from out." in text
    assert "But not your sign-in." in text


def test_a_url_target_on_the_own_host_goes_without_the_credential() -> None:
    """Contract section 3: the credential goes with an endpoint and with nothing else."""
    text = said(with_url("https://api.acme.example/x"))

    assert "Without sign-in or token, by its whole URL: out." in text
    assert "With your sign-in: list_notes, add_note and delete_note." in text
    assert "an outside host" not in text


def test_a_host_of_a_tool_over_the_ceiling_receives_nothing() -> None:
    """A tool that no agent gets sends nothing anywhere."""
    document = with_url("https://out.example/x")
    document["tools"][-1] |= {"category": "action"}

    assert "out.example" not in said(document)


def test_an_env_value_is_named_where_it_goes_and_where_it_is_kept() -> None:
    """Contract section 8: the name is shown, the value never."""
    document = with_url("https://out.example/x", headers={"X-Key": "${env.KEY}"})
    assert "KEY (no collection declared, so a call fails)." in said(document)

    document["env"] = {"collection": "main", "environment": "production"}
    assert "stored here for the app (env): KEY of “main/production”." in said(document)


@pytest.mark.parametrize(
    ("auth", "words"),
    [
        ({"type": "none"}, "No credential of yours"),
        ({"type": "basic"}, "a user name and password of yours"),
        ({"type": "identity"}, "a signed token with your user id and workspace"),
        ({"type": "apiKey", "in": "query", "name": "k”"}, 'in the query parameter “k"”.'),
        ({"type": "apiKey", "in": "header", "name": "X-K"}, "in the header “X-K”."),
    ],
)
def test_each_kind_of_credential_is_said(auth: Document, words: str) -> None:
    """Contract section 17: which host receives the user credential."""
    assert words in said(apps.small() | {"auth": auth})
