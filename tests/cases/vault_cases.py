"""Security cases of the class vault: steps in words, walked with the vault of a server."""

from __future__ import annotations

import asyncio
import re
from base64 import b64encode, urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Awaitable, Callable, Mapping, Sequence
from urllib.parse import quote

from remit.gateway.connecting import GivenCredential, connect
from remit.gateway.keeping import Sealed, VaultFault, connection_place
from remit.values.secrets import Secret
from remit.vault.rotation import rotate
from remit.vault.sealing import Counting, Vault
from tests.cases.command import ROOT
from tests.cases.served import CANARY, Served, said, serve
from tests.cases.stage import Stage
from tests.cases.verdicts import Json, UnknownShapeError, only
from tests.gateway.fakes import answer
from tests.vault.fakes import MemoryDataKeys, key_text, masters

_PLAIN = "canary-plain-0123456789"
_PLACE = connection_place("acme", "acme", "ana", "conn_1")
_GIVEN = "steps master_key encryptions key scan canary note"
_EXPECT = (
    "detected_or_documented decrypts error_names_no_key_or_plaintext read written_under "
    "lost_values startup nonce_collisions limit_tracked found ciphertext_rows "
    "provider_revocation_attempted inflight_calls note"
)
_LATER: Sequence[tuple[str, str]] = (
    (r"oauth|refresh token|provider", "needs OAuth"),
    (r"session", "needs sessions"),
)


def later(given: Json) -> str | None:
    """Why the case cannot be judged yet."""
    words = " ; ".join(given.get("steps", [])).lower()
    return next((reason for pattern, reason in _LATER if re.search(pattern, words)), None)


def vault_case(given: Json, expect: Json) -> tuple[list[str], list[str]]:
    """Steps, a key, a count or a scan in; faults and what was not judged out."""
    given = only(given, _GIVEN, "input")
    expect = only(expect, _EXPECT, "expect")
    if "master_key" in given:
        return _weak_key(str(given["master_key"]), expect), []
    if "encryptions" in given:
        return asyncio.run(_nonces(given["encryptions"], expect)), []
    if "scan" in given:
        prose = ["crash reports and core dumps: `serve` sets no limit of its own on them"]
        return serve(_scanned(expect), *_LEAKING), prose
    words = " ; ".join(given.get("steps", [])).lower()
    for pattern, act in _ACTS:
        if re.search(pattern, words):
            prose = ["revocation at the provider: it comes with OAuth"]
            return act(expect), prose if "provider_revocation_attempted" in expect else []
    raise UnknownShapeError(f"steps {given.get('steps')}")


def _restored(expect: Mapping[str, Json]) -> list[str]:
    """An older value is back at its own place: it is refused, or a document says so."""

    async def act() -> bool:
        vault = Vault(MemoryDataKeys(), masters("a"))
        older = await vault.seal(_PLACE, Secret("older"))
        await vault.seal(_PLACE, Secret("newer"))
        try:
            await vault.open(_PLACE, older)
        except VaultFault:
            return True
        return False

    texts = [file.read_text("utf-8") for file in (ROOT / "docs").rglob("*.md")]
    documented = any(re.search(r"older\b[^.]*\bbackup", text) for text in texts)
    if (asyncio.run(act()) or documented) is not expect["detected_or_documented"]:
        return ["an older value opens at its place, and no document says so"]
    return []


