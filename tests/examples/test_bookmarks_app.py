"""The component of Acme Bookmarks: its tools by their routes, over real HTTP."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from itertools import product
from pathlib import Path

import pytest

from remit.kit.testing import Issuer
from tests.examples.bookmarks_process import AUDIENCE, Component, Frame, component

SAVE, SEARCH = "/tools/save-bookmark", "/tools/search-bookmarks"
SHOW, IMPORT, CONNECT = "/tools/show-dashboard", "/tools/import-from-mail", "/mail/connect"
ROUTES = (SAVE, SEARCH, SHOW, IMPORT, CONNECT)
PAGE = {"url": "https://acme.example/soup", "title": "Soup", "tags": ["cooking"]}


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Component]:
    """The component, with an empty database."""
    with component(tmp_path) as found:
        yield found


def content(
    here: Component,
    path: str,
    args: object = None,
    user: str = "ana",
    installation: str = "here",
) -> str:
    """What a tool tells the model."""
    reply = here.call(path, args, user=user, installation=installation)
    assert reply.status == 200, reply
    return reply.json()["content"]


def address(here: Component, user: str = "ana", installation: str = "here") -> str:
    """The address of a dashboard."""
    return here.call(SHOW, user=user, installation=installation).json()["embedUrl"]


# -- who calls ---------------------------------------------------------------------------------


@pytest.mark.promise("K-22")
def test_no_route_serves_without_a_good_identity(here: Component) -> None:
    """No token, one of another issuer, one for another component: 401, and nothing is kept."""
    context = {"Remit-Tool-Context": '{"source":"api"}'}
    with Issuer() as other:
        tokens = ("", other.token(AUDIENCE), here.issuer.token("acme-bookmarks/other"))
        for path, token in product(ROUTES, tokens):
            given = {**context, "Authorization": f"Bearer {token}"} if token else context
            reply = here.ask("POST", path, PAGE if path == SAVE else {}, headers=given)
            assert (reply.status, reply.json()["code"]) == (401, "identity_refused")
    for table in ("bookmarks", "connections", "frames"):
        assert here.rows(f"SELECT count(*) FROM {table}") == [(0,)]  # noqa: S608


@pytest.mark.promise("K-22")
def test_nobody_sees_what_another_user_or_installation_has(here: Component) -> None:
    """Same name in another installation is somebody else; so are mailbox and dashboard."""
    content(here, SAVE, PAGE)
    content(here, CONNECT)
    for user, place in (("ben", "here"), ("ana", "there")):
        assert "https://" not in content(here, SEARCH, {}, user, place)
        asked = here.call(IMPORT, user=user, installation=place).json()
        assert asked["type"] == "action_required"
        assert "0 bookmarks" in content(here, SHOW, {}, user, place)
        page = Frame(here).open(address(here, user, place)).body.decode()
        assert "Nothing was saved" in page
        # The same page may be kept by both.
        assert content(here, SAVE, PAGE, user, place).startswith("Saved")
    assert "of 19 bookmarks" in content(here, SHOW)


# -- bookmarks ---------------------------------------------------------------------------------


def test_a_page_is_kept_once_and_found_by_its_words_and_tags(here: Component) -> None:
    """Saving again adds tags; every word must be there, in whatever case."""
    assert content(here, SAVE, PAGE) == "Saved https://acme.example/soup with the tags cooking."
    again = content(here, SAVE, {"url": PAGE["url"], "tags": ["winter"]})
    assert (
        again == "https://acme.example/soup was saved before; it is there with the tags winter now."
    )
    content(here, SAVE, {"url": "https://acme.example/bread"})
    assert here.rows("SELECT url, title, source FROM bookmarks") == [
        ("https://acme.example/soup", "Soup", "agent"),
        ("https://acme.example/bread", "https://acme.example/bread", "agent"),
    ]
    today = datetime.now(UTC).date()
    found = f"1 bookmark found:\n- Soup <https://acme.example/soup> #cooking #winter, saved {today}"
    for wish in ({"words": "SOUP winter"}, {"tag": "cooking"}, {"words": "acme", "tag": "winter"}):
        assert content(here, SEARCH, wish) == found
    assert content(here, SEARCH, {"words": "soup bread"}).startswith("No bookmark has all of that")
    newest = content(here, SEARCH, {"limit": 1}).splitlines()
    assert newest[0] == "2 bookmarks found, the newest 1 of them:"
    assert "bread" in newest[1]


def test_the_users_card_has_links_and_no_markup_of_a_title(here: Component) -> None:
    """What somebody wrote into a title stays text."""
    title = "](https://evil.example) <img src=x> *bold*"
    reply = here.call(SAVE, {"url": "https://acme.example/a(b)", "title": title}).json()
    assert reply["markdown"] == (
        r"Saved [\]\(https://evil.example\) \<img src=x\> \*bold\*](https://acme.example/a%28b%29)"
    )


def test_what_does_not_fit_is_refused_and_not_kept(here: Component) -> None:
    """By the same model that the tool declares."""
    for wish in (
        {},
        {"url": "nowhere"},
        {"url": "javascript:alert(1)"},
        {**PAGE, "tags": ["Not a tag"]},
        {**PAGE, "stars": 5},
    ):
        assert here.call(SAVE, wish).status == 422, wish
    assert here.rows("SELECT count(*) FROM bookmarks") == [(0,)]


# -- mail --------------------------------------------------------------------------------------


@pytest.mark.promise("K-23")
def test_the_mailbox_is_asked_for_in_a_conversation_and_refused_elsewhere(here: Component) -> None:
    """A card whose button has the wish in it; over the API an error of the handler's own."""
    card = here.call(IMPORT, {"days": 30}).json()
    assert card["type"] == "action_required"
    (button,) = card["elements"]
    assert button["input"] == {"days": 30}
    assert (button["target"]["path"], button["target"]["method"]) == (CONNECT, "POST")
    reply = here.by_api(IMPORT, {"days": 30})
    assert (reply.status, reply.json()["code"]) == (409, "connect_required")
    assert here.rows("SELECT count(*) FROM connections") == [(0,)]
    assert here.rows("SELECT count(*) FROM bookmarks") == [(0,)]


