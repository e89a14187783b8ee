"""Signing keys are published before use, and until their last token has expired."""

from __future__ import annotations

import asyncio
import json
import time
from base64 import urlsafe_b64decode

import pytest
from joserfc.jwk import ECKey

from remit.gateway.identity import JWKS_AGE_S, Identity, SigningKey, component_audience
from remit.gateway.keeping import SERVER, Sealed, VaultFault, signing_place
from remit.kit import Identity as Read
from remit.kit import Refusal, verify
from remit.kit.identity import LEEWAY_S as KIT_LEEWAY_S
from remit.kit.identity import MAX_LIFETIME_S
from remit.vault.sealing import Vault
from remit.vault.signing import (
    LEEWAY_S,
    LIFETIME_S,
    PUBLISH_AHEAD_S,
    VIEW_AGE_S,
    Signer,
    states,
)
from tests.vault.fakes import MemoryDataKeys, MemorySigningKeys, masters

NOW = 1_800_000_000
ISSUER = "https://remit.example"
AUDIENCE = component_audience("app_acme", "api")
WHO = Identity(
    audience=AUDIENCE, user="ünal 1", workspace="t1", installation="inst_1", call_id="call_1"
)


def node(keys: MemorySigningKeys, data_keys: MemoryDataKeys) -> Signer:
    """One server process on a shared store."""
    return Signer(issuer=ISSUER, keys=keys, keeper=Vault(data_keys, masters("a")))


@pytest.fixture
def keys() -> MemorySigningKeys:
    """Where the signing keys are kept."""
    return MemorySigningKeys()


@pytest.fixture
def data_keys() -> MemoryDataKeys:
    """Where the vault's data keys are kept."""
    return MemoryDataKeys()


@pytest.fixture
def signer(keys: MemorySigningKeys, data_keys: MemoryDataKeys) -> Signer:
    """One server."""
    return node(keys, data_keys)


async def check(signer: Signer, token: str, now_s: int) -> Read | Refusal:
    """What an app that reads the JWKS now says of a token."""
    return verify(
        token, await signer.jwks(now_s=now_s), audience=AUDIENCE, issuer=ISSUER, now_s=now_s
    )


def claims_of(token: str) -> tuple[dict[str, object], dict[str, object]]:
    """Header and claims, unverified."""
    head, payload, _ = token.split(".")
    return _decoded(head), _decoded(payload)


def _decoded(part: str) -> dict[str, object]:
    return json.loads(urlsafe_b64decode(part + "=" * (-len(part) % 4)))


async def test_a_token_says_what_the_contract_says_and_no_more(signer: Signer) -> None:
    """Every name of contract section 8, and the call's own id."""
    token = (await signer.mint(WHO, now_s=NOW)).reveal()

    header, claims = claims_of(token)
    assert header == {"alg": "ES256", "typ": "JWT", "kid": header["kid"]}
    assert claims == {
        "iss": ISSUER,
        "aud": "app_acme/api",
        "sub": "ünal 1",
        "tenant": "t1",
        "installation": "inst_1",
        "iat": NOW,
        "exp": NOW + 300,
        "jti": "call_1",
    }
    assert await check(signer, token, NOW) == Read(
        user="ünal 1",
        workspace="t1",
        installation="inst_1",
        call_id="call_1",
        issued_at_s=NOW,
        expires_at_s=NOW + 300,
    )


async def test_server_and_kit_agree_on_what_a_token_may_be() -> None:
    """The kit imports nothing of the server, so the same numbers stand twice."""
    assert (LIFETIME_S, LEEWAY_S) == (MAX_LIFETIME_S, KIT_LEEWAY_S) == (300, 30)


async def test_the_largest_token_is_within_the_bound_of_the_kit(signer: Signer) -> None:
    """200 characters of a user, long names of app and component, long public URLs."""
    wide = "\U0001f600" * 200
    long = "https://" + "a" * 1_000
    who = Identity(
        audience=long, user=wide, workspace="w" * 200, installation="i" * 100, call_id="c" * 100
    )

    token = (await signer.mint(who, now_s=NOW)).reveal()

    jwks = await signer.jwks(now_s=NOW)
    found = verify(token, jwks, audience=long, issuer=ISSUER, now_s=NOW)
    assert isinstance(found, Read)
    assert found.user == wide