def _flipped(expect: Mapping[str, Json]) -> list[str]:
    """One bit of any part: nonce, ciphertext, tag."""

    async def act() -> list[str]:
        vault = Vault(MemoryDataKeys(), masters("a"))
        sealed = await vault.seal(_PLACE, Secret(_PLAIN))
        head, key_id, *parts = sealed.text.split(".")
        raws = [urlsafe_b64decode(part + "=" * (-len(part) % 4)) for part in parts]
        faults: list[str] = []
        for number, raw in enumerate(raws):
            for bit in range(len(raw) * 8):
                other = bytearray(raw)
                other[bit // 8] ^= 1 << (bit % 8)
                shown = [*raws]
                shown[number] = bytes(other)
                coded = [urlsafe_b64encode(one).rstrip(b"=").decode() for one in shown]
                faults += await _opens(vault, ".".join((head, key_id, *coded)), expect)
        opened = (await vault.open(_PLACE, sealed)).reveal()
        return faults if opened == _PLAIN else [*faults, "the value itself does not open"]

    return asyncio.run(act())


async def _opens(vault: Vault, text: str, expect: Mapping[str, Json]) -> list[str]:
    try:
        await vault.open(_PLACE, Sealed(text))
    except VaultFault as fault:
        words = f"{fault} {fault.__cause__} {fault.__context__}"
        if expect["decrypts"] is not False:
            return [f"expected it to open, seen {fault}"]
        told = any(secret in words for secret in (_PLAIN, key_text("a")))
        clean = expect.get("error_names_no_key_or_plaintext", True)
        return [] if told is not clean else [f"expected clean {clean}, seen {words}"]
    return ["a changed value opens"] if expect["decrypts"] is False else []


def _rotated(expect: Mapping[str, Json]) -> list[str]:
    """Key 2 comes first: what key 1 sealed opens, and what is written is under key 2."""

    async def act() -> list[str]:
        keys = MemoryDataKeys()
        sealed = await Vault(keys, masters("one")).seal(_PLACE, Secret(_PLAIN))
        vault = Vault(keys, masters("two", "one"))
        read = (await vault.open(_PLACE, sealed)).reveal() == _PLAIN
        written = await vault.seal(_PLACE, Secret(_PLAIN))
        key = await keys.get("acme", written.text.split(".")[1])
        assert key is not None
        names = {masters("one").current.id: 1, masters("two").current.id: 2}
        under = names[key.master]
        # And with key 2 alone: that is what it is under.
        await Vault(keys, masters("two")).open(_PLACE, written)
        seen = {"read": read, "written_under": under}
        return [] if seen == dict(expect) else [f"expected {dict(expect)}, seen {seen}"]

    return asyncio.run(act())


_VALUES = 25


def _stopped(expect: Mapping[str, Json]) -> list[str]:
    """Rotation ends after any of its steps, and begins again; in the end the old key is gone."""

    async def act(served: Served) -> list[str]:
        store, books = served.api.stage.server.store, served.api.stage.server.books
        for number in range(_VALUES):
            given = GivenCredential(type="bearer", token=Secret(f"value-{number}"))
            await connect(books, served.api.stage.server.operator, "acme", f"u{number}", given)
        faults: list[str] = []
        for stop_after in (1, 2, 3, 4, None):
            # A process that died left nothing but the store.
            vault = Vault(store.data_keys, masters("b", "a"))
            steps = 0
            async for _ in rotate(vault, store.data_keys, store.sealed_rows, batch=5):
                steps += 1
                if steps == stop_after:
                    break
            lost = await _lost(served, Vault(store.data_keys, masters("b", "a")))
            if lost != expect["lost_values"]:
                faults.append(f"stopped after {stop_after}: {lost} lost")
        lost = await _lost(served, Vault(store.data_keys, masters("b")))
        return faults + ([f"{lost} lost without the older key"] if lost else [])

    return serve(act)


async def _lost(served: Served, vault: Vault) -> int:
    connections = served.api.stage.server.books.connections
    lost = 0
    for number in range(_VALUES):
        user = f"u{number}"
        row = await connections.get("acme", "acme", user)
        assert row is not None
        place = connection_place("acme", "acme", user, row.id)
        try:
            opened = await vault.open_credential(place, row.sealed)
        except VaultFault:
            lost += 1
            continue
        lost += f"value-{number}" not in repr(vars_of(opened))
    return lost


def vars_of(record: object) -> dict[str, str]:
    """The fields of a credential, secrets revealed."""
    names = getattr(record, "__dataclass_fields__", {})
    values = {name: getattr(record, name) for name in names}
    return {k: v.reveal() if isinstance(v, Secret) else str(v) for k, v in values.items()}


def _weak_key(words: str, expect: Mapping[str, Json]) -> list[str]:
    """Keys of the wrong length or of no chance, and every one that a document shows."""
    if expect.get("startup") != "refused":
        raise UnknownShapeError(f"expect {expect}")
    found = re.search(r"(\d+) zero bytes", words)
    sizes = {int(found[1]), 32} if found else {32}
    keys = {b64encode(bytes(size)).decode() for size in sizes}
    texts = [f.read_text("utf-8") for f in [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]]
    keys |= {word for text in texts for word in re.findall(r"\b[A-Za-z0-9+/_-]{43}=", text)}
    faults: list[str] = []
    with Stage("forked") as stage:
        for key in sorted(keys):
            env = {
                "REMIT_VAULT_KEY": key,
                "REMIT_SERVER_PORT": "0",
                "REMIT_STORE_URL": f"sqlite:///{stage.folder}/remit.db",
            }
            ran = stage.run("serve", env=env, timeout_s=10)
            if ran.exit_code != 2 or "listening" in ran.stdout or key in ran.stderr + ran.stdout:
                faults.append(f"{key}: exit {ran.exit_code}, {ran.stdout!r} {ran.stderr[:200]!r}")
            elif "key" not in ran.stderr:
                faults.append(f"does not name the key: {ran.stderr[:200]!r}")
    return faults


async def _nonces(count: int, expect: Mapping[str, Json]) -> list[str]:
    """So many encryptions under one key, and the bound at which a new key comes."""
    keys = MemoryDataKeys()
    vault = Vault(keys, masters("a"))
    sealed = [(await vault.seal(_PLACE, Secret("x"))).text.split(".") for _ in range(count)]
    faults: list[str] = []
    nonces = {(key, nonce) for _, key, nonce, _ in sealed}
    if count - len(nonces) != expect["nonce_collisions"]:
        faults.append(f"{count - len(nonces)} collisions")
    if sum(key.uses for key in keys.kept) < count or len({key for _, key, *_ in sealed}) != 1:
        faults.append(f"counted {[key.uses for key in keys.kept]}")
    bounded = Vault(MemoryDataKeys(), masters("a"), counting=Counting(max_uses=50, block=7))
    uses: dict[str, int] = {}
    for _ in range(200):
        key = (await bounded.seal(_PLACE, Secret("x"))).text.split(".")[1]
        uses[key] = uses.get(key, 0) + 1
    tracked = max(uses.values()) <= 50 and len(uses) >= 4
    return faults + ([] if tracked is expect["limit_tracked"] else [f"uses by key: {uses}"])


# An app that gives the credential back, in a body, an error and a header.
_LEAKING = (
    answer({"total": CANARY}),
    answer({"message": f"bad token {CANARY}"}, 401, x_token=CANARY),
)


def _scanned(expect: Mapping[str, Json]) -> Callable[[Served], Awaitable[list[str]]]:
    async def act(served: Served) -> list[str]:
        api = served.api
        await api.call("get_order", {"id": "7"})
        await api.call("get_order", {"id": "8"})
        bad = {"type": "bearer", "token": CANARY, "mood": CANARY}
        told = [
            await api.put("/v1/connections/acme/bob", bad),
            await api.put("/v1/connections/acme/bob", {**bad, "type": "basic"}),
            await api.put("/v1/apps/acme/env/default/production", {"TOKEN": CANARY}),
            await api.get("/v1/calls"),
            await api.get("/metrics", who=None),
        ]
        await served.settled()
        if not any(CANARY in str(vars_or_text(r)) for r in api.stage.egress.sent):
            return ["the app itself never saw the credential"]
        places = {
            "the database and its files": served.dump(),
            "logs": "\n".join(served.records.lines),
            "answers": "\n".join(f"{response.headers}{response.text}" for response in told),
            "faults": repr((api.faults, api.stage.faults)),
        }
        raw = CANARY.encode()
        forms = {CANARY, raw.hex(), quote(CANARY), CANARY[::-1]}
        # Base64 at each of the three offsets that it can have in a longer text.
        forms |= {b64encode(b"-" * skip + raw).decode()[4:-4] for skip in range(3)}
        found = [(place, form) for place, text in places.items() for form in forms if form in text]
        return [] if len(found) == expect["found"] else [f"found {found}"]

    return act


def vars_or_text(request: object) -> str:
    """A request as it leaves, its secret headers revealed."""
    headers = [
        f"{name}: {value.reveal() if isinstance(value, Secret) else value}"
        for name, value in getattr(request, "headers", ())
    ]
    return f"{request} {headers}"


def _disconnected(expect: Mapping[str, Json]) -> list[str]:
    """The user disconnects while the app works on a call of theirs."""

    async def act(served: Served) -> list[str]:
        api = served.api
        job = await api.call("render", {"name": "x"}, headers={"prefer": "wait=0"})
        await served.settled()
        api.stage.time.passed_ms += 1_000
        await served.settled()
        if not any("/jobs/" in line for line in served.sent):
            raise AssertionError(f"the call is not polled: {served.sent}")
        card = await served.waiting()
        before = len(served.sent)
        gone = await api.send("DELETE", "/v1/connections/acme/ana")
        faults = [] if gone.status_code == 204 else [f"not disconnected: {said(gone)}"]
        pressed = await served.press(card)
        for _ in range(4):
            api.stage.time.passed_ms += 5_000
            await served.settled()
        refused = await api.call("get_order", {"id": "7"})
        if refused.status_code != 409 or refused.json().get("code") != "not_connected":
            faults.append(f"a new call: {said(refused)}")
        if len(served.sent) != before and expect.get("inflight_calls"):
            faults.append(f"sent after it: {served.sent[before:]}, {said(job)}, {said(pressed)}")
        rows = served.rows("SELECT count(*) FROM connection WHERE \"user\" = 'ana'")[0][0]
        if rows != expect.get("ciphertext_rows", rows):
            faults.append(f"{rows} rows are left")
        return faults

    return serve(act)


_ACTS: Sequence[tuple[str, Callable[[Mapping[str, Json]], list[str]]]] = (
    (r"restore an older ciphertext", _restored),
    (r"flip one bit", _flipped),
    (r"add key 2", _rotated),
    (r"(re-encryption|rotation) is killed", _stopped),
    (r"user disconnects", _disconnected),
)
