"""The bus: each reader hears all that happens, at once, in order, or is told that it does not."""

from __future__ import annotations

from remit.gateway import live
from remit.gateway.live import Bus, Heard, Subscription
from remit.session.events import Event, TextDelta

W, S = "acme", "sess_1"


class Reader:
    """A reader that counts how often it was woken."""

    def __init__(self, bus: Bus, workspace: str = W, session: str = S) -> None:
        self.woken = 0
        self.on: Subscription = bus.subscribe(workspace, session, self._wake)

    def _wake(self) -> None:
        self.woken += 1

    def take(self) -> list[Event | TextDelta]:
        """What it hears."""
        return [heard.what for heard in self.on.take()]


def event(seq: int, size: int = 2) -> Event:
    """An event of the log."""
    return Event(seq=seq, type="message", at=1, data_json="x" * size)


def say(bus: Bus, offset: int, text: str, message_id: str = "m1") -> None:
    """A piece of a message is written."""
    bus.said(W, S, run_id="r1", message_id=message_id, offset=offset, text=text)


def delta(offset: int, text: str, message_id: str = "m1") -> TextDelta:
    """The same as readers hear it."""
    return TextDelta(run_id="r1", message_id=message_id, offset=offset, text=text)


def test_every_reader_of_the_session_hears_and_nobody_else() -> None:
    """Of that workspace and that session."""
    bus = Bus()
    first, second = Reader(bus), Reader(bus)
    others = [Reader(bus, "globex"), Reader(bus, W, "sess_2")]
    bus.happened(W, S, [event(1), event(2)])
    say(bus, 0, "Hel")
    bus.happened(W, S, [event(3)])

    for reader in (first, second):
        assert reader.woken == 3
        assert reader.take() == [event(1), event(2), delta(0, "Hel"), event(3)]
        assert reader.take() == []
        assert reader.on.head == 3
    assert [(reader.woken, reader.take()) for reader in others] == [(0, []), (0, [])]
    assert set(bus.readers()) == {(W, S), ("globex", S), (W, "sess_2")}


def test_what_is_heard_is_one_value_for_all_readers() -> None:
    """So that it is encoded once."""
    bus = Bus()
    first, second = Reader(bus), Reader(bus)
    bus.happened(W, S, [event(1)])
    (heard,) = first.on.take()
    heard.encoded = b"id: 1"

    assert second.on.take() == [Heard(event(1), b"id: 1")]


def test_reader_that_joins_in_the_middle_of_a_message_first_gets_the_text_so_far() -> None:
    """One delta with offset 0 (contract section 9); then it goes on for all alike."""
    bus = Bus()
    early = Reader(bus)
    for offset, text in ((0, "Hel"), (3, "lo "), (6, "wörld")):
        say(bus, offset, text)
    late = Reader(bus)
    say(bus, 11, "!")

    assert late.woken == 2
    assert late.take() == [delta(0, "Hello wörld"), delta(11, "!")]
    assert early.take()[-1] == delta(11, "!")
    assert bus.so_far(W, S) == delta(0, "Hello wörld!")


def test_nobody_gets_the_beginning_of_a_message_that_is_whole() -> None:
    """It is in the log by then; the next one begins anew, and so does one that is asked again."""
    bus = Bus()
    say(bus, 0, "Hello")
    bus.unsaid(W, S)
    assert Reader(bus).take() == []
    say(bus, 0, "Good", "m2")
    assert Reader(bus).take() == [delta(0, "Good", "m2")]
    say(bus, 0, "Fine", "m2")
    assert Reader(bus).take() == [delta(0, "Fine", "m2")]
    say(bus, 0, "New", "m3")
    assert Reader(bus).take() == [delta(0, "New", "m3")]


def test_reader_that_takes_nothing_is_cut_off_and_holds_nothing() -> None:
    """A slow reader costs a bounded queue, and the others nothing."""
    bus = Bus()
    slow, quick = Reader(bus), Reader(bus)
    for seq in range(1, live.MAX_WAITING + 2):
        bus.happened(W, S, [event(seq)])
        assert quick.take() == [event(seq)]

    assert slow.on.ended == "slow_reader"
    assert slow.take() == []
    woken = slow.woken
    bus.happened(W, S, [event(live.MAX_WAITING + 2)])
    assert (slow.woken, slow.take()) == (woken, [])
    assert quick.on.ended is None


