"""The dashboard of Acme Bookmarks in a real browser: in a frame, at every width, in both themes."""

from __future__ import annotations

import json
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.examples.bookmarks_process import Component, component
from tests.main.browser import Browser, Page, browsing

#: A chat: a frame as wide as there is room, as high as the page in it says.
CHAT = """<!doctype html><meta name="viewport" content="width=device-width, initial-scale=1">
<style>body { margin: 0 } iframe { display: block; width: 100%; height: 40px; border: 0 }</style>
<iframe id="it" sandbox="allow-scripts allow-same-origin allow-forms"></iframe><script>
const it = document.getElementById("it"), told = []
addEventListener("message", ({ source, data, origin }) => {
  if (source !== it.contentWindow) return
  told.push({ data, origin })
  it.style.height = `${data.__remit_height}px`
})
it.src = decodeURIComponent(location.hash.slice(1))
</script>"""


class _Chat(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(CHAT.encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Nothing."""


@contextmanager
def chat() -> Generator[str]:
    """The origin of a page that frames."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Chat) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Component, Browser, str]]:
    """The component with an imported mailbox, a browser, and where it is framed."""
    folder = tmp_path_factory.mktemp("dashboard")
    with (
        browsing(folder / "profile") as browser,
        chat() as origin,
        component(folder, BOOKMARKS_FRAMED_BY=origin) as here,
    ):
        assert here.call("/mail/connect").status == 200
        yield here, browser, origin


def framed(place: tuple[Component, Browser, str], *, width: int, weeks: int = 8) -> Page:
    """The dashboard in a chat of a width, once it has said how high it is."""
    here, browser, origin = place
    address = here.call("/tools/show-dashboard", {"weeks": weeks}).json()["embedUrl"]
    page = browser.open(f"{origin}/#{address}", width=width)
    page.until("told.length > 0")
    return page


@pytest.mark.promise("K-47")
@pytest.mark.parametrize("width", [360, 721, 1280])
def test_the_frame_is_as_high_as_the_page_and_nothing_is_cut_off(
    place: tuple[Component, Browser, str], width: int
) -> None:
    """It says its height, again when that changes; it never scrolls, and no text leaves it."""
    here, browser, _ = place
    page = framed(place, width=width)
    assert page.run("told[0].origin") == here.url
    assert page.run("Object.keys(told[0].data)") == ["__remit_height"]
    high = page.run("it.getBoundingClientRect().height")
    assert 200 < high < 900
    assert page.run("it.getBoundingClientRect().width") == width
    for weeks in (8, 13, 26):
        # The same page by itself, in a window of the frame's size: what is in it can be looked at.
        address = here.call("/tools/show-dashboard", {"weeks": weeks}).json()["embedUrl"]
        alone = browser.open(address, width=width, height=int(high) + 400)
        measured = alone.run(MEASURED)
        assert measured["across"] <= width, measured
        assert measured["outside"] == []
        assert measured["small"] >= 11
        assert measured["overlaps"] == []
        if weeks == 8:
            assert abs(measured["down"] - high) <= 1
            grown = alone.run(
                "document.querySelector('summary').click(), document.body.scrollHeight"
            )
            assert grown > high


#: What a page measures of itself: sizes, texts that are cut off, and labels that touch each other.
MEASURED = """(() => {
  const boxes = [...document.querySelectorAll('h1, h2, p, a, text')]
    .map((one) => [one.textContent, one.getBoundingClientRect()])
  const labels = [...document.querySelectorAll('text.label')]
    .map((one) => one.getBoundingClientRect())
  return {
    across: document.documentElement.scrollWidth,
    down: document.body.scrollHeight,
    outside: boxes.filter(([, box]) => box.left < 0 || box.right > innerWidth + 0.5)
      .map(([text]) => text),
    small: Math.min(...[...document.querySelectorAll('text, p, a')]
      .map((one) => parseFloat(getComputedStyle(one).fontSize))),
    overlaps: labels.filter((one, n) => n && one.left < labels[n - 1].right + 2).length
      ? labels.map((one) => [one.left, one.right]) : [],
  }
})()"""


def test_a_press_in_the_frame_goes_on_by_its_own_cookie(
    place: tuple[Component, Browser, str],
) -> None:
    """Another stretch of weeks is another page of the frame, which says its height again."""
    page = framed(place, width=1280)
    before = page.run("told.length")
    box = page.run("it.getBoundingClientRect().toJSON()")
    # The last choice of the navigation, at the right end of the header.
    page.click(box["x"] + box["width"] - 16 - 22, box["y"] + 16 + 22)
    page.until(f"told.length > {before}")
    assert any("weeks=26" in one for one in requested(place))


def requested(place: tuple[Component, Browser, str]) -> list[str]:
    """Addresses that any page or frame asked for."""
    return [
        one["params"]["request"]["url"]
        for one in place[1].events
        if one["method"] == "Network.requestWillBeSent"
    ]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_both_themes_can_be_read(place: tuple[Component, Browser, str], theme: str) -> None:
    """Text and bars stand out from the ground by what WCAG asks: 4.5 for text, 3 for shapes."""
    here, browser, _ = place
    page = browser.open("about:blank", width=360)
    page.call(
        "Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}]
    )
    page.call("Page.navigate", url=here.call("/tools/show-dashboard").json()["embedUrl"])
    page.until("document.querySelector('svg')")
    colours = page.run(
        """({
          ground: getComputedStyle(document.documentElement).backgroundColor,
          text: getComputedStyle(document.body).color,
          quiet: getComputedStyle(document.querySelector('p')).color,
          label: getComputedStyle(document.querySelector('text.label')).fill,
          bar: getComputedStyle(document.querySelector('.bar')).fill,
        })"""
    )
    dark = luminance(colours["ground"]) < 0.5
    assert dark is (theme == "dark")
    for name, least in {"text": 4.5, "quiet": 4.5, "label": 4.5, "bar": 3}.items():
        assert contrast(colours[name], colours["ground"]) >= least, (name, colours)


def test_a_stranger_may_not_frame_it(place: tuple[Component, Browser, str]) -> None:
    """A page of another origin than those that are given shows nothing of it."""
    here, browser, _ = place
    address = here.call("/tools/show-dashboard").json()["embedUrl"]
    with chat() as stranger:
        page = browser.open(f"{stranger}/#{address}", width=700)
        page.until("performance.getEntriesByType('resource').length > 0")
        page.run("new Promise((done) => setTimeout(done, 300))")
        assert page.run("told") == []


def luminance(colour: str) -> float:
    """Of a colour such as ``rgb(1, 2, 3)``, from 0 to 1."""
    parts = [int(one) / 255 for one in json.loads(f"[{colour[4:-1]}]")]
    red, green, blue = (
        one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """The ratio of two colours, from 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)
