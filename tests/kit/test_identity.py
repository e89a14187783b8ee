"""The verifier of identity tokens: one table of what is believed and what is not (RFC 8725)."""

from __future__ import annotations

import json
import string
from dataclasses import asdict

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from hypothesis import given
from hypothesis import strategies as st

from remit.kit.identity import Identity, Refusal, verify
from tests.kit.tokens import (
    ATTACKER,
    AUDIENCE,
    CLAIMS,
    DER,
    HEADER,
    ISSUER,
    JWK_TEXT,
    JWKS,
    NEXT,
    NOW,
    PEM,
    SERVER,
    b64,
    claims,
    es256,
    es256_der,
    fixed,
    header,
    hs256,
    made,
    public_jwk,
    without,
)

GOOD = made()
HEAD, PAYLOAD, SIGNATURE = GOOD.split(".")
# The order of the curve P-256.
ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551


def check(token: str, jwks: object = JWKS, **given: object) -> Identity | Refusal:
    """Verify at the time of the tokens."""
    wanted: dict[str, object] = {"audience": AUDIENCE, "issuer": ISSUER, "now_s": NOW, **given}
    return verify(token, jwks, **wanted)  # type: ignore[arg-type]


BELIEVED = [
    pytest.param(GOOD, id="as the server makes it"),
    pytest.param(claims(aud=[AUDIENCE]), id="the audience in a list"),
    pytest.param(claims(exp=NOW - 29, iat=NOW - 300), id="expired within the leeway"),
    pytest.param(claims(iat=NOW + 30, exp=NOW + 330), id="a clock that is ahead by the leeway"),
    pytest.param(claims(iat=NOW - 0.5, exp=NOW + 299.5), id="fractions of a second"),
    pytest.param(claims(exp=NOW + 1), id="a short life"),
    pytest.param(claims(nbf=NOW + 30), id="not before, within the leeway"),
    pytest.param(claims(sub="ünal ☕"), id="a user beyond ASCII"),
    pytest.param(claims(plan="pro", scope=["a"]), id="claims of a newer server"),
    pytest.param(header(newer=1), id="a header parameter that is not critical"),
    pytest.param(made(header=json.dumps(HEADER, indent=1).encode()), id="blanks in the header"),
]


@pytest.mark.parametrize("token", BELIEVED)
def test_a_good_token_is_believed(token: str) -> None:
    """Strict, and no stricter than the contract and RFC 7519."""
    found = check(token)

    assert isinstance(found, Identity), found
    assert (found.workspace, found.installation, found.call_id) == ("t1", "inst_1", "j1")


def test_a_believed_token_says_whom_the_call_serves() -> None:
    """What a handler needs, under the contract's words."""
    assert check(GOOD) == Identity(
        user="user_1",
        workspace="t1",
        installation="inst_1",
        call_id="j1",
        issued_at_s=NOW,
        expires_at_s=NOW + 300,
    )


