"""The two notations of references (contract section 4)."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from remit.catalog.references import Notation, Reference, ReferenceFault, Text, compile_text


def args(*path: str) -> Reference:
    """A reference to an argument."""
    return Reference(root="args", path=path)


def of_input(*path: str) -> Reference:
    """A reference to the input."""
    return Reference(root="input", path=path)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", ()),
        ("plain", ("plain",)),
        ("{{args.a}}", (args("a"),)),
        ("{{ args.a }}", (args("a"),)),
        ("{{args.a.b-c.0}}", (args("a", "b-c", "0"),)),
        ("x{{args.a}}y{{args.b}}z", ("x", args("a"), "y", args("b"), "z")),
        ("{{args.a}}{{args.b}}", (args("a"), args("b"))),
        ("{{{args.a}}}", ("{", args("a"), "}")),
        ("{{response.id}}", (Reference(root="response", path=("id",)),)),
        ("{{preview.id}}", (Reference(root="preview", path=("id",)),)),
        ("a }} b", ("a }} b",)),
        ("{{", ("{{",)),
        ("{{args}}", ("{{args}}",)),
        ("{{ 7*7 }} {{#if}}", ("{{ 7*7 }} {{#if}}",)),
        ("{{.a}}", ("{{.a}}",)),
        ("${input.a} ${env.B} ${x}", ("${input.a} ${env.B} ${x}",)),
    ],
)
def test_mustache_text_compiles_to_its_parts(text: str, parts: tuple[object, ...]) -> None:
    """`{{` refers only before args., response. or preview.; all else is text (section 4)."""
    assert compile_text(text, "args") == Text(parts)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("${input}", (of_input(),)),
        ("${ input.a.0 }", (of_input("a", "0"),)),
        ("a${input.b}c", ("a", of_input("b"), "c")),
        ("${env.KEY_1}", (Reference(root="env", path=("KEY_1",)),)),
        ("$${input.a}", ("${input.a}",)),
        ("$${x", ("${x",)),
        ("a$${b}${input.c}", ("a${b}", of_input("c"))),
        ("$$${input.a}", ("$${input.a}",)),
        ("$ {input.a} $5 {x}", ("$ {input.a} $5 {x}",)),
        ("{{args.a}} {{x.y}}", ("{{args.a}} {{x.y}}",)),
    ],
)
def test_dollar_text_compiles_to_its_parts(text: str, parts: tuple[object, ...]) -> None:
    """`${…}` refers, `$${…}` is the literal, the other notation is text (section 4)."""
    assert compile_text(text, "input") == Text(parts)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("notation", "text", "named"),
    [
        ("args", "{{args.a", '"{{args.a" is never closed'),
        ("args", "{{args.a}", "never closed"),
        ("args", "{{args.}}", "no dotted path"),
        ("args", "{{args.a..b}}", "no dotted path"),
        ("args", "{{args.a[0]}}", "no dotted path"),
        ("args", "{{args.a} and {{args.b}}", "no dotted path"),
        ("args", "{{arg.a}}", '"arg", which is no namespace'),
        ("args", "{{item.name}}", "no namespace"),
        ("input", "${input.a", "never closed"),
        ("input", "${secret.X}", '"secret", which is no namespace'),
        ("input", "${}", "no namespace"),
        ("input", "${input.}", "names nothing"),
        ("input", "${input.a b}", "names nothing"),
        ("input", "${env}", "names nothing"),
        ("input", "${env.A-B}", "names nothing"),
        ("input", "${INPUT.a}", "no namespace"),
    ],
)
def test_broken_reference_is_named(notation: Notation, text: str, named: str) -> None:
    """An unclosed reference or an unknown first word is an error at load (section 4)."""
    with pytest.raises(ReferenceFault) as fault:
        compile_text(text, notation)

    assert named in fault.value.message
    assert fault.value.mend


PIECES = st.lists(
    st.one_of(
        st.text(max_size=6),
        st.sampled_from(["{{", "}}", "{", "}", "args.", "response.", "x.", "$", "${", "$${"]),
        st.sampled_from(["input", "input.a", "env.A", "a.b", " ", "."]),
    ),
    max_size=12,
).map("".join)


@given(text=PIECES, notation=st.sampled_from(["args", "input"]))
@example(text="{{args.a}}}}{{", notation="args")
@example(text="$${${input.a}", notation="input")
def test_any_text_compiles_or_is_refused_in_words(text: str, notation: Notation) -> None:
    """No text crashes the compiler, and what is literal in it survives unchanged (section 4)."""
    try:
        compiled = compile_text(text, notation)
    except ReferenceFault as refused:
        said = refused.message
    else:
        said = "it compiled"
        _assert_kept(text, notation, compiled)
    assert 0 < len(said) < 300


def _assert_kept(text: str, notation: Notation, compiled: Text) -> None:
    written = "".join(
        part if isinstance(part, str) else part.written.replace(" ", "") for part in compiled.parts
    )
    blankless = text.replace(" ", "")
    if notation == "args":
        assert written.replace(" ", "") == blankless
    else:
        assert written.replace(" ", "").replace("${", "") == blankless.replace("$${", "").replace(
            "${", ""
        )
    assert all(compiled.parts)
    literal = [isinstance(part, str) for part in compiled.parts]
    assert not any(one and other for one, other in pairwise(literal))