async def test_the_published_document_has_public_parts_alone(
    signer: Signer, keys: MemorySigningKeys
) -> None:
    """RFC 7517; the private part is sealed and nowhere else."""
    await signer.mint(WHO, now_s=NOW)
    await signer.rotate(now_s=NOW)

    document = await signer.jwks(now_s=NOW)

    found = json.loads(json.dumps(document))["keys"]
    assert len(found) == 2
    for key in found:
        assert set(key) == {"kty", "crv", "x", "y", "kid", "alg", "use"}
        assert (key["kty"], key["crv"], key["alg"], key["use"]) == ("EC", "P-256", "ES256", "sig")
        assert key["kid"] == ECKey.import_key(key).thumbprint()
    assert '"d"' not in repr(keys.kept)


async def test_the_private_part_opens_for_its_own_key_alone(
    signer: Signer, keys: MemorySigningKeys, data_keys: MemoryDataKeys
) -> None:
    """A row swapped in the store signs nothing."""
    await signer.rotate(now_s=NOW)
    await signer.rotate(now_s=NOW)
    one, two = keys.kept
    keys.kept = [
        SigningKey(kid=one.kid, public=one.public, sealed=two.sealed, active_from_s=NOW),
        two,
    ]

    with pytest.raises(VaultFault):
        await node(keys, data_keys).mint(WHO, now_s=NOW)
    assert await data_keys.workspaces() == (SERVER,)
    opened = await Vault(data_keys, masters("a")).open(signing_place(two.kid), two.sealed)
    assert json.loads(opened.reveal())["kid"] == two.kid


async def test_the_first_key_is_made_at_the_start_and_once(
    keys: MemorySigningKeys, data_keys: MemoryDataKeys
) -> None:
    """Before anybody keeps an empty document; of nodes that start at once one makes it."""
    nodes = [node(keys, data_keys) for _ in range(5)]

    await asyncio.gather(*(one.prepare(now_s=NOW) for one in nodes))
    await nodes[0].prepare(now_s=NOW + 1_000)

    assert len(keys.kept) == 1
    for one in nodes:
        token = (await one.mint(WHO, now_s=NOW)).reveal()
        assert isinstance(await check(nodes[0], token, NOW), Read)


async def test_a_new_key_is_published_before_it_signs(
    signer: Signer, keys: MemorySigningKeys
) -> None:
    """A verifier that keeps the document for its whole age knows the key when it is used."""
    await signer.prepare(now_s=NOW)
    old = keys.kept[0].kid
    new = (await signer.rotate(now_s=NOW)).kid
    document = await signer.jwks(now_s=NOW)
    assert PUBLISH_AHEAD_S >= JWKS_AGE_S + VIEW_AGE_S

    used = [
        claims_of((await signer.mint(WHO, now_s=NOW + s)).reveal())[0]["kid"]
        for s in (0, 1, PUBLISH_AHEAD_S - 1, PUBLISH_AHEAD_S, PUBLISH_AHEAD_S + 1)
    ]

    assert used == [old, old, old, new, new]
    assert [key["kid"] for key in document["keys"]] == [old, new]  # type: ignore[index,union-attr]


async def test_a_token_of_the_old_key_is_believed_until_it_expires(
    signer: Signer, keys: MemorySigningKeys
) -> None:
    """Old public keys stay published until the last token has expired, leeway included."""
    await signer.prepare(now_s=NOW)
    await signer.rotate(now_s=NOW)
    last = NOW + PUBLISH_AHEAD_S - 1
    token = (await signer.mint(WHO, now_s=last)).reveal()

    for after in (0, 1, 60, LIFETIME_S, LIFETIME_S + LEEWAY_S - 1):
        assert isinstance(await check(signer, token, last + after), Read)
    late = await check(signer, token, last + LIFETIME_S + LEEWAY_S)
    assert isinstance(late, Refusal)
    assert late.reason == "expired"


