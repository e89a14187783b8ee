"""The short form that consent shows."""

from __future__ import annotations

import pytest

from remit.statement.remit import build
from remit.statement.rendering import short
from tests.statement import apps
from tests.statement.apps import Document, loaded


def letter(document: Document) -> str:
    """The short form of a document's remit."""
    return short(build(loaded(document)))


def test_the_letter_says_what_it_can_do_what_asks_and_where_it_goes() -> None:
    """Look and voice: the remit reads like a letter."""
    assert letter(apps.small()) == (
        "Acme Notes can read (“List notes”) and change data in the app (“Add a note”). It can do "
        "lasting harm (“Delete a note”), which Remit cannot undo; it must ask you each time. All "
        "else it does without asking. Your sign-in (a bearer token) to https://api.acme.example "
        "is used for all of it; nothing goes anywhere else."
    )


@pytest.mark.parametrize("name", apps.ALL)
def test_the_letter_has_three_to_six_sentences(name: str) -> None:
    """A person asked for consent reads a paragraph, whatever the app."""
    assert 3 <= len(build(loaded(apps.ALL[name]())).letter) <= 6


def test_what_the_letter_leaves_out_is_counted() -> None:
    """Contract, bad input: nothing is cut silently."""
    document = apps.small()
    document["tools"] = [apps.tool(f"get_{number}") for number in range(9)]

    assert "“get_3” and 5 more tools" in letter(document)


CASES = [
    pytest.param({"requiresApproval": True}, "it must ask you each time", id="demanded"),
    pytest.param({}, "it asks you each time, unless a policy lifts that", id="by default"),
    pytest.param({"dangerLevel": "safe"}, "nobody is asked first", id="understated"),
]


@pytest.mark.parametrize(("more", "words"), CASES)
def test_the_letter_says_how_a_destructive_tool_asks(more: Document, words: str) -> None:
    """Contract section 5, step 6: requiresApproval always asks, destructive by default."""
    document = apps.small()
    record = {"category": "write", "dangerLevel": "destructive"} | more
    document["tools"] = [apps.tool("wipe", "DELETE", **record)]

    assert f"(“wipe”), which Remit cannot undo; {words}." in letter(document)


def test_one_destructive_tool_that_a_policy_may_lift_is_enough_to_say_so() -> None:
    """The letter promises no more than the least strict of the tools it speaks of."""
    document = apps.small()
    record = {"category": "write", "dangerLevel": "destructive"}
    document["tools"] = [
        apps.tool("wipe", "DELETE", **record),
        apps.tool("burn", "DELETE", requiresApproval=True, **record),
    ]

    assert "it asks you each time, unless a policy lifts that" in letter(document)


@pytest.mark.promise("T-14")
def test_the_letter_says_it_when_words_and_facts_disagree() -> None:
    """Promise T-14: understated danger is shown before anybody consents."""
    document = apps.small()
    document["tools"] = [apps.tool("tidy", "DELETE", title="Tidy up")]

    assert "“Tidy up” says it is safe, but it uses DELETE." in letter(document)


def test_the_letter_names_outside_hosts_and_later_tools() -> None:
    """Whom data goes to, and what nobody reviewed, belong into the shortest form."""
    assert "arguments also go outside, to https://books.ledger.example" in letter(apps.payments())
    later = "Its own server may add tools without a review: tools that may only read"
    assert later in letter(apps.library())


@pytest.mark.parametrize(
    ("auth", "words"),
    [
        ({"type": "none"}, "It calls https://api.acme.example without a sign-in of yours"),
        ({"type": "basic"}, "Your sign-in (a user name and password) to https://api.acme.example"),
        ({"type": "identity"}, "Your user id (in a signed token) to https://api.acme.example"),
    ],
)
def test_the_letter_says_what_of_the_user_is_sent(auth: Document, words: str) -> None:
    """Contract section 7: each kind of credential in words."""
    assert words in letter(apps.small() | {"auth": auth})