UNSIGNED = [
    pytest.param(made(header={**HEADER, "alg": alg}, sign=sign), id=f"{alg}, {how}")
    for alg in ("none", "None", "NONE", "nOnE", "", None)
    for how, sign in (
        ("no signature", fixed(b"")),
        ("zeros", fixed(bytes(64))),
        ("well signed", es256(SERVER)),
    )
]
OTHER_ALGORITHMS = [
    pytest.param(made(header={**HEADER, "alg": "HS256"}, sign=hs256(PEM)), id="HMAC of the PEM"),
    pytest.param(made(header={**HEADER, "alg": "HS256"}, sign=hs256(DER)), id="HMAC of the DER"),
    pytest.param(
        made(header={**HEADER, "alg": "HS256"}, sign=hs256(JWK_TEXT)), id="HMAC of the JWK"
    ),
    pytest.param(
        made(header={**HEADER, "alg": "HS256", "kid": "../../dev/null"}, sign=hs256(b"")),
        id="HMAC of nothing",
    ),
    pytest.param(header(alg="ES384"), id="a longer hash"),
    pytest.param(header(alg="ES256K"), id="another curve"),
    pytest.param(header(alg="RS256"), id="RSA"),
    pytest.param(header(alg="EdDSA"), id="Edwards curve"),
    pytest.param(header(alg="es256"), id="lower case"),
    pytest.param(header(alg="ES256 "), id="a blank after it"),
    pytest.param(header(alg=["ES256"]), id="a list"),
    pytest.param(made(header=without(HEADER, "alg")), id="no algorithm"),
    pytest.param(
        made(header={"alg": "dir", "kid": "k1", "typ": "JWT", "enc": "A256GCM", "zip": "DEF"}),
        id="the header of an encrypted one",
    ),
]
TYPES = [
    *(
        pytest.param(header(typ=typ), id=f"typ {typ!r}")
        for typ in ("jwt", "JWS", "at+jwt", "JWT ", "application/jwt", "", None, ["JWT"], 1)
    ),
    pytest.param(made(header=without(HEADER, "typ")), id="no typ"),
]
KEYS = [
    *(
        pytest.param(header(kid=kid), id=f"kid {kid!r}")
        for kid in (
            "k2", "K1", "k1 ", "", None, 1, ["k1"], {"k": 1}, "../../dev/null", "/etc/passwd",
            "k1' OR '1'='1", "https://evil.test/k1", "k1\0",
        )
    ),
    pytest.param(made(header=without(HEADER, "kid")), id="no kid"),
    pytest.param(
        made(header={**HEADER, "kid": "../../dev/null"}, sign=hs256(b"")), id="a path as kid"
    ),
]  # fmt: skip
CARRIED = [
    pytest.param(made(header={**HEADER, **more}, sign=es256(key)), id=f"{name}, {who}")
    for name, more in {
        "jwk": {"jwk": public_jwk(ATTACKER, "k1")},
        "jku": {"jku": "https://evil.test/jwks.json"},
        "x5u": {"x5u": "https://evil.test/c"},
        "x5c": {"x5c": ["MIIB"]},
        "x5t": {"x5t": "AAAA"},
        "x5t#S256": {"x5t#S256": "AAAA"},
    }.items()
    for who, key in (("of the attacker", ATTACKER), ("of the server", SERVER))
]
CRITICAL = [
    pytest.param(header(crit=["x-unknown"], **{"x-unknown": 1}), id="an unknown critical"),
    pytest.param(header(crit=["exp"], exp=NOW), id="a claim as critical"),
    pytest.param(header(crit=[]), id="an empty crit"),
    pytest.param(header(crit="b64"), id="crit is a text"),
    pytest.param(header(crit=["b64"], b64=False), id="an unencoded payload"),
    pytest.param(header(b64=False), id="b64 without crit"),
    pytest.param(header(zip="DEF"), id="compressed"),
    pytest.param(header(enc="A256GCM"), id="encrypted"),
]
SIGNATURES = [
    pytest.param(made(sign=es256(ATTACKER)), id="of the attacker"),
    pytest.param(made(sign=es256_der(SERVER)), id="in DER"),
    pytest.param(made(sign=fixed(b"")), id="empty"),
    pytest.param(made(sign=fixed(bytes(64))), id="zeros"),
    pytest.param(made(sign=fixed(ORDER.to_bytes(32, "big") * 2)), id="the order of the curve"),
    pytest.param(made(sign=fixed(b"\xff" * 64)), id="beyond the order"),
    pytest.param(made(sign=lambda data: es256(SERVER)(data) + b"\0"), id="a byte more"),
    pytest.param(made(sign=lambda data: es256(SERVER)(data)[:-1]), id="a byte less"),
    pytest.param(made(sign=lambda data: es256(SERVER)(data.lower())), id="of another text"),
    pytest.param(f"{HEAD}.{claims(sub='root').split('.')[1]}.{SIGNATURE}", id="other claims"),
    pytest.param(f"{header(newer=1).split('.')[0]}.{PAYLOAD}.{SIGNATURE}", id="another header"),
]
FORMS = [
    pytest.param("", id="nothing"),
    pytest.param(".", id="a dot"),
    pytest.param("..", id="three empty parts"),
    pytest.param(f"{HEAD}.{PAYLOAD}", id="two parts"),
    pytest.param(f"{GOOD}.e30", id="four parts"),
    pytest.param(f"{GOOD}.", id="a dot after it"),
    pytest.param(f"{HEAD}..{b64(bytes(12))}.{b64(b'x')}.{b64(bytes(16))}", id="five parts"),
    pytest.param(f"Bearer {GOOD}", id="the scheme before it"),
    pytest.param(f" {GOOD}", id="a blank before it"),
    pytest.param(f"{GOOD}\n", id="a line break after it"),
    pytest.param(f"{GOOD}==", id="padding"),
    pytest.param(f"{HEAD}=.{PAYLOAD}.{SIGNATURE}", id="padding inside"),
    pytest.param(GOOD.replace(".", "\u2024"), id="other dots"),
    pytest.param(f"{HEAD}.{PAYLOAD}\u00a0.{SIGNATURE}", id="a blank beyond ASCII"),
    pytest.param(f"{HEAD}+.{PAYLOAD}/.{SIGNATURE}", id="standard base64"),
    pytest.param(claims(sub="x" * 9_000), id="too long"),
    pytest.param("A" * 10_000_000, id="far too long"),
    pytest.param(json.dumps({"payload": PAYLOAD, "signatures": []}), id="the JSON form"),
    pytest.param(made(header=b"null"), id="header null"),
    pytest.param(made(header=b"[]"), id="header a list"),
    pytest.param(made(header=b"{"), id="header broken"),
    pytest.param(made(header=b"\xff\xfe{}"), id="header no UTF-8"),
    pytest.param(
        made(header=b'{"alg":"none","alg":"ES256","kid":"k1","typ":"JWT"}'),
        id="alg twice in the header",
    ),
    pytest.param(made(claims=b"null"), id="claims null"),
    pytest.param(made(claims=b'"text"'), id="claims a text"),
    pytest.param(made(claims=json.dumps([CLAIMS]).encode()), id="claims in a list"),
    pytest.param(made(claims=b""), id="claims empty"),
    pytest.param(made(claims=GOOD.encode()), id="a token in a token"),
    pytest.param(made(claims=b"[" * 5_000), id="deep"),
    pytest.param(made(claims=b"\xef\xbb\xbf" + json.dumps(CLAIMS).encode()), id="a BOM"),
    pytest.param(made(claims=b'{"sub":"root",' + json.dumps(CLAIMS).encode()[1:]), id="sub twice"),
    pytest.param(
        made(claims=json.dumps(CLAIMS).encode()[:-1] + b',"\\u0073ub":"root"}'),
        id="sub twice, once escaped",
    ),
    pytest.param(
        made(claims=json.dumps(CLAIMS).encode()[:-1] + b',"x":{"a":1,"a":2}}'), id="twice inside"
    ),
    pytest.param(claims(exp=float("nan")), id="NaN"),
    pytest.param(claims(exp=float("inf")), id="infinity"),
    pytest.param(
        made(claims=json.dumps(CLAIMS).replace(str(NOW + 300), "1e999").encode()), id="1e999"
    ),
]
TIMES = [
    pytest.param(claims(exp=NOW - 30, iat=NOW - 300), id="expired by the leeway"),
    pytest.param(claims(exp=NOW - 1_000, iat=NOW - 1_100), id="long expired"),
    pytest.param(claims(iat=NOW + 31, exp=NOW + 300), id="from the future"),
    pytest.param(claims(iat=NOW + 600, exp=NOW + 300), id="issued after its end"),
    pytest.param(claims(iat=NOW, exp=NOW), id="no life at all"),
    pytest.param(claims(iat=NOW + 20, exp=NOW - 20), id="backwards within the leeway"),
    pytest.param(claims(nbf=NOW + 31), id="not before the future"),
    pytest.param(claims(exp=NOW + 301), id="a second too long"),
    pytest.param(claims(exp=NOW + 864_000), id="ten days"),
    pytest.param(claims(exp=9_999_999_999_999), id="milliseconds"),
    pytest.param(claims(exp=10**400), id="a huge number"),
    pytest.param(claims(iat=-(10**400)), id="a hugely negative number"),
    pytest.param(claims(iat=0), id="issued in 1970"),
]
NUMBERS = [
    pytest.param(claims(nbf=None), id="not before null"),
    pytest.param(claims(nbf="soon"), id="not before a text"),
    pytest.param(claims(exp="9999999999999"), id="exp a text"),
    pytest.param(claims(exp=str(NOW + 300)), id="exp a text of the right number"),
    pytest.param(claims(exp=None), id="exp null"),
    pytest.param(claims(exp=True), id="exp true"),
    pytest.param(claims(exp=[NOW + 300]), id="exp a list"),
    pytest.param(claims(iat=str(NOW)), id="iat a text"),
    pytest.param(claims(iat=None), id="iat null"),
    pytest.param(claims(iat=False), id="iat false"),
    pytest.param(made(claims=without(CLAIMS, "exp")), id="no exp"),
    pytest.param(made(claims=without(CLAIMS, "iat")), id="no iat"),
]
NAMES = [
    *(
        pytest.param(claims(aud=aud), id=f"aud {aud!r}")
        for aud in (
            "app_other/api", "app_acme/api2", "app_acme/ap", "APP_ACME/API", "app_acme", "*",
            "app_acme/api/", " app_acme/api", "app_acme/api\0", "app_acme%2Fapi", "", None, 1,
            [], ["app_other/api"], [AUDIENCE, 1], [[AUDIENCE]], {AUDIENCE: 1}, True,
        )
    ),
    *(
        pytest.param(claims(iss=iss), id=f"iss {iss!r}")
        for iss in (
            "https://evil.example", "https://remit.example/", "https://remit.example.evil.test",
            "http://remit.example", "HTTPS://REMIT.EXAMPLE", "", None, [ISSUER], 1,
        )
    ),
    *(
        pytest.param(claims(**{name: value}), id=f"{name} {value!r}")
        for name in ("sub", "tenant", "installation", "jti")
        for value in ("", None, 1, ["user_1"], {"id": 1}, True)
    ),
    *(
        pytest.param(made(claims=without(CLAIMS, name)), id=f"no {name}")
        for name in ("aud", "iss", "sub", "tenant", "installation", "jti")
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("token", "reasons"),
    [
        pytest.param(case.values[0], reasons, id=f"{group}: {case.id}")
        for group, reasons, cases in (
            ("unsigned", {"wrong_algorithm"}, UNSIGNED),
            ("algorithm", {"wrong_algorithm"}, OTHER_ALGORITHMS),
            ("type", {"wrong_type"}, TYPES),
            ("key", {"unknown_key"}, KEYS),
            ("carried", {"unsupported_header"}, CARRIED),
            ("critical", {"unsupported_header"}, CRITICAL),
            ("signature", {"bad_signature"}, SIGNATURES),
            ("form", {"malformed"}, FORMS),
            ("time", {"expired", "not_yet_valid", "lives_too_long", "bad_claims"}, TIMES),
            ("number", {"bad_claims"}, NUMBERS),
            ("name", {"wrong_audience", "wrong_issuer", "bad_claims"}, NAMES),
        )
        for case in cases
    ],
)
def test_a_bad_token_is_refused_with_a_reason(token: str, reasons: set[str]) -> None:
    """Each for what is wrong with it, so that no check hides behind another."""
    found = check(token)

    assert isinstance(found, Refusal), found
    assert found.reason in reasons, found
    assert found.message.startswith("The token")
    assert not any(part in found.message for part in token.split(".") if len(part) > 20)


def test_no_bit_of_a_token_can_be_flipped() -> None:
    """Header, payload and signature, each bit of the bytes and each character of the text."""
    for at, char in enumerate(GOOD):
        # The last character has bits to spare: two texts of one signature would both be believed.
        last = at == len(GOOD) - 1
        for other in string.printable if last else "ABQgw_-.":
            if other != char:
                assert isinstance(check(GOOD[:at] + other + GOOD[at + 1 :]), Refusal)


@given(st.text(alphabet="eyJhbGciOiJ.-_=+ \n\0é", max_size=60) | st.text(max_size=40))
def test_any_text_is_refused_without_an_exception(text: str) -> None:
    """A handler never fails on what a stranger sends."""
    assert isinstance(check(text), Refusal)


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner)
)