async def test_a_node_with_an_old_view_is_still_believed(
    keys: MemorySigningKeys, data_keys: MemoryDataKeys
) -> None:
    """What the old key signs within the age of a view is in the document long enough."""
    one, two = node(keys, data_keys), node(keys, data_keys)
    await one.prepare(now_s=NOW)
    await two.mint(WHO, now_s=NOW)
    await one.rotate(now_s=NOW + 1)

    token = (await two.mint(WHO, now_s=NOW + VIEW_AGE_S - 1)).reveal()
    assert isinstance(await check(one, token, NOW + 300), Read)
    await two.mint(WHO, now_s=NOW + VIEW_AGE_S)
    seen = await two.jwks(now_s=NOW + VIEW_AGE_S)
    assert seen == await one.jwks(now_s=NOW + VIEW_AGE_S)


async def test_expired_keys_are_forgotten_at_the_next_rotation(
    signer: Signer, keys: MemorySigningKeys
) -> None:
    """Private parts are not kept for ever."""
    for n in range(5):
        await signer.rotate(now_s=NOW + n * 10_000)

    assert len(keys.kept) == 2
    document = await signer.jwks(now_s=NOW + 100_000)
    assert len(document["keys"]) == 1  # type: ignore[arg-type]


async def test_a_stolen_key_is_gone_at_once(signer: Signer, keys: MemorySigningKeys) -> None:
    """Removal is instant: what it signed is refused by whoever reads the document anew."""
    await signer.prepare(now_s=NOW)
    await signer.rotate(now_s=NOW)
    stolen = (await signer.mint(WHO, now_s=NOW)).reveal()

    await signer.rotate(now_s=NOW, at_once=True)

    assert len(keys.kept) == 1
    refused = await check(signer, stolen, NOW)
    assert isinstance(refused, Refusal)
    assert refused.reason == "unknown_key"
    fresh = (await signer.mint(WHO, now_s=NOW)).reveal()
    assert isinstance(await check(signer, fresh, NOW), Read)


async def test_rotations_close_together_keep_their_order(
    signer: Signer, keys: MemorySigningKeys
) -> None:
    """A clock that is set back never lets a later key sign before an earlier one."""
    await signer.prepare(now_s=NOW)
    for now_s in (NOW, NOW - 5_000, NOW + 1):
        await signer.rotate(now_s=now_s)

    times = [key.active_from_s for key in keys.kept]
    assert times == sorted(times)


def key(active_from_s: int) -> SigningKey:
    """A key with a time."""
    return SigningKey(
        kid=str(active_from_s), public="{}", sealed=Sealed(""), active_from_s=active_from_s
    )


GONE = VIEW_AGE_S + LIFETIME_S + LEEWAY_S


@pytest.mark.parametrize(
    ("times", "now_s", "expected"),
    [
        pytest.param([], 0, [], id="none"),
        pytest.param([100], 50, ["active"], id="the only one signs, due or not"),
        pytest.param([100, 200], 199, ["active", "published"], id="before use"),
        pytest.param([100, 200], 200, ["retired", "active"], id="in use"),
        pytest.param([100, 200], 200 + GONE, ["retired", "active"], id="the last second"),
        pytest.param([100, 200], 201 + GONE, ["expired", "active"], id="after it"),
        pytest.param([100, 200, 300], 250, ["retired", "active", "published"], id="three"),
        pytest.param([100, 100], 100, ["retired", "active"], id="two at once: the later"),
    ],
)
def test_the_state_of_a_key_follows_from_the_times(
    times: list[int], now_s: int, expected: list[str]
) -> None:
    """published, active, retired, expired; nothing of it is stored."""
    assert list(states([key(time) for time in times], now_s)) == expected


async def test_minting_costs_a_signature_and_little_more(signer: Signer) -> None:
    """50 to 100 us on an idle machine; a hundred times that here would be a mistake of ours."""
    await signer.prepare(now_s=NOW)
    count = 200
    started = time.process_time()
    for _ in range(count):
        await signer.mint(WHO, now_s=NOW)

    assert (time.process_time() - started) / count < 0.005
