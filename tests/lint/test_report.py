"""Findings as JSON and as text."""

from __future__ import annotations

from remit.lint.report import Reviewed, as_json, as_lines, counts_of, plain, pointers_of, strict
from remit.lint.run import lint_definition
from tests.lint.documents import app, closed, destructive, tool

DOCUMENT = app(
    tool(description=""),
    destructive(requiresApproval=False, dangerLevel="severe"),
    baseUrl="http://a.example",
)
FOUND = lint_definition(DOCUMENT)
PLACES = {"/baseUrl": (3, 1), "/tools/0": (6, 5), "/tools/1/dangerLevel": (20, 7)}


def test_json_has_the_shape_of_the_contract() -> None:
    """Contract section 13."""
    report = as_json([Reviewed(file="a.yaml", mistakes=FOUND)])
    assert list(report) == ["findings", "counts"]
    assert report["counts"] == {"error": 1, "warning": 2, "note": 0}
    findings = report["findings"]
    assert isinstance(findings, list)
    assert all(isinstance(f, dict) for f in findings)
    keys = ["rule", "level", "file", "tool", "pointer", "message", "mend"]
    assert [list(f) for f in findings if isinstance(f, dict)] == [keys] * 3
    assert findings[0] == {
        "rule": "http-base-url",
        "level": "warning",
        "file": "a.yaml",
        "tool": None,
        "pointer": "/baseUrl",
        "message": FOUND[0].message,
        "mend": FOUND[0].mend,
    }


def test_text_names_thing_place_and_mend_and_ends_with_the_next_command() -> None:
    """Look and voice: errors, the terminal."""
    text = plain(as_lines([Reviewed(file="a.yaml", mistakes=FOUND, places=PLACES)]))
    lines = text.splitlines()
    assert lines[0].split() == ["definition", "/baseUrl", "a.yaml:3:1", "warning", "http-base-url"]
    assert [line.split()[-1] for line in lines if line and not line.startswith(" ")][:3] == [
        "http-base-url",
        "empty-description",
        "unknown-value",
    ]
    assert lines[-2] == "1 error and 2 warnings in a.yaml."
    assert lines[-1] == "Next: remit explain unknown-value"
    assert max(map(len, lines)) <= 100


def test_columns_are_aligned() -> None:
    """Level and rule stand under each other."""
    text = plain(as_lines([Reviewed(file="a.yaml", mistakes=FOUND, places=PLACES)]))
    heads = [line for line in text.splitlines() if line.endswith(tuple(m.rule for m in FOUND))]
    heads = [line for line in heads if not line.startswith(("Next", " "))]
    assert len({line.index(mistake.rule) for line, mistake in zip(heads, FOUND, strict=True)}) == 1


def test_a_place_that_is_not_known_falls_back_on_what_it_stands_in() -> None:
    """An absent key has no line; its tool has."""
    text = plain(
        as_lines([Reviewed(file="a.yaml", mistakes=FOUND, places={"/tools/0": (6, 5), "": (1, 1)})])
    )
    assert "a.yaml:6:5" in text
    assert "a.yaml:1:1" in text
    assert {"", "/tools", "/tools/0", "/tools/0/description"} <= pointers_of(FOUND)


def test_no_findings_are_one_quiet_line() -> None:
    """Look and voice: quiet when all is well."""
    assert plain(as_lines([Reviewed(file="a.yaml", mistakes=())])) == "Nothing to mend in a.yaml."


def test_strict_makes_errors_of_warnings_and_leaves_notes() -> None:
    """Contract section 13: `--strict`."""
    found = lint_definition(app(tool(description="", idempotent=True)))
    counts = counts_of([Reviewed(file="a", mistakes=strict(found))])
    assert counts == {"error": 1, "warning": 0, "note": 1}


def test_notes_alone_name_no_next_command() -> None:
    """A note asks for nothing."""
    found = lint_definition(app(tool(idempotent=True)))
    lines = plain(as_lines([Reviewed(file="a.yaml", mistakes=found)])).splitlines()
    assert lines[-1] == "1 note in a.yaml."


def test_a_fetched_catalog_is_named_by_its_address() -> None:
    """Its findings have no line in the definition's file."""
    own = Reviewed(file="a.yaml", mistakes=(), places=PLACES)
    served = Reviewed(file="https://a.example/t", mistakes=FOUND, subject="catalog", fetched=True)
    text = plain(as_lines([own, served]))
    assert "a.yaml:" not in text
    assert text.startswith("catalog  /baseUrl")
    assert "1 error and 2 warnings in a.yaml and what toolsUrl serves." in text
    findings = as_json([own, served])["findings"]
    assert isinstance(findings, list)
    assert {f["file"] for f in findings if isinstance(f, dict)} == {"https://a.example/t"}


def test_many_findings_of_one_rule_are_all_shown() -> None:
    """Nothing is dropped or cut without saying so."""
    tools = [tool(name=f"get_{n}", description="") for n in range(30)]
    text = plain(as_lines([Reviewed(file="a.yaml", mistakes=lint_definition(app(*tools)))]))
    assert text.count("empty-description") == 31
    assert "30 warnings in a.yaml." in text


def test_the_text_holds_no_colour_codes() -> None:
    """Pipes get plain text; who prints decides on colours."""
    spans = [span for line in as_lines([Reviewed(file="a", mistakes=FOUND)]) for span in line]
    assert all("\x1b" not in span.text for span in spans)
    assert {"red", "yellow"} <= {span.style for span in spans}


def test_several_files_are_summed_up_together() -> None:
    """One summary for one run."""
    one, two = Reviewed(file="a", mistakes=FOUND), Reviewed(file="b", mistakes=())
    assert "1 error and 2 warnings in 2 files." in plain(as_lines([one, two]))
    found = plain(as_lines([Reviewed(file="b", mistakes=FOUND[:1], subject="catalog")]))
    assert found.startswith("catalog  /baseUrl")


def test_an_authors_text_cannot_steer_the_terminal() -> None:
    """A name with an escape sequence is shown, not obeyed."""
    name = "get\x1b[2J\u202escene\nerror"
    found = lint_definition(app(tool(name=name, parameters=closed({name: {"type": "string"}}))))
    text = plain(as_lines([Reviewed(file="a.yaml", mistakes=found)]))
    assert all(line.isprintable() for line in text.splitlines())
    assert "\\u001b" in text