@given(
    st.dictionaries(st.sampled_from(["alg", "typ", "kid", "crit", "cty", "x"]), values),
    st.dictionaries(st.sampled_from([*CLAIMS, "nbf"]), values),
)
def test_signed_nonsense_is_refused_without_an_exception(
    changed_header: dict[str, object], changed_claims: dict[str, object]
) -> None:
    """Whatever the server's key might have signed: an identity of texts, or a refusal."""
    token = made(header={**HEADER, **changed_header}, claims={**CLAIMS, **changed_claims})

    found = check(token)

    if isinstance(found, Identity):
        assert all(
            value and isinstance(value, str)
            for name, value in asdict(found).items()
            if not name.endswith("_s")
        )


def test_a_longer_life_is_believed_only_where_it_is_asked_for() -> None:
    """Five minutes by default (contract section 8)."""
    token = claims(exp=NOW + 900)

    assert isinstance(check(token), Refusal)
    assert isinstance(check(token, max_lifetime_s=900), Identity)
    assert isinstance(check(claims(exp=NOW + 864_000), max_lifetime_s=900), Refusal)


def test_a_token_for_one_app_is_refused_by_another() -> None:
    """A malicious app cannot forward a user's token (RFC 8725 section 3.9)."""
    assert isinstance(check(GOOD, audience="app_b/api"), Refusal)
    assert isinstance(check(GOOD, audience="app_acme/web"), Refusal)
    assert isinstance(check(GOOD, issuer="https://other.example"), Refusal)


