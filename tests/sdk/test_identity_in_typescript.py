"""The TypeScript kit believes and refuses the very tokens that the Python kit does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.kit.identity import Identity, Refusal, verify
from tests.cases import jwt_cases
from tests.cases.reader import judge, read_folder
from tests.kit import test_identity as python
from tests.kit.tokens import (
    ATTACKER,
    AUDIENCE,
    CLAIMS,
    HEADER,
    ISSUER,
    JWKS,
    NOW,
    SERVER,
    b64,
    es256,
    made,
    public_jwk,
    without,
)
from tests.sdk.node import Verifier, verifying

OWN = Path(__file__).parents[1] / "cases" / "own"
JWT_CASES = [case for _, case in read_folder(OWN) if str(case.get("class")).startswith("jwt.")]
GROUPS = {
    "unsigned": python.UNSIGNED,
    "algorithm": python.OTHER_ALGORITHMS,
    "type": python.TYPES,
    "key": python.KEYS,
    "carried": python.CARRIED,
    "critical": python.CRITICAL,
    "signature": python.SIGNATURES,
    "form": python.FORMS,
    "time": python.TIMES,
    "number": python.NUMBERS,
    "name": python.NAMES,
}


@pytest.fixture(scope="module")
def typescript() -> Iterator[Verifier]:
    """One process for all tokens."""
    with verifying() as verifier:
        yield verifier


def both(typescript: Verifier, token: str) -> tuple[Identity | Refusal, Identity | Refusal]:
    """What either kit says."""
    here, there = (
        each(token, JWKS, audience=AUDIENCE, issuer=ISSUER, now_s=NOW)
        for each in (verify, typescript.verify)
    )
    return here, there


@pytest.mark.promise("K-22")
@pytest.mark.parametrize("token", python.BELIEVED)
def test_a_good_token_gives_the_same_identity(typescript: Verifier, token: str) -> None:
    """User, workspace, installation and call, whichever language the handler is written in."""
    here, there = both(typescript, token)

    assert isinstance(there, Identity), there
    assert there == here


@pytest.mark.parametrize(
    ("group", "token"),
    [
        pytest.param(group, case.values[0], id=f"{group}: {case.id}")
        for group, cases in GROUPS.items()
        for case in cases
    ],
)
def test_a_bad_token_is_refused_for_the_same_reason(
    typescript: Verifier, group: str, token: str
) -> None:
    """The tables of the Python kit's own test, each token for what is wrong with it."""
    here, there = both(typescript, token)

    assert isinstance(there, Refusal), (group, there)
    assert isinstance(here, Refusal)
    assert there.reason == here.reason
    assert there.message.startswith("The token")


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in JWT_CASES])
def test_a_security_case_comes_out_right(
    typescript: Verifier, case: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The recipes of forged tokens, judged by this verifier in the place of the Python one."""
    monkeypatch.setattr(jwt_cases, "verify", typescript.verify)

    verdict = judge(case, "inside")

    assert verdict.status == "passed", verdict.line()


K1 = public_jwk(SERVER, "k1")
KEY_SETS = [
    pytest.param({}, id="empty"),
    pytest.param([], id="a list"),
    pytest.param({"keys": K1}, id="keys an object"),
    pytest.param({"keys": [K1, K1]}, id="the id twice"),
    pytest.param({"keys": [{**K1, "kid": "k2"}]}, id="another id"),
    pytest.param({"keys": [without(K1, "x")]}, id="half a point"),
    pytest.param({"keys": [{**K1, "x": K1["y"]}]}, id="no point of the curve"),
    pytest.param({"keys": [{**K1, "x": "!!"}]}, id="no base64"),
    pytest.param({"keys": [{**K1, "x": 5}]}, id="a number"),
    pytest.param({"keys": [{**K1, "alg": "ES384"}]}, id="for another algorithm"),
    pytest.param({"keys": [{**K1, "alg": None}]}, id="for no algorithm"),
    pytest.param({"keys": [{**K1, "use": "enc"}]}, id="for encryption"),
    pytest.param({"keys": [{**K1, "crv": "P-384"}]}, id="another curve"),
    pytest.param({"keys": [{"kty": "oct", "k": "AAAA", "kid": "k1"}]}, id="a secret"),
]


@pytest.mark.parametrize("jwks", KEY_SETS)
def test_a_document_without_the_one_key_verifies_nothing(
    typescript: Verifier, jwks: Mapping[str, object]
) -> None:
    """The key set is input too."""
    there = typescript.verify(
        made(),
        jwks,
        audience=AUDIENCE,
        issuer=ISSUER,
        now_s=NOW,
    )

    assert isinstance(there, Refusal)
    assert there.reason == "unknown_key"


def test_no_bit_of_a_token_can_be_flipped(typescript: Verifier) -> None:
    """Header, payload and signature: a character for another, at every place."""
    for at, char in enumerate(python.GOOD):
        for other in "AQgw_-.= ":
            if other != char:
                token = python.GOOD[:at] + other + python.GOOD[at + 1 :]
                assert isinstance(both(typescript, token)[1], Refusal)


@given(st.text(alphabet="eyJhbGciOiJ.-_=+ \n\0é", max_size=60) | st.text(max_size=40))
def test_any_text_is_refused_without_an_exception(typescript: Verifier, text: str) -> None:
    """A handler never fails on what a stranger sends."""
    assert isinstance(both(typescript, text)[1], Refusal)


@given(
    st.dictionaries(st.sampled_from(["alg", "typ", "kid", "crit", "cty", "x"]), python.values),
    st.dictionaries(st.sampled_from([*CLAIMS, "nbf"]), python.values),
)
def test_signed_nonsense_is_judged_alike(
    typescript: Verifier, header: dict[str, object], claims: dict[str, object]
) -> None:
    """Whatever the server's key might have signed."""
    here, there = both(typescript, made(header={**HEADER, **header}, claims={**CLAIMS, **claims}))

    assert there == here or (isinstance(there, Refusal) and isinstance(here, Refusal))


@given(st.binary(max_size=40) | st.text(max_size=30).map(str.encode))
def test_any_signed_bytes_are_judged_alike(typescript: Verifier, payload: bytes) -> None:
    """Strict JSON is the same in both: bytes that are none, and the rest of an object."""
    whole = made(claims=payload)
    inside = made(claims=b'{"x":' + payload + b',"iss":"i"}')

    for token in (whole, inside):
        here, there = both(typescript, token)
        assert isinstance(here, Refusal)
        assert isinstance(there, Refusal)
        assert there.reason == here.reason


@pytest.mark.parametrize(
    "header",
    [
        pytest.param({"x": "y" * 400}, id="far too long"),
        pytest.param({"cty": 1}, id="a cty that is no text"),
    ],
)
def test_an_odd_header_is_refused_by_both(typescript: Verifier, header: dict[str, object]) -> None:
    """What the Python kit's library refuses, this one does too."""
    here, there = both(typescript, made(header={**HEADER, **header}))

    assert isinstance(here, Refusal)
    assert isinstance(there, Refusal)


def test_a_key_of_an_attacker_in_place_of_the_servers_is_none(typescript: Verifier) -> None:
    """A signature is only ever checked with the key of the set that bears the id."""
    forged = made(sign=es256(ATTACKER))

    assert isinstance(both(typescript, forged)[1], Refusal)
    assert isinstance(both(typescript, forged.rsplit(".", 1)[0] + "." + b64(bytes(64)))[1], Refusal)