def test_the_button_connects_and_goes_on_with_the_import(here: Component) -> None:
    """Its answer is that of the tool; afterwards the tool asks no more, here or by the API."""
    words = content(here, CONNECT, {"days": 30, "tag": "mail"})
    assert words.startswith("Read 10 mails of the last 30 days: 13 links, 13 of them new.")
    assert here.rows("SELECT user_id, installation FROM connections") == [("ana", "here")]
    assert here.rows("SELECT count(*) FROM bookmarks WHERE source = 'mail'") == [(13,)]
    dated = {date.fromisoformat(day) for (day,) in here.rows("SELECT saved_on FROM bookmarks")}
    assert min(dated) == datetime.now(UTC).date() - timedelta(days=26)
    assert here.rows("SELECT count(*) FROM tags WHERE tag = 'mail'") == [(13,)]
    assert content(here, IMPORT, {"days": 30}) == (
        "Read 10 mails of the last 30 days: 13 links, 0 of them new."
    )
    more = here.by_api(IMPORT, {"days": 365}).json()["content"]
    assert more.startswith("Read 16 mails of the last 365 days: 18 links, 5 of them new.")


# -- the dashboard -----------------------------------------------------------------------------


@pytest.mark.promise("K-46")
def test_the_dashboard_is_told_in_words_and_embedded_by_an_absolute_address(
    here: Component,
) -> None:
    """The model gets the numbers; the address is of the component, as its environment says."""
    content(here, CONNECT)
    reply = here.call(SHOW, {"weeks": 26}).json()
    assert reply["content"].startswith("18 of 18 bookmarks are of the last 26 weeks.")
    assert (
        "By tag: reading: 10, design: 4, databases: 3, cooking: 2, ops: 2, search: 1."
        in (reply["content"])
    )
    assert re.fullmatch(rf"{here.url}/dashboard\?code=[\w-]{{43}}", reply["embedUrl"])