def test_an_origin_is_an_audience_too() -> None:
    """For `auth: identity` the audience is the origin of baseUrl."""
    token = claims(aud="https://api.acme.example")

    assert isinstance(check(token, audience="https://api.acme.example"), Identity)
    assert isinstance(check(token, audience="https://api.acme.example:443"), Refusal)


def test_old_and_new_keys_verify_while_both_are_published() -> None:
    """Rotation from k1 to k2: a token of k1 inside its life is believed."""
    old, new = public_jwk(SERVER, "k1"), public_jwk(NEXT, "k2")
    by_new = made(header={**HEADER, "kid": "k2"}, sign=es256(NEXT))

    both: dict[str, object] = {"keys": [old, new]}
    assert isinstance(check(GOOD, both), Identity)
    assert isinstance(check(by_new, both), Identity)
    assert isinstance(check(GOOD, {"keys": [new]}), Refusal)
    assert isinstance(check(by_new, {"keys": [old]}), Refusal)
    crossed = made(header={**HEADER, "kid": "k2"}, sign=es256(SERVER))
    assert isinstance(check(crossed, both), Refusal)


K1 = public_jwk(SERVER, "k1")
P384 = ec.derive_private_key(7, ec.SECP384R1()).public_key().public_numbers()


@pytest.mark.parametrize(
    "jwks",
    [
        pytest.param({}, id="empty"),
        pytest.param({"keys": None}, id="keys null"),
        pytest.param({"keys": K1}, id="keys an object"),
        pytest.param({"keys": []}, id="no key"),
        pytest.param({"keys": [K1, K1]}, id="the id twice"),
        pytest.param({"keys": [K1, public_jwk(ATTACKER, "k1")]}, id="two keys of one id"),
        pytest.param({"keys": [without(K1, "kid")]}, id="a key without an id"),
        pytest.param({"keys": [without(K1, "x")]}, id="half a point"),
        pytest.param({"keys": [{**K1, "x": K1["y"]}]}, id="no point of the curve"),
        pytest.param({"keys": [{**K1, "x": "!!"}]}, id="no base64"),
        pytest.param({"keys": [{**K1, "x": 5}]}, id="a number"),
        pytest.param({"keys": [{**K1, "alg": "ES384"}]}, id="for another algorithm"),
        pytest.param({"keys": [{**K1, "use": "enc"}]}, id="for encryption"),
        pytest.param({"keys": [{"kty": "oct", "k": "AAAA", "kid": "k1"}]}, id="a secret"),
        pytest.param({"keys": [{"kty": "RSA", "n": "AQ", "e": "AQAB", "kid": "k1"}]}, id="RSA"),
        pytest.param(
            {
                "keys": [
                    {
                        "kty": "EC",
                        "crv": "P-384",
                        "x": b64(P384.x.to_bytes(48, "big")),
                        "y": b64(P384.y.to_bytes(48, "big")),
                        "kid": "k1",
                    }
                ]
            },
            id="another curve",
        ),
    ],
)
def test_a_document_without_the_one_key_verifies_nothing(jwks: object) -> None:
    """The key set is input too."""
    found = check(GOOD, jwks)

    assert isinstance(found, Refusal)
    assert found.reason == "unknown_key"


def test_keys_of_other_kinds_in_the_document_are_passed_over() -> None:
    """A newer server may publish keys that this kit does not know."""
    others: list[object] = [None, 1, "k1", {"kty": "OKP", "kid": "k9"}, {}]

    assert isinstance(check(GOOD, {"keys": [*others, K1], "newer": 1}), Identity)