def test_reader_is_cut_off_by_the_size_of_what_waits() -> None:
    """Few events may be large."""
    bus = Bus()
    slow = Reader(bus)
    half = live.MAX_WAITING_CHARS // 2
    bus.happened(W, S, [event(1, half)])
    bus.happened(W, S, [event(2, half)])
    assert slow.on.ended is None
    say(bus, 0, "x")
    assert slow.on.ended == "slow_reader"


def test_large_event_cuts_nobody_off_who_had_taken_everything() -> None:
    """A reader that keeps up is not slow, whatever an app answers."""
    bus = Bus()
    reader = Reader(bus)
    bus.happened(W, S, [event(1, 2 * live.MAX_WAITING_CHARS)])

    assert reader.on.ended is None
    assert len(reader.take()) == 1
    bus.happened(W, S, [event(2)])
    assert reader.take() == [event(2)]


def test_what_another_node_did_wakes_whoever_does_not_know_it() -> None:
    """``beyond`` says how far the log is; the events are in the store."""
    bus = Bus()
    reader = Reader(bus)
    bus.beyond(W, S, 7)
    assert (reader.woken, reader.on.head, reader.take()) == (1, 7, [])
    bus.beyond(W, S, 7)
    bus.beyond(W, S, 5)
    bus.beyond(W, "sess_2", 9)
    assert (reader.woken, reader.on.head) == (1, 7)
    bus.happened(W, S, [event(6)])
    assert reader.on.head == 7


def test_end_tells_all_readers_of_the_session_once() -> None:
    """What waits can still be taken."""
    bus = Bus()
    reader, other = Reader(bus), Reader(bus, W, "sess_2")
    bus.happened(W, S, [event(1)])
    bus.end(W, S, "session_closed")
    bus.end(W, S, "shutdown")
    bus.happened(W, S, [event(2)])

    assert (reader.on.ended, reader.take(), reader.woken) == ("session_closed", [event(1)], 2)
    assert other.on.ended is None
    assert set(bus.readers()) == {(W, "sess_2")}


def test_shutdown_ends_all_and_lets_nobody_join() -> None:
    """A stream that is opened while the node stops ends at once, and is told why."""
    bus = Bus()
    readers = [Reader(bus), Reader(bus, "globex", "sess_2")]
    bus.end_all("shutdown")
    late = Reader(bus)

    assert [reader.on.ended for reader in (*readers, late)] == ["shutdown"] * 3
    assert late.woken == 1
    assert list(bus.readers()) == []


def test_reader_that_left_hears_nothing_and_costs_nothing() -> None:
    """Leaving twice is harmless, after an end too."""
    bus = Bus()
    gone, stays = Reader(bus), Reader(bus)
    gone.on.close()
    gone.on.close()
    bus.happened(W, S, [event(1)])
    assert (gone.take(), stays.take()) == ([], [event(1)])
    assert bus.is_read(W, S)
    stays.on.close()
    assert not bus.is_read(W, S)
    assert list(bus.readers()) == []
    bus.end(W, S, "session_closed")
    assert stays.on.ended is None


def test_reader_may_leave_while_it_is_told() -> None:
    """Whoever is woken may hang up at that moment; the others hear all the same."""
    bus = Bus()
    reader: list[Subscription] = []

    def leave() -> None:
        reader[0].close()

    reader.append(bus.subscribe(W, S, leave))
    stays = Reader(bus)
    bus.happened(W, S, [event(1)])
    assert stays.take() == [event(1)]


def test_joining_is_told() -> None:
    """Who brings what other nodes say has to know that somebody reads."""
    bus = Bus()
    told: list[tuple[str, str]] = []
    bus.on_join = lambda *key: told.append(key)
    Reader(bus)
    assert told == [(W, S)]
