"""Offered names: the provider's limits, one meaning each, whatever the order."""

from __future__ import annotations

import random
import re
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.offer.names import Names, ToolKey, mcp_names, session_names, shortened_name
from tests.offer.apps import app, client_record, record

LONG = "synchronise_customer_billing_address_with_external_l"


def names_of(*apps: tuple[str, str], mcp: bool = False) -> Names:
    """Names of apps given as id and tools; a tool written ``client:x`` runs in the client."""
    built = [
        (
            app_id,
            app(
                *(
                    client_record(name[7:]) if name.startswith("client:") else record(name)
                    for name in tools.split()
                ),
                app_id=app_id,
            ).tools,
        )
        for app_id, tools in apps
    ]
    return (mcp_names if mcp else session_names)(built)


@pytest.mark.promise("T-05", "K-04")
@pytest.mark.parametrize(
    ("apps", "offered"),
    [
        pytest.param([("acme", "place")], {"acme/place": "integration_place"}, id="endpoint"),
        pytest.param([("acme", "client:place")], {"acme/place": "place"}, id="target"),
        pytest.param(
            [("acme", "place"), ("b2", "client:place")],
            {"acme/place": "integration_place", "b2/place": "place"},
            id="no clash between kinds",
        ),
        pytest.param(
            [("acme", "place get"), ("b2", "place")],
            {
                "acme/place": "integration_acme_place",
                "b2/place": "integration_b2_place",
                "acme/get": "integration_get",
            },
            id="both of a clash get the app's id",
        ),
        pytest.param(
            [("acme", "client:place"), ("b2", "client:place")],
            {"acme/place": "acme_place", "b2/place": "b2_place"},
            id="targets clash",
        ),
        pytest.param(
            [("aa", "x"), ("bb", "x"), ("cc", "aa_x")],
            {
                "aa/x": "integration_aa_x",
                "bb/x": "integration_bb_x",
                "cc/aa_x": "integration_cc_aa_x",
            },
            id="a name made from two meets a third one's",
        ),
    ],
)
def test_tool_is_offered_under_its_name(
    apps: list[tuple[str, str]], offered: dict[str, str]
) -> None:
    """Contract section 2: the prefix, and the app's id for both where two clash."""
    names = names_of(*apps)

    assert {f"{key.app}/{key.tool}": name for key, name in names.offered.items()} == offered
    for key, name in names.offered.items():
        assert names.find(name) == key
    assert names.find("no_such_tool") is None


@pytest.mark.parametrize(
    ("apps", "offered"),
    [
        ([("acme", "place")], {"acme/place": "place"}),
        (
            [("acme", "place get"), ("b2", "place")],
            {"acme/place": "acme_place", "b2/place": "b2_place", "acme/get": "get"},
        ),
    ],
)
def test_mcp_client_sees_own_names(apps: list[tuple[str, str]], offered: dict[str, str]) -> None:
    """Contract section 14: own names; with the app's id where two clash."""
    names = names_of(*apps, mcp=True)

    assert {f"{key.app}/{key.tool}": name for key, name in names.offered.items()} == offered


@pytest.mark.promise("T-06")
@pytest.mark.parametrize(
    ("app_id", "tool"),
    [
        ("load", "client:skill"),
        ("search", "client:tools"),
        ("widget", "client:x"),
        ("remit", "client:check"),
        ("integration", "client:place"),
    ],
)
def test_app_id_never_spells_a_name_of_the_platform(app_id: str, tool: str) -> None:
    """An app's id in front of its tool must not make the tool pass for the platform's."""
    plain = tool.removeprefix("client:")
    for mcp in (False, True):
        names = names_of((app_id, tool), ("other", tool), mcp=mcp)
        assert names.of(app_id, plain) == f"app_{app_id}_{plain}"
        assert names.of("other", plain) == f"other_{plain}"


def test_long_clashing_names_are_shortened_to_64() -> None:
    """The first 55 characters, an underscore, 8 hex digits of the SHA-256 of the whole."""
    ids = ("a-very-long-application-identifier-one", "a-very-long-application-identifier-two")
    names = names_of(*((app_id, LONG) for app_id in ids))

    for app_id in ids:
        whole = f"integration_{app_id}_{LONG}"
        name = names.of(app_id, LONG)
        assert name == f"{whole[:55]}_{sha256(whole.encode()).hexdigest()[:8]}"
        assert len(name) == 64
        assert names.find(name) == ToolKey(app=app_id, tool=LONG)


def test_longest_plain_name_keeps_its_whole_length() -> None:
    """52 characters and the prefix are exactly 64: nothing to shorten."""
    assert len(LONG) == 52
    assert names_of(("acme", LONG)).of("acme", LONG) == f"integration_{LONG}"
    assert shortened_name("x" * 64) == "x" * 64
    assert len(shortened_name("x" * 65)) == 64


app_ids = st.sampled_from(["aa", "bb", "aa-b", "integration", "load", "widget", "x" * 40])
tool_names = st.sampled_from(
    ["x", "aa_x", "bb_x", "skill", "aa_aa_x", "app_widget_x", "-x".replace("-", "_"), "y" * 52]
)
sessions = st.dictionaries(
    app_ids,
    st.dictionaries(tool_names, st.booleans(), min_size=1, max_size=5),
    min_size=1,
    max_size=5,
)


@given(sessions, st.randoms(use_true_random=False))
def test_names_are_distinct_short_and_independent_of_order(
    session: dict[str, dict[str, bool]], order: random.Random
) -> None:
    """Never two equal names, 65 characters, or another tool behind a name in another order."""
    apps = [
        (
            app_id,
            [
                *app(
                    *(record(n) if e else client_record(n) for n, e in tools.items()), app_id=app_id
                ).tools
            ],
        )
        for app_id, tools in session.items()
    ]
    for make in (session_names, mcp_names):
        names = make(apps)
        shuffled = [(app_id, order.sample(tools, len(tools))) for app_id, tools in apps]
        order.shuffle(shuffled)

        assert dict(make(shuffled).tools) == dict(names.tools)
        assert len(names.tools) == len(names.offered) == sum(map(len, session.values()))
        for name in names.tools:
            assert re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]{0,63}", name)
            assert name not in ("computer", "load_skill", "search_tools")
            assert not name.startswith(("widget_", "remit_"))
            if make is session_names:
                key = names.tools[name]
                endpoint = session[key.app][key.tool]
                assert name.startswith("integration_") == endpoint
