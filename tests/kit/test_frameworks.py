"""One handler in each framework, behind a real server, called as Remit calls."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass

import httpx
import pytest

from remit.kit import App, ToolContext
from remit.kit.testing import API, THREAD, Issuer, Outcome
from remit.kit.tools import Json
from tests.kit import bookmarks
from tests.kit.bookmark_tools import AUDIENCE, SAVE, SEARCH
from tests.kit.bookmarks import CONNECT

SERVED = {
    "starlette": (bookmarks.starlette, bookmarks.save),
    "starlette, async": (bookmarks.starlette, bookmarks.save_async),
    "fastapi": (bookmarks.fastapi, bookmarks.save_async),
    "flask": (bookmarks.flask_app, bookmarks.save),
    "flask, async": (bookmarks.flask_app, bookmarks.save_async),
    "django": (bookmarks.django_wsgi, bookmarks.save),
    "django, async": (bookmarks.django_asgi, bookmarks.save_async),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A running app, and who signs for it."""

    url: str
    issuer: Issuer

    def save(self, title: str = "", context: ToolContext = THREAD) -> Outcome:
        """Call the tool as Remit would."""
        args: dict[str, Json] = {"url": "https://a.example", "title": title}
        return self.issuer.call(
            SAVE, args, component_url=self.url, audience=AUDIENCE, context=context, user="ünal"
        )

    def post(self, body: str, **headers: str) -> httpx.Response:
        """Post to the route with good headers, of which some are replaced."""
        good = self.issuer.headers(AUDIENCE, context=THREAD) | {"Content-Type": "application/json"}
        sent = {k: v for k, v in (good | headers).items() if v}
        return httpx.post(f"{self.url}/tools/save", content=body, headers=sent)


@pytest.fixture(scope="module", params=SERVED.values(), ids=SERVED)
def served(request: pytest.FixtureRequest) -> Iterator[Served]:
    """Each framework in turn."""
    serve, function = request.param
    with Issuer() as issuer, serve(issuer.app(AUDIENCE), function) as url:
        yield Served(url=url, issuer=issuer)


def test_a_handler_learns_user_and_thread(served: Served) -> None:
    """From token and context, in a function that knows nothing of HTTP."""
    found = served.save()

    assert (found.status, found.faults) == (200, ())
    assert found.answer == {"content": "Saved for ünal in thread_1"}
    assert served.save(context=API).answer == {"content": "Saved for ünal in None"}


def test_a_text_is_sent_as_plain_text(served: Served) -> None:
    """In UTF-8."""
    found = served.save("text")

    assert (found.status, found.content_type) == (200, "text/plain; charset=utf-8")
    assert found.answer == "Gespeichert für ünal ☕"


def test_channels_are_sent_as_json(served: Served) -> None:
    """Under the names of the contract."""
    found = served.save("channels")

    assert (found.status, found.content_type, found.faults) == (200, "application/json", ())
    assert found.answer == {
        "content": "Saved.",
        "markdown": "**Saved**",
        "embedUrl": "https://acme.example/b/1",
    }


def test_a_card_is_sent_to_a_thread(served: Served) -> None:
    """There a person sees it."""
    found = served.save("card")

    assert (found.status, found.answer, found.faults) == (200, CONNECT.body(), ())


def test_the_api_gets_an_error_in_a_cards_place(served: Served) -> None:
    """The author's own where one is named, else one that says what a person has to do."""
    plain, own = served.save("card", API), served.save("own no", API)

    assert plain.status == 409
    assert json.loads(plain.body)["code"] == "action_unavailable"
    assert "Connect Mail" in json.loads(plain.body)["error"]
    assert own.status == 412
    assert own.answer == {"code": "connect_required", "error": "Connect Mail first."}
    assert plain.faults == own.faults == ()


@pytest.mark.parametrize("how", ["raised", "returned"])
def test_a_domain_error_is_sent_as_it_stands(served: Served, how: str) -> None:
    """Whether it is raised or returned."""
    found = served.save(how)

    assert found.status == 412
    assert found.answer == {"code": "connect_required", "error": "Connect Mail first."}


