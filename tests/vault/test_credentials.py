"""Credentials are sealed with all that is known of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.gateway.keeping import Credential, VaultFault, connection_place
from remit.values.secrets import Secret
from remit.vault.credentials import credential_of, text_of
from remit.vault.sealing import Vault
from tests.vault.fakes import CANARY, MemoryDataKeys, masters

PLACE = connection_place("acme", "shop", "ann", "c1")

credentials = st.builds(
    Credential,
    type=st.sampled_from(["bearer", "basic", "apiKey"]),
    secret=st.text().map(Secret),
    expires_at_s=st.none() | st.integers(0, 2**53),
    account=st.none() | st.text(),
)


@given(credentials)
async def test_a_credential_comes_back_whole(credential: Credential) -> None:
    """Type, secret, expiry and account (contract section 10)."""
    vault = Vault(MemoryDataKeys(), masters("a"))

    sealed = await vault.seal_credential(PLACE, credential)

    assert await vault.open_credential(PLACE, sealed) == credential


@pytest.mark.parametrize(
    ("expires_at_s", "usable"), [(None, True), (1_000, False), (1_001, True), (0, False)]
)
def test_a_credential_is_usable_until_it_expires(expires_at_s: int | None, usable: bool) -> None:
    """At the second of its expiry it has expired (contract section 7)."""
    credential = Credential(type="bearer", secret=Secret("x"), expires_at_s=expires_at_s)

    assert credential.usable(1_000) is usable


def test_keys_of_a_newer_release_are_passed_over() -> None:
    """Readers ignore keys that they do not know."""
    text = text_of(Credential(type="basic", secret=Secret("ann:pw"))).reveal()

    assert credential_of(Secret(text[:-1] + ',"scopes":["x"]}')).secret.reveal() == "ann:pw"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(CANARY, id="plain text"),
        pytest.param("", id="nothing"),
        pytest.param(f'["{CANARY}"]', id="a list"),
        pytest.param(f'{{"type": "bearer", "secret": "{CANARY}"', id="cut"),
        pytest.param(f'{{"type": "{CANARY}", "secret": "x"}}', id="another type"),
        pytest.param(f'{{"type": ["bearer"], "secret": "{CANARY}"}}', id="a list as type"),
        pytest.param(f'{{"secret": "{CANARY}"}}', id="no type"),
        pytest.param('{"type": "bearer"}', id="no secret"),
        pytest.param('{"type": "bearer", "secret": 5}', id="a number"),
        pytest.param(
            f'{{"type": "bearer", "secret": "{CANARY}", "expiresAt": "1"}}', id="a text as expiry"
        ),
        pytest.param(
            f'{{"type": "bearer", "secret": "{CANARY}", "expiresAt": true}}', id="true as expiry"
        ),
        pytest.param(
            f'{{"type": "bearer", "secret": "{CANARY}", "account": 1}}', id="a number as account"
        ),
        pytest.param(
            f'{{"type": "bearer", "secret": "x", "secret": "{CANARY}"}}', id="two secrets"
        ),
    ],
)
def test_what_is_no_credential_is_refused_and_not_shown(text: str) -> None:
    """An env value opened as a credential is no credential."""
    with pytest.raises(VaultFault, match="Connect the account again") as caught:
        credential_of(Secret(text))
    assert CANARY not in repr(caught.value)
    assert caught.value.__context__ is None
