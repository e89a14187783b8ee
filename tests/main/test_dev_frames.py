"""Pages of apps in the page of `remit dev`, in a real browser (contract sections 8 and 12)."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.main.developing import within
from tests.main.shown_app import MARKER, ShownApp
from tests.main.shown_page import CHAT, TRANSCRIPT, Shown, shown_page

FRAME = f"{CHAT}.querySelector('iframe.embed')"
WINDOW = 900


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shown]:
    """The page, for all tests of this file."""
    with shown_page(tmp_path_factory.mktemp("frames")) as found:
        yield found


def place(shown: Shown) -> dict[str, float]:
    """Where the frame is."""
    return shown.page.run(f"{FRAME}.getBoundingClientRect().toJSON()")


def settle(shown: Shown) -> None:
    """Let messages that were posted so far arrive."""
    shown.page.run("new Promise((done) => setTimeout(done, 100))")


@pytest.mark.promise("K-34", "K-35")
def test_a_framed_page_is_the_apps_own_and_cannot_touch_the_transcript(shown: Shown) -> None:
    """Origin, cookies, scripts, forms and sign-in are its own; Remit fetches and keeps nothing."""
    app = shown.app
    address = f"{app.url}/page?ticket=t-4711"
    shown.say({"content": "A page.", "embedUrl": address, "markdown": "Not this."})
    shown.see("So it is.")
    within(lambda: app.reports)
    assert app.reports[0] == {
        "origin": app.url,
        "cookie": "signed=in",
        "kept": "yes",
        "referrer": "",
        "transcript": True,
        "storage": True,
        "away": True,
    }
    attributes = f"Object.fromEntries([...{FRAME}.attributes].map((a) => [a.name, a.value]))"
    assert shown.page.run(attributes) == {
        "class": "embed",
        "title": f"A page of the app, on {app.url.removeprefix('http://')}",
        "sandbox": (
            "allow-scripts allow-same-origin allow-forms allow-popups "
            "allow-popups-to-escape-sandbox"
        ),
        "referrerpolicy": "no-referrer",
        "src": address,
    }
    assert shown.page.run(f"!{TRANSCRIPT}.querySelector('.shown .prose')")
    width = shown.page.run(f"{FRAME}.parentElement.getBoundingClientRect().width")
    assert width == shown.page.run(f"{TRANSCRIPT}.getBoundingClientRect().width")

    # Its sign-in opens a window that is no longer in the sandbox, and hears from it.
    found = place(shown)
    shown.page.click(found["x"] + 50, found["y"] + 30)
    within(lambda: {"popup": f"signed in on {app.url}"} in app.reports)

    agents = [agent for _, path, agent in app.asked if path.startswith("/page")]
    assert len(agents) == 1
    assert "Chrome" in agents[0]
    kept = [one for one in shown.folder.rglob("*") if one.is_file() and "profile" not in one.parts]
    assert any(one.suffix == ".db" for one in kept)
    assert not [one for one in kept if MARKER.encode() in one.read_bytes()]
    log = shown.api.ask(
        "GET", f"/v1/sessions/{shown.session()}/events", headers={"Accept": "application/json"}
    )
    (call,) = {one["data"]["callId"] for one in log.json["events"] if "callId" in one["data"]}
    record = json.dumps(shown.api.done("GET", f"/v1/calls/{call}"))
    assert "t-4711" not in record
    assert f"{app.url}/page?***" in record


@pytest.mark.promise("K-34")
def test_a_form_of_a_framed_page_goes_to_its_app(shown: Shown) -> None:
    """In its own frame; this page stays where it is."""
    shown.framed(f"{shown.app.url}/page#form")
    within(lambda: "POST /form" in shown.app.paths())
    assert shown.page.run("location.pathname") == "/dev"


@pytest.mark.promise("K-47")
@pytest.mark.parametrize(
    ("height", "drawn"),
    [
        ("250", 250),
        ("99999999", WINDOW * 0.7),
        ("1e300", WINDOW * 0.7),
        ("12", 40),
        ("-5", 40),
        ('"100;background:url(x)"', 320),
        ('"NaN"', 320),
        ('"250"', 320),
        ("null", 320),
        ("[250]", 320),
        ('{"valueOf": 250}', 320),
    ],
    ids=str,
)
def test_the_card_follows_the_height_that_its_page_reports(
    shown: Shown, height: str, drawn: float
) -> None:
    """Finite numbers alone, from 40 px to 70 % of the window."""
    before = len(shown.app.reports)
    shown.framed(f"{shown.app.url}/page?height={quote(height)}")
    within(lambda: len(shown.app.reports) > before)
    settle(shown)
    assert place(shown)["height"] == pytest.approx(drawn)


@pytest.mark.promise("K-47")
def test_only_the_frames_own_window_sizes_it(shown: Shown) -> None:
    """Not this page, not another frame, not a frame inside of it."""
    before = len(shown.app.reports)
    shown.framed(f"{shown.app.url}/page")
    within(lambda: len(shown.app.reports) > before)
    add = f"""Promise.all([import("/dev/sdk.js"), import("/dev/chat.js")]).then(([sdk, chat]) =>
      {TRANSCRIPT}.append(sdk.embed("{shown.app.url}/page?height=200", chat.framing())))"""
    shown.page.run(f"{add}.then(() => null)")
    within(lambda: len(shown.app.reports) > before + 1)
    shown.page.run("window.postMessage({ __remit_height: 500 }, '*')")
    settle(shown)
    heights = f"[...{CHAT}.querySelectorAll('iframe.embed')].map((one) => one.offsetHeight)"
    assert shown.page.run(heights) == [320, 200]


def test_the_message_has_the_brands_name(tmp_path: Path) -> None:
    """`__kazzle_height` where the product is Kazzle, and no other there (section 12)."""
    with shown_page(tmp_path, REMIT_BRAND_NAME="Kazzle") as branded:
        for number, (brand, drawn) in enumerate((("remit", 320), ("kazzle", 200)), 1):
            branded.framed(f"{branded.app.url}/page?height=200&brand={brand}")
            within(lambda number=number: len(branded.app.reports) == number)
            settle(branded)
            assert place(branded)["height"] == drawn


def test_a_window_that_becomes_smaller_keeps_the_bound(shown: Shown) -> None:
    """70 % of the window as it is, on a phone that is turned too."""
    before = len(shown.app.reports)
    shown.framed(f"{shown.app.url}/page?height=600")
    within(lambda: len(shown.app.reports) > before)
    settle(shown)
    assert place(shown)["height"] == 600
    shown.page.resize(844, 390)
    assert place(shown)["height"] == pytest.approx(390 * 0.7)
    shown.page.resize(1280, WINDOW)


@pytest.mark.promise("K-34")
@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("data:text/html,x", "no absolute https one"),
        ("javascript:alert(1)", "no absolute https one"),
        ("/page", "no absolute https one"),
        ("//evil.test/", "no absolute https one"),
        ("http://evil.test/", "no absolute https one"),
        ("https://bank.test@evil.test/", "no absolute https one"),
        ("https://acme.example/page?***", "was kept without its query"),
    ],
    ids=str,
)
def test_what_is_no_page_of_an_app_is_not_framed(shown: Shown, address: str, said: str) -> None:
    """Whatever the server let through: the page has a rule of its own."""
    found = shown.framed(address)
    assert found["frames"] == 0
    assert said in found["text"]


@pytest.mark.promise("K-34")
def test_no_frame_has_the_origin_of_the_page_itself(shown: Shown) -> None:
    """Its sandbox would not keep it apart."""
    found = shown.framed(f"{shown.api.url}/dev")
    assert found["frames"] == 0
    assert "own origin" in found["text"]


def test_no_other_origin_is_framed_than_those_of_the_apps(shown: Shown) -> None:
    """The policy of the page names them; another one is not even asked, and it is said."""
    with ShownApp() as other:
        shown.framed(f"{other.url}/page")
        shown.page.until(f"{TRANSCRIPT}.textContent.includes('Load this page again')")
        assert other.asked == []


def policy(shown: Shown) -> str:
    """The content security policy of the page."""
    with urllib.request.urlopen(f"{shown.api.url}/dev") as answer:
        return answer.headers["Content-Security-Policy"]


def test_the_policy_allows_frames_of_components_and_nothing_beyond(shown: Shown) -> None:
    """Not where an app only sends to: an outside endpoint is no place of its pages."""
    assert f"; frame-src {shown.app.url};" in policy(shown)
    file = shown.folder / "app.json"
    document: dict[str, Any] = json.loads(file.read_text("utf-8"))
    outside = {
        **document["tools"][0],
        "name": "outside",
        "target": {"type": "url", "url": "https://outside.example/x", "method": "GET"},
    }
    base = {"baseUrl": "https://app.acme.example/v1", "tools": [*document["tools"], outside]}
    file.write_text(json.dumps({**document, **base}), "utf-8")
    within(lambda: "https://app.acme.example" in policy(shown))
    frames = policy(shown).partition("frame-src ")[2].partition(";")[0]
    assert frames == f"{shown.app.url} https://app.acme.example"