def test_a_stranger_is_told_nothing(served: Served, caplog: pytest.LogCaptureFixture) -> None:
    """401 with a code; why stands in the app's log alone, and the body is not looked at."""
    strangers = [
        served.post("{", Authorization=""),
        served.post("{", Authorization="Basic YTpi"),
        served.post("{", Authorization=f"Bearer {served.issuer.token('other/api')}"),
    ]

    with caplog.at_level(logging.WARNING, logger="remit.kit"):
        strangers.append(served.post("{", Authorization="Bearer a.b.c"))

    for answer in strangers:
        assert answer.status_code == 401
        assert answer.headers["content-type"] == "application/json"
        assert answer.headers["www-authenticate"] == "Bearer"
        assert answer.json() == {
            "code": "identity_refused",
            "error": "The identity token was not accepted.",
        }
    assert "malformed" in caplog.text


def test_a_request_without_its_context_is_refused(served: Served) -> None:
    """Remit always sends one to an app target."""
    answer = served.post("{}", **{"Remit-Tool-Context": ""})

    assert answer.status_code == 400
    assert answer.json()["code"] == "invalid_tool_context"


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        pytest.param('{"title": "secret-value"}', "/url", id="missing"),
        pytest.param('{"url": "secret-value"}', "/url", id="wrong"),
        pytest.param('{"url": "https://a.example", "a/b": "secret-value"}', "/a~1b", id="unknown"),
        pytest.param('["secret-value"]', "", id="no object"),
        pytest.param("", "/url", id="empty"),
    ],
)
def test_an_input_that_does_not_fit_is_refused(served: Served, body: str, pointer: str) -> None:
    """422 with pointer and rule of each fault, in words too, and no value in it."""
    answer = served.post(body)

    assert answer.status_code == 422
    said = answer.json()
    assert said["code"] == "invalid_arguments"
    assert [fault["pointer"] for fault in said["details"]["faults"]] == [pointer]
    assert said["details"]["faults"][0]["message"] in said["error"]
    assert "secret-value" not in answer.text


@pytest.mark.parametrize(
    "body",
    ['{"url": ', '{"url": "https://a.example", "url": "https://b.example"}', '{"url": NaN}',
     '{"url": 1e999}'],
    ids=["broken", "twice", "nan", "infinity"],
)  # fmt: skip
def test_a_body_that_is_no_json_is_refused(served: Served, body: str) -> None:
    """400: no argument of it can be named. Remit sends nothing that reads in two ways."""
    answer = served.post(body)

    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_body")


def test_the_route_shows_itself_to_options(served: Served) -> None:
    """How Remit notices, when an app is built, that a route is there; it needs no identity."""
    answer = httpx.options(f"{served.url}/tools/save")

    assert (answer.status_code, answer.content) == (204, b"")
    assert answer.headers["allow"] == "POST, OPTIONS"
    assert "content-type" not in answer.headers
    assert httpx.options(f"{served.url}/tools/other").status_code == 404


def test_another_method_is_refused(served: Served) -> None:
    """By the framework or by the kit."""
    answer = httpx.put(f"{served.url}/tools/save", content="{}")

    assert answer.status_code == 405
    assert "POST" in answer.headers["allow"]


def test_a_get_reads_its_query(served: Served) -> None:
    """One value is a list where a list is asked; a strict model takes numbers from texts."""
    found = served.issuer.call(
        SEARCH,
        {"words": ["a&b"], "limit": 3, "exact": True},
        component_url=served.url,
        audience=AUDIENCE,
    )

    assert (found.status, found.answer) == (200, "['a&b'] 3 True for user_1")
    unknown = httpx.get(
        f"{served.url}/tools/search?words=a&other=1", headers=served.issuer.headers(AUDIENCE)
    )
    assert unknown.status_code == 422
    assert unknown.json()["details"]["faults"][0]["pointer"] == "/other"


def test_a_fault_of_the_handler_is_the_frameworks_500(served: Served) -> None:
    """It is the author's to see, where the framework shows such things."""
    assert served.save("nothing").status == 500


def test_keys_that_cannot_be_had_are_no_refusal() -> None:
    """503: the same call is good once the server is back."""
    with Issuer() as gone:
        headers = gone.headers(AUDIENCE)
    app = App(issuer=gone.url, audience=AUDIENCE)
    with bookmarks.starlette(app, bookmarks.save) as url:
        answer = httpx.post(f"{url}/tools/save", headers=headers, content="{}")

    assert answer.status_code == 503
    assert answer.json()["code"] == "keys_unavailable"
