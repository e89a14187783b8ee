"""Secrets and their masking (contract section 5, step 9; the threat model's canary)."""

from __future__ import annotations

import copy
import json
import math
import pickle
from base64 import b64encode, urlsafe_b64encode
from dataclasses import asdict, dataclass
from html import escape
from typing import Any, cast
from urllib.parse import quote, quote_plus, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.values.secrets import MASK, Masker, Secret

CANARY = 'can"ary/töken+1 & <2>'


@dataclass
class Holder:
    """Something that holds a secret."""

    secret: Secret


def test_secret_shows_itself_nowhere() -> None:
    """A secret's text is masked wherever it is printed (architecture, style)."""
    secret = Secret(CANARY)

    for text in (repr(secret), str(secret), f"{secret}", repr(Holder(secret)), repr([secret])):
        assert CANARY not in text
    assert secret.reveal() == CANARY
    assert secret == Secret(CANARY)
    assert secret != Secret("other")
    assert len({secret, Secret(CANARY)}) == 1


@pytest.mark.parametrize("act", [pickle.dumps, copy.deepcopy, asdict])
def test_secret_is_never_serialized(act: object) -> None:
    """No pickle, copy or asdict takes the text along."""
    with pytest.raises(TypeError):
        act(Holder(Secret(CANARY)))  # type: ignore[operator]


@pytest.mark.parametrize(
    "form",
    [
        CANARY,
        quote(CANARY),
        quote(CANARY, safe=""),
        quote(CANARY, safe="").replace("%2F", "%2f").replace("%C3%B6", "%c3%b6").replace(
            "%2B", "%2b").replace("%3C", "%3c").replace("%3E", "%3e"),
        quote_plus(CANARY),
        urlencode({"t": CANARY}),
        json.dumps(CANARY),
        json.dumps(CANARY, ensure_ascii=False),
        json.dumps({"a": [CANARY]}),
        json.dumps(CANARY).replace("/", "\\/"),
        escape(CANARY),
        json.dumps(escape(CANARY)),
        json.dumps(json.dumps({"token": CANARY})),
        json.dumps({"error": json.dumps(CANARY, ensure_ascii=False)}, ensure_ascii=False),
        b64encode(CANARY.encode()).decode(),
        b64encode(CANARY.encode()).decode().rstrip("="),
        urlsafe_b64encode(CANARY.encode()).decode(),
        b64encode(f"ana:{CANARY}".encode()).decode(),
        b64encode(f"Bearer {CANARY} and more".encode()).decode(),
    ],
)  # fmt: skip
def test_every_form_of_a_secret_is_masked(form: str) -> None:
    """Exact, percent-encoded, JSON-escaped and base64 forms in upstream text (section 5)."""
    masked = Masker((Secret(CANARY),)).text(f"before {form} after")

    assert MASK in masked
    assert form.strip('"') not in masked
    assert "ary" not in masked
    assert masked.startswith("before ")
    assert masked.endswith(" after")


def test_values_are_masked_at_any_depth() -> None:
    """2xx included: texts, keys and numbers of a result (contract section 5, step 9)."""
    masker = Masker((Secret("1234567"), Secret("tok_abcdef")))
    value = {"a": ["x tok_abcdef", {"tok_abcdef": 1234567}], "n": 12345678, "b": True, "z": None}

    assert masker.value(value) == {
        "a": [f"x {MASK}", {MASK: MASK}],
        "n": 12345678,
        "b": True,
        "z": None,
    }


def test_short_secrets_destroy_no_text() -> None:
    """Shorter than four characters they stand in ordinary text by chance."""
    assert Masker((Secret("abc"), Secret(""))).text("abcabc") == "abcabc"
    value: dict[str, object] = {"a": ["b"]}
    assert Masker(()).value(value) is value


def test_longer_secret_is_masked_before_the_one_inside_it() -> None:
    """No part of a longer secret is left standing beside the mask of a shorter one."""
    masker = Masker((Secret("abcd"), Secret("abcd-efgh-ijkl")))

    assert masker.text("x abcd-efgh-ijkl y") == f"x {MASK} y"


@given(
    secret=st.text(st.characters(codec="utf-8"), min_size=8, max_size=30),
    before=st.binary(max_size=5),
    after=st.binary(max_size=5),
)
def test_base64_of_any_neighbourhood_is_masked(secret: str, before: bytes, after: bytes) -> None:
    """Wherever it stands in what was encoded, the secret's own characters are gone."""
    text = b64encode(before + secret.encode() + after).decode()

    assert MASK in Masker((Secret(secret),)).text(text)


_CHARACTERS = st.sampled_from("aZ09-._~+/=%e1\\\"'<é☃ \n")
_SECRETS = st.text(_CHARACTERS, min_size=4, max_size=8) | st.from_regex(
    r"\A\d(\.\d)?e[+-]?\d\d\Z|\A\d{4,6}\Z"
)


def leaves(value: Any) -> list[Any]:  # noqa: ANN401 -- any JSON value
    """Every text and number of a JSON value, keys included."""
    if isinstance(value, dict):
        pairs = cast("dict[str, Any]", value).items()
        return [leaf for pair in pairs for half in pair for leaf in leaves(half)]
    if isinstance(value, list):
        return [leaf for item in cast("list[Any]", value) for leaf in leaves(item)]
    return [value]


@given(data=st.data(), secret=_SECRETS)
def test_a_value_is_masked_wherever_the_secret_is_in_it(data: st.DataObject, secret: str) -> None:
    """However a value is looked through, no text with it is left and no number that is it."""
    try:
        numbers = [float(secret)]
    except ValueError:
        numbers = []
    around = st.text(_CHARACTERS, max_size=6)
    leaf = (
        st.builds(lambda a, b: a + secret + b, around, around)
        | around
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.sampled_from([*filter(math.isfinite, numbers), None, 7, True])
    )
    value = data.draw(
        st.recursive(
            leaf,
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(st.text(_CHARACTERS, max_size=12), inner, max_size=3)
            ),
            max_leaves=6,
        )
    )

    found = Masker((Secret(secret),)).value(value)

    left = leaves(found)
    assert [one for one in left if isinstance(one, str) and secret in one] == []
    written = {str(one).removesuffix(".0") for one in left if isinstance(one, int | float)}
    assert secret not in written - {"True"}
