"""The vault: sealed for one place, opened there, counted, and readable while keys change."""

from __future__ import annotations

import asyncio
import logging
import traceback
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.errors import WrongUse
from remit.gateway.keeping import (
    SERVER,
    Credential,
    Place,
    Sealed,
    VaultFault,
    connection_place,
    env_place,
    signing_place,
)
from remit.values.secrets import Secret
from remit.vault.envelopes import MAX_PLAIN_BYTES, MAX_USES
from remit.vault.masters import Masters
from remit.vault.rotation import rotate
from remit.vault.sealing import Counting, Vault
from tests.vault.fakes import CANARY, MemoryDataKeys, MemorySealedRows, masters

PLACE = connection_place("acme", "shop", "ann", "c1")
OTHERS = [
    pytest.param(replace(PLACE, workspace="other"), id="another workspace"),
    pytest.param(replace(PLACE, workspace=SERVER), id="the server"),
    pytest.param(replace(PLACE, app="shop2"), id="another app"),
    pytest.param(replace(PLACE, user="bob"), id="another user"),
    pytest.param(replace(PLACE, user="Ann"), id="a user of another letter case"),
    pytest.param(replace(PLACE, user=None), id="nobody"),
    pytest.param(connection_place("acme", "shop", "ann", "c2"), id="a later connection"),
    pytest.param(env_place("acme", "shop", "connection", "c1", "X"), id="an env value"),
    pytest.param(signing_place("c1"), id="a signing key"),
]


@pytest.fixture
def keys() -> MemoryDataKeys:
    """Where the vaults of one test keep their data keys."""
    return MemoryDataKeys()


@pytest.fixture
def vault(keys: MemoryDataKeys) -> Vault:
    """A vault with one master key."""
    return Vault(keys, masters("a"))


texts = st.text(max_size=20)


@given(
    texts,
    st.builds(
        Place, workspace=texts, app=texts, user=st.none() | texts, field=st.tuples(texts, texts)
    ),
)
async def test_what_is_sealed_opens_at_its_place(text: str, place: Place) -> None:
    """Any text, for any place; also by another process, which has nothing in its cache."""
    kept = MemoryDataKeys()
    vault = Vault(kept, masters("a"))

    sealed = await vault.seal(place, Secret(text))

    assert await vault.open(place, sealed) == Secret(text)
    assert await Vault(kept, masters("a")).open(place, sealed) == Secret(text)
    assert len(text) < 4 or text not in sealed.text


@pytest.mark.parametrize("other", OTHERS)
async def test_a_sealed_value_does_not_open_anywhere_else(vault: Vault, other: Place) -> None:
    """A row copied to another place by someone with the database opens nothing there."""
    sealed = await vault.seal(PLACE, Secret(CANARY))
    await vault.seal(other, Secret("x"))

    with pytest.raises(VaultFault, match="Put it in again") as caught:
        await vault.open(other, sealed)
    assert CANARY not in str(caught.value)
    assert (await vault.open(PLACE, sealed)).reveal() == CANARY


@given(data=st.data())
async def test_any_change_of_place_or_key_shuts_a_value(data: st.DataObject) -> None:
    """Every part of the place counts, in every spelling."""
    vault = Vault(MemoryDataKeys(), masters("a"))
    sealed = await vault.seal(PLACE, Secret("value"))
    part = data.draw(st.sampled_from(["workspace", "app", "user", "field"]))
    drawn = st.lists(texts, max_size=3).map(tuple) if part == "field" else texts
    other = data.draw(drawn.filter(lambda value: value != getattr(PLACE, part)))

    with pytest.raises(VaultFault):
        await vault.open(replace(PLACE, **{part: other}), sealed)


async def test_a_data_key_moved_to_another_workspace_does_not_open(keys: MemoryDataKeys) -> None:
    """Copying key row and value row together gains nothing: both are bound to the workspace."""
    vault = Vault(keys, masters("a"))
    sealed = await vault.seal(PLACE, Secret(CANARY))
    (key,) = keys.kept
    keys.kept = [replace(key, workspace="other")]

    with pytest.raises(VaultFault, match="sealed for another place"):
        await Vault(keys, masters("a")).open(replace(PLACE, workspace="other"), sealed)


