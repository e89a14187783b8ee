"""An app that echoes the credential in every way it can, and answers with controls."""

from __future__ import annotations

import html
import json
from urllib.parse import quote

import pytest

from remit.values.secrets import Masker, Secret
from tests.catalog.documents import endpoint_tool, load
from tests.gateway.fakes import Person, ScriptedEgress, Stage, answer

TOKEN = "tok_<Can'ary>&\"01234/56789+"


def stage(body: bytes, *, status: int = 500, media: str = "text/plain", **headers: str) -> Stage:
    """An app that gives one answer."""
    found = answer(body, status, media=media, **headers)
    return Stage(
        definition=load(endpoint_tool()),
        egress=ScriptedEgress([found]),
        person=Person(),
        credential=TOKEN,
    )


async def told(on: Stage) -> str:
    """All that a caller gets of the call."""
    tool = on.definition.tools[0].name
    outcome = await on.call(tool)
    error = outcome.error
    return repr((outcome.result, error and error.message, error and error.details))


@pytest.mark.parametrize("charset", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("declared", [True, False])
async def test_a_credential_in_an_error_in_utf_16_is_masked(charset: str, declared: bool) -> None:
    """A person reads it between the NULs, so the masker must, too (section 5, step 9)."""
    media = f"text/plain; charset={charset}" if declared else "text/plain"
    said = await told(stage(f"bad {TOKEN} here".encode(charset), media=media))
    assert "ary" not in said.replace("\\x00", "").replace("\x00", "")
    assert "***" in said


async def test_a_credential_in_the_host_of_a_redirect_is_masked_before_it_is_folded() -> None:
    """A host is shown in lower case, in which the credential would not be found."""
    on = stage(b"", status=302, location="https://TokenCanary99.evil.example/")
    on.credential = "TokenCanary99"
    said = await told(on)
    assert "tokencanary99" not in said.lower()


async def test_a_media_type_is_quoted_visibly() -> None:
    """A header may hold any byte above ASCII: C1 controls and bidirectional marks."""
    on = stage(b"x", status=200, media="application/\u009b31m\u202e" + "x" * 5000)
    outcome = await on.call(on.definition.tools[0].name)
    assert outcome.error is not None
    assert outcome.error.message.isprintable()
    assert len(outcome.error.message) < 1000


@pytest.mark.parametrize(
    "echo",
    [
        TOKEN.encode().hex(),
        TOKEN.encode().hex().upper(),
        "".join(f"%{byte:02X}" for byte in TOKEN.encode()),
        "".join(f"%{byte:02x}" for byte in TOKEN.encode()),
        quote(TOKEN, safe=""),
        html.escape(TOKEN),
        html.escape(TOKEN, quote=False),
        html.escape(TOKEN).replace("&#x27;", "&#39;"),
        html.escape(TOKEN).replace("&#x27;", "&#39;").replace("&quot;", "&#34;"),
        # As Go and Rails write JSON, and as .NET nearly does.
        json.dumps(TOKEN)[1:-1]
        .replace("<", "\\u003c")
        .replace(">", "\\u003e")
        .replace("&", "\\u0026"),
        json.dumps(TOKEN)[1:-1]
        .replace("<", "\\u003C")
        .replace(">", "\\u003E")
        .replace("&", "\\u0026")
        .replace("'", "\\u0027")
        .replace("+", "\\u002B"),
    ],
)
def test_a_credential_is_masked_as_the_common_encoders_write_it(echo: str) -> None:
    """What an app may well answer with by itself, without meaning harm."""
    assert Masker((Secret(TOKEN),)).text(f"x{echo}y") == "x***y"
