"""An app's tools in the very form that goes into a provider's request."""

from __future__ import annotations

import pytest

from remit.offer.dialects import PROVIDERS, Provider
from remit.offer.export import export, offer_tool
from remit.values.json import JsonObject
from tests.offer.apps import NO_PARAMETERS, app, client_record, closed, record
from tests.offer.subsets import Json

TEXT: JsonObject = {"type": "string"}
CLOSED = closed("a", a=TEXT)
OPTIONAL = closed("a", a=TEXT, b={"type": "integer"})
FREE: JsonObject = {
    "type": "object",
    "properties": {"meta": {"type": "object"}},
    "required": ["meta"],
}
ACME = app(
    record("closed", CLOSED),
    record(
        "optional", OPTIONAL, title="Op\u202etional", category="write", dangerLevel="destructive"
    ),
    record("freeform", FREE, category="action", dangerLevel="moderate", idempotent=True),
    record("noargs", {**NO_PARAMETERS, "required": []}, responseMapping={"id": "id"}),
    client_record("show"),
)
DESCRIPTION = "[Acme] Does closed. Use only in tests."


def exported(provider: Provider) -> Json:
    """What goes into the request."""
    return export(ACME, ACME.tools, provider).value


@pytest.mark.promise("T-05", "T-09", "A-18", "K-04")
def test_openai_export_is_the_tools_of_chat_completions() -> None:
    """Eligible tools are strict in the derived form; the others say that they are not."""
    assert exported("openai") == [
        {
            "type": "function",
            "function": {
                "name": name,
                "description": f"[Acme] Does {tool}.{words}",
                "parameters": parameters,
                "strict": strict,
            },
        }
        for name, tool, words, parameters, strict in [
            ("integration_closed", "closed", " Use only in tests.", CLOSED, True),
            (
                "integration_optional",
                "optional",
                " Use only in tests.",
                closed("a b", a=TEXT, b={"type": ["integer", "null"]}),
                True,
            ),
            ("integration_freeform", "freeform", " Use only in tests.", FREE, False),
            ("integration_noargs", "noargs", " Use only in tests.", NO_PARAMETERS, False),
            ("show", "show in the client", "", NO_PARAMETERS, False),
        ]
    ]


def test_anthropic_export_is_the_tools_of_messages() -> None:
    """Not marked strict: bounds per request are for who can send the request again."""
    found = exported("anthropic")

    assert found[0] == {
        "name": "integration_closed",
        "description": DESCRIPTION,
        "input_schema": CLOSED,
    }
    assert found[1]["input_schema"] == OPTIONAL
    assert [list(function) for function in found] == [["name", "description", "input_schema"]] * 5


def test_anthropic_tool_is_strict_where_the_request_asks_for_it() -> None:
    """The agent marks tools within the bounds of its request; one that is not eligible never."""
    strict = [
        offer_tool(ACME, tool, tool.name, "anthropic", strict=True).function.get("strict")
        for tool in ACME.tools
    ]
    assert strict == [True, True, None, None, None]


def test_gemini_export_is_the_tools_of_generate_content() -> None:
    """One entry with all declarations, in the JSON Schema form."""
    (entry,) = exported("gemini")

    assert list(entry) == ["functionDeclarations"]
    assert entry["functionDeclarations"][0] == {
        "name": "integration_closed",
        "description": DESCRIPTION,
        "parametersJsonSchema": CLOSED,
    }
    assert len(entry["functionDeclarations"]) == 5
    assert export(ACME, (), "gemini").value == []


def test_mcp_export_is_a_tools_list_result() -> None:
    """Own names, all four annotations always, no client tools (contract section 14)."""
    found = exported("mcp")

    assert list(found) == ["tools"]
    assert found["tools"][1] == {
        "name": "optional",
        "title": "Op⟨U+202E⟩tional",
        "description": "[Acme] Does optional. Use only in tests.",
        "inputSchema": OPTIONAL,
        "annotations": {
            "readOnlyHint": False,
            "destructiveHint": True,
            "idempotentHint": False,
            "openWorldHint": False,
        },
    }
    assert found["tools"][3]["outputSchema"] == {"type": "object", "properties": {"id": {}}}
    hints = [tuple(entry["annotations"].values()) for entry in found["tools"]]
    assert hints == [
        (True, False, True, False),
        (False, True, False, False),
        (False, False, True, True),
        (True, False, True, False),
    ]
    assert export(ACME, ACME.tools, "mcp").left_out == (
        ("show", "it runs in the user's client, which an MCP client is not"),
    )


@pytest.mark.promise("T-32")
@pytest.mark.parametrize("provider", PROVIDERS)
def test_pinned_parameter_is_in_no_export(provider: Provider) -> None:
    """Neither its name nor its value reaches the model."""
    acme = app(record("move", closed("sceneId x", sceneId=TEXT, x=TEXT)))
    text = repr(export(acme, acme.tools, provider, {"sceneId": "s-secret"}).value)

    assert "sceneId" not in text
    assert "s-secret" not in text
    assert "'x'" in text


def test_export_says_who_is_held_and_why_not() -> None:
    """For people, beside the data: eligible or not with the first reason."""
    found = export(ACME, ACME.tools, "openai").tools

    assert [(entry.tool, entry.strict, entry.eligibility.eligible) for entry in found] == [
        ("closed", True, True),
        ("optional", True, True),
        ("freeform", False, False),
        ("noargs", False, False),
        ("show", False, False),
    ]
    assert found[3].eligibility.reason == (
        "the root of the parameters allows properties it does not list; "
        "write additionalProperties: false"
    )


def test_more_functions_than_a_request_takes_are_noted() -> None:
    """OpenAI refuses the 129th with the whole request."""
    many = app(*(record(f"t{n}") for n in range(129)))

    assert export(many, many.tools[:128], "openai").notes == ()
    (note,) = export(many, many.tools, "openai").notes
    assert note.startswith("129 functions: OpenAI refuses a request with more than 128.")
    assert export(many, many.tools, "anthropic").notes == ()


def test_long_description_is_offered_whole_to_openai() -> None:
    """Its function takes 1,024 characters; the parameters carry the rest, and strict stays."""
    acme = app(record("x", CLOSED, description="Word. " * 400))
    (function,) = export(acme, acme.tools, "openai").value  # type: ignore[misc,union-attr]
    inner: Json = function["function"]  # type: ignore[index,call-overload]

    assert len(inner["description"]) <= 1_024
    assert (inner["description"] + inner["parameters"]["description"]).count("Word.") == 400
    assert inner["strict"] is True