def test_the_chart_is_drawn_from_the_databases_numbers(here: Component) -> None:
    """Bars add up to the rows; a bar more for a bookmark more."""
    content(here, CONNECT)
    page = Frame(here).open(here.call(SHOW, {"weeks": 26}).json()["embedUrl"]).body.decode()
    weeks = [int(n) for n in re.findall(r"<title>Week of [^:]+: (\d+) ", page)]
    assert sum(weeks) == here.rows("SELECT count(*) FROM bookmarks")[0][0] == 18
    tags = dict(re.findall(r"<title>([\w-]+): (\d+) bookmarks?</title>", page))
    counted = here.rows("SELECT tag, count(*) FROM tags GROUP BY tag")
    assert tags == {tag: str(count) for tag, count in counted}
    content(here, SAVE, PAGE)
    page = Frame(here).open(here.call(SHOW, {"weeks": 26}).json()["embedUrl"]).body.decode()
    assert sum(int(n) for n in re.findall(r"<title>Week of [^:]+: (\d+) ", page)) == 19


def test_a_code_opens_once_within_a_minute_and_for_its_browser_alone(here: Component) -> None:
    """Whoever has the address later, or the page's own without the cookie, gets nothing."""
    content(here, SAVE, PAGE)
    mine, code = Frame(here), address(here)
    page = mine.open(code)
    assert (page.status, "By week" in page.body.decode()) == (200, True)
    assert Frame(here).open(code).status == 403
    # The chat around it was loaded again: the same address in the same browser.
    assert mine.open(code).status == 200
    (frame,) = mine.cookies
    path = f"/dashboard/{frame.removeprefix('frame_')}"
    assert mine.open(path).status == 200
    assert mine.open(f"{path}?weeks=26").status == 200
    assert Frame(here).open(path).status == 403
    # The cookie of one frame opens no other.
    other = Frame(here)
    other.open(address(here, user="ben"))
    assert Frame(here, other.cookies).open(path).status == 403

    late = address(here)
    here.change("UPDATE frames SET code_until = code_until - 61")
    assert Frame(here).open(late).status == 403
    here.change("UPDATE frames SET cookie_until = cookie_until - 3601")
    assert mine.open(path).status == 403
    assert Frame(here).open("/dashboard").status == 403
    kept = b"".join(one.read_bytes() for one in here.database.parent.glob("bookmarks.db*"))
    for secret in (code.partition("=")[2], mine.cookies[frame]):
        assert secret.encode() not in kept


def test_the_cookie_is_of_the_frame_and_no_script_reads_it(tmp_path: Path) -> None:
    """On the public web it goes with frames on other sites, encrypted; on loopback it need not."""
    with component(tmp_path) as here:
        frame = Frame(here)
        frame.open(address(here))
        assert "HttpOnly; Max-Age=3600; Path=/dashboard; SameSite=Lax" in frame.given[0]
    told = "https://bookmarks.acme.example"
    with component(tmp_path, REMIT_APP_COMPONENT_URL=told) as here:
        frame = Frame(here)
        frame.open(address(here).removeprefix(told))
        assert (
            "HttpOnly; Max-Age=3600; Path=/dashboard; SameSite=None; Secure; Partitioned"
            in frame.given[0]
        )


@pytest.mark.promise("K-46")
def test_the_page_is_under_a_policy_of_its_own_and_speaks_the_brand(tmp_path: Path) -> None:
    """It runs one script, is framed by Remit's origin and those that are given, by its name."""
    more = "https://app.acme.example"
    with component(tmp_path, brand="Kazzle", BOOKMARKS_FRAMED_BY=more) as here:
        page = Frame(here).open(address(here))
        policy = page.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; style-src 'sha256-")
        assert policy.endswith(f"frame-ancestors {here.issuer.url} {more}")
        assert "unsafe" not in policy
        assert page.headers["referrer-policy"] == "no-referrer"
        assert page.headers["cache-control"] == "no-store"
        assert "x-frame-options" not in page.headers
        assert 'const NAME = "__kazzle_height"' in page.body.decode()