async def test_a_data_key_whose_master_is_renamed_does_not_open(keys: MemoryDataKeys) -> None:
    """The row says which master key it needs; saying another one is found out."""
    sealed = await Vault(keys, masters("a")).seal(PLACE, Secret(CANARY))
    keys.kept = [replace(keys.kept[0], master=masters("b").current.id)]

    with pytest.raises(VaultFault):
        await Vault(keys, masters("b", "a")).open(PLACE, sealed)


@pytest.mark.parametrize("size", [0, 1, MAX_PLAIN_BYTES])
async def test_sizes_up_to_the_bound_are_sealed(vault: Vault, size: int) -> None:
    """64 KiB of UTF-8."""
    sealed = await vault.seal(PLACE, Secret("x" * size))

    assert len((await vault.open(PLACE, sealed)).reveal()) == size


@pytest.mark.parametrize("text", ["x" * (MAX_PLAIN_BYTES + 1), "é" * (MAX_PLAIN_BYTES // 2 + 1)])
async def test_a_larger_secret_is_refused(vault: Vault, text: str) -> None:
    """The size is said, the secret is not."""
    with pytest.raises(WrongUse, match=r"A secret has 6553[78] bytes"):
        await vault.seal(PLACE, Secret(text))


async def test_half_a_surrogate_pair_comes_back(vault: Vault) -> None:
    """A text that is no Unicode is no reason to fail with the text in the error."""
    sealed = await vault.seal(PLACE, Secret("a\ud800b"))

    assert (await vault.open(PLACE, sealed)).reveal() == "a\ud800b"


async def test_workspaces_have_data_keys_of_their_own(vault: Vault, keys: MemoryDataKeys) -> None:
    """One data key opens nothing of another workspace."""
    one = await vault.seal(PLACE, Secret("x"))
    two = await vault.seal(replace(PLACE, workspace="other"), Secret("x"))
    three = await vault.seal(replace(PLACE, app="mail"), Secret("x"))

    assert one.key_id != two.key_id
    assert one.key_id == three.key_id
    assert await keys.workspaces() == ("acme", "other")


async def test_a_new_master_key_seals_and_the_old_one_goes_on_opening(
    keys: MemoryDataKeys,
) -> None:
    """Old keys read, the new key writes, also before anything is rotated."""
    old = await Vault(keys, masters("a")).seal(PLACE, Secret(CANARY))
    vault = Vault(keys, masters("b", "a"))

    assert (await vault.open(PLACE, old)).reveal() == CANARY
    new = await vault.seal(PLACE, Secret("y"))

    key = await keys.get("acme", new.key_id)
    assert key is not None
    assert key.master == masters("b").current.id
    assert await Vault(keys, masters("b")).open(PLACE, new) == Secret("y")


async def test_a_missing_master_key_is_said_at_the_start(keys: MemoryDataKeys) -> None:
    """A vault without its key refuses to start; nothing is half done."""
    await Vault(keys, masters("a")).check()
    await Vault(keys, masters("a")).seal(PLACE, Secret("x"))
    await Vault(keys, masters("a")).check()
    await Vault(keys, masters("b", "a")).check()

    with pytest.raises(WrongUse, match="Put the missing key behind") as caught:
        await Vault(keys, masters("b")).check()
    assert masters("a").current.id in str(caught.value)


async def test_a_missing_master_key_fails_the_open_and_names_it(keys: MemoryDataKeys) -> None:
    """Its id, which says nothing about it."""
    sealed = await Vault(keys, masters("a")).seal(PLACE, Secret(CANARY))

    with pytest.raises(VaultFault, match=f"master key {masters('a').current.id}, which"):
        await Vault(keys, masters("b")).open(PLACE, sealed)


async def test_a_master_key_that_another_process_added_is_read_again(
    keys: MemoryDataKeys,
) -> None:
    """`remit vault rotate` beside a running server: it goes on, and asks once for all waiting."""
    asked = 0

    async def reload() -> Masters:
        nonlocal asked
        asked += 1
        await asyncio.sleep(0)
        return masters("b", "a")

    server = Vault(keys, masters("a"), reload=reload)
    sealed = await Vault(keys, masters("b", "a")).seal(PLACE, Secret(CANARY))

    opened = await asyncio.gather(*(server.open(PLACE, sealed) for _ in range(5)))

    assert {one.reveal() for one in opened} == {CANARY}
    assert asked == 1
    assert server.master == masters("b").current.id


async def test_a_master_key_that_is_nowhere_is_asked_for_once(keys: MemoryDataKeys) -> None:
    """A key command is not started by every call that fails."""
    asked = 0

    async def reload() -> Masters:
        nonlocal asked
        asked += 1
        if asked == 1:
            raise WrongUse("[vault] key_file x cannot be read: there is no such file.")
        return masters("a")

    server = Vault(keys, masters("a"), reload=reload)
    sealed = await Vault(keys, masters("b")).seal(PLACE, Secret(CANARY))

    with pytest.raises(VaultFault, match="key_file x cannot be read"):
        await server.open(PLACE, sealed)
    for _ in range(3):
        with pytest.raises(VaultFault, match="does not give"):
            await server.open(PLACE, sealed)
    assert asked == 2


@pytest.mark.parametrize("before", [("a",), ("a", "b")])
async def test_a_rotation_by_another_process_holds_for_what_is_sealed_next(
    keys: MemoryDataKeys, before: tuple[str, ...]
) -> None:
    """The server reads its keys again, and adds no data key under the one that is going away."""
    asked = 0

    async def reload() -> Masters:
        nonlocal asked
        asked += 1
        return masters("b", "a")

    server = Vault(keys, masters(*before), reload=reload)
    await server.seal(PLACE, Secret("before"))
    rows = MemorySealedRows()
    _ = [step async for step in rotate(Vault(keys, masters("b", "a")), keys, rows)]
    sealed = [await server.seal(PLACE, Secret(CANARY)) for _ in range(3)]

    assert await keys.masters() == {masters("b").current.id}
    assert asked == 1
    assert (await Vault(keys, masters("b")).open(PLACE, sealed[-1])).reveal() == CANARY


async def test_a_node_that_has_not_got_the_new_order_goes_on_and_asks_again_later(
    keys: MemoryDataKeys,
) -> None:
    """Nodes get their keys one by one: what the late one seals is opened by all."""
    given = [masters("a", "b"), masters("b", "a")]

    async def reload() -> Masters:
        return given.pop(0)

    await Vault(keys, masters("b", "a")).seal(PLACE, Secret("x"))
    late = Vault(keys, masters("a", "b"), reload=reload, reload_every_s=0)
    first = await late.seal(PLACE, Secret("first"))
    await Vault(keys, masters("b", "a")).seal(PLACE, Secret("x"))
    await late.seal(PLACE, Secret("second"))

    assert late.master == masters("b").current.id
    assert (await Vault(keys, masters("b", "a")).open(PLACE, first)).reveal() == "first"
    assert given == []


async def test_keys_that_cannot_be_read_again_seal_nothing(keys: MemoryDataKeys) -> None:
    """Rather no value than one under a key that may be gone; later it is tried again."""
    answers: list[Masters | WrongUse] = [WrongUse("[vault] key_file x: no."), masters("b", "a")]

    async def reload() -> Masters:
        found = answers.pop(0)
        if isinstance(found, WrongUse):
            raise found
        return found

    await Vault(keys, masters("b", "a")).seal(PLACE, Secret("x"))
    server = Vault(keys, masters("a"), reload=reload)
    with pytest.raises(VaultFault, match="key_file x"):
        await server.seal(PLACE, Secret("x"))
    await server.seal(PLACE, Secret("x"))

    assert await keys.masters() == {masters("b").current.id}


async def test_the_key_of_digests_is_one_for_all_nodes_and_stays(keys: MemoryDataKeys) -> None:
    """A repeated request is known after a restart and a rotation; the key is in no row."""
    nodes = [Vault(keys, masters("a")) for _ in range(3)]
    (first, *others) = await asyncio.gather(*(node.digest_key() for node in nodes))
    _ = [step async for step in rotate(Vault(keys, masters("b", "a")), keys, MemorySealedRows())]
    after = await Vault(keys, masters("b")).digest_key()

    assert {first, *others, after} == {first}
    assert len(first) == 32
    assert await Vault(MemoryDataKeys(), masters("a")).digest_key() != first
    assert not any(first.hex() in repr(key) for key in keys.kept)


async def test_a_data_key_is_renewed_when_its_uses_are_up(keys: MemoryDataKeys) -> None:
    """Encryptions under one key are counted, blocks beforehand, and bounded."""
    vault = Vault(keys, masters("a"), counting=Counting(max_uses=10, block=4))

    sealed = [await vault.seal(PLACE, Secret(str(n))) for n in range(20)]

    per_key = [sum(one.key_id == key.id for one in sealed) for key in keys.kept]
    assert per_key == [8, 8, 4]
    assert [key.uses for key in keys.kept] == [8, 8, 4]
    assert [(await vault.open(PLACE, one)).reveal() for one in sealed] == [
        str(n) for n in range(20)
    ]


async def test_processes_share_one_count(keys: MemoryDataKeys) -> None:
    """Two nodes together never pass the bound; a process that ends loses its block's rest."""
    counting = Counting(max_uses=10, block=4)
    sealed: list[Sealed] = []
    for _ in range(6):
        node = Vault(keys, masters("a"), counting=counting)
        sealed += [await node.seal(PLACE, Secret("x")) for _ in range(3)]

    assert all(sum(one.key_id == key.id for one in sealed) <= 10 for key in keys.kept)
    assert [key.uses for key in keys.kept] == [8, 8, 8]


async def test_100_000_encryptions_are_counted(vault: Vault, keys: MemoryDataKeys) -> None:
    """The limit is tracked at scale and no nonce repeats (NIST SP 800-38D)."""
    secret = Secret("x")
    nonces = {(await vault.seal(PLACE, secret)).text.split(".")[2] for _ in range(100_000)}

    assert len(nonces) == 100_000
    (key,) = keys.kept
    assert 100_000 <= key.uses < 100_256
    assert MAX_USES < 2**32


async def test_the_first_values_of_a_workspace_sealed_at_once_share_a_key(
    vault: Vault, keys: MemoryDataKeys
) -> None:
    """Many requests may come first."""
    sealed = await asyncio.gather(*(vault.seal(PLACE, Secret(str(n))) for n in range(20)))

    assert {one.key_id for one in sealed} == {keys.kept[0].id}
    assert [(await vault.open(PLACE, one)).reveal() for one in sealed] == [
        str(n) for n in range(20)
    ]


class FasterOther(MemoryDataKeys):
    """Another node always adds a key first, under a master key of its own."""

    async def add(self, key: object, *, after: str | None) -> bool:
        """Never in time."""
        return False


async def test_a_vault_that_is_always_overtaken_gives_up_and_says_why() -> None:
    """Never an endless loop."""
    with pytest.raises(VaultFault, match=r"same \[vault\] keys in the same order"):
        await Vault(FasterOther(), masters("a")).seal(PLACE, Secret("x"))


async def test_an_older_value_put_back_at_its_own_place_opens(vault: Vault) -> None:
    """Rollback is not found by encryption alone: docs/decisions/0011 says so.

    What is found is an older value put in the place of a connection made later.
    """
    older = await vault.seal(PLACE, Secret("older"))
    await vault.seal(PLACE, Secret("newer"))

    assert (await vault.open(PLACE, older)).reveal() == "older"
    with pytest.raises(VaultFault):
        await vault.open(connection_place("acme", "shop", "ann", "c2"), older)


async def test_a_canary_is_in_no_row_repr_message_traceback_or_log(
    keys: MemoryDataKeys, caplog: pytest.LogCaptureFixture
) -> None:
    """Plain text is never at rest, and no fault tells it."""
    caplog.set_level(logging.DEBUG)
    vault = Vault(keys, masters("a"))
    credential = Credential(type="bearer", secret=Secret(CANARY), account="ann@acme.example")
    sealed = await vault.seal_credential(PLACE, credential)
    shown = [repr(keys.kept), sealed.text, repr(sealed), repr(credential), repr(vault)]
    shown += [repr(await vault.open_credential(PLACE, sealed)), repr(masters("a"))]

    plain = await vault.seal(PLACE, Secret(f'{{"type": "bearer", "secret": ["{CANARY}"'))
    for attempt in (
        vault.open(replace(PLACE, user="bob"), sealed),
        vault.open(PLACE, Sealed(sealed.text[:-4] + "AAAA")),
        vault.open(PLACE, Sealed(CANARY)),
        vault.open_credential(PLACE, plain),
        Vault(keys, masters("b")).open(PLACE, sealed),
        vault.seal(PLACE, Secret(CANARY * 5_000)),
    ):
        with pytest.raises((VaultFault, WrongUse)) as caught:
            await attempt
        found = traceback.TracebackException.from_exception(caught.value, capture_locals=False)
        shown += [repr(caught.value), "".join(found.format()), repr(caught.value.__context__)]

    shown.append(caplog.text)
    assert len(shown) == 7 + 18 + 1
    assert not [text for text in shown if CANARY in text]
