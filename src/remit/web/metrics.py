"""Counters for Prometheus; no label names a workspace, a user or an app."""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate
from typing import TYPE_CHECKING, final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

if TYPE_CHECKING:
    from collections.abc import Iterator

MEDIA = "text/plain; version=0.0.4; charset=utf-8"
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)
_BOUNDS = (*map(str, _BUCKETS), "+Inf")


@final
class Metrics(Collector):
    """What a node counts of its requests, on its one event loop.

    Plain numbers, made into the library's metrics when they are asked for: its own counters take
    a lock at each step, and every call takes several.

    Attributes:
        streams: event streams that are open now.
    """

    def __init__(self) -> None:
        self._requests: dict[tuple[str, int], int] = {}
        self._took: dict[str, list[int]] = {}
        self._seconds: dict[str, float] = {}
        self._calls: dict[str, int] = {}
        self._tasks = self._late = 0
        self.streams = 0
        self._registry = CollectorRegistry()
        self._registry.register(self)

    def answered(self, route: str, status: int, seconds: float) -> None:
        """A request was answered; ``route`` is its template."""
        key = (route, status)
        self._requests[key] = self._requests.get(key, 0) + 1
        took = self._took.get(route)
        if took is None:
            took = self._took[route] = [0] * len(_BOUNDS)
        took[bisect_left(_BUCKETS, seconds)] += 1
        self._seconds[route] = self._seconds.get(route, 0.0) + seconds

    def called(self, outcome: str) -> None:
        """A call over the API came to this."""
        self._calls[outcome] = self._calls.get(outcome, 0) + 1

    def text(self, tasks: int, late: int) -> bytes:
        """All of it as Prometheus reads it.

        Args:
            tasks: how much the node has under way.
            late: how many ends and other steps of calls wait for the store.
        """
        self._tasks, self._late = tasks, late
        return generate_latest(self._registry)

    def collect(self) -> Iterator[Metric]:
        """Everything as the library's own values."""
        requests = CounterMetricFamily(
            "remit_http_requests_total", "Requests by route and status", labels=("route", "status")
        )
        for (route, status), count in self._requests.items():
            requests.add_metric((route, str(status)), count)
        seconds = HistogramMetricFamily(
            "remit_http_request_seconds", "Time to answer, by route", labels=("route",)
        )
        for route, took in self._took.items():
            buckets = list(zip(_BOUNDS, accumulate(took), strict=True))
            seconds.add_metric((route,), buckets, self._seconds[route])
        calls = CounterMetricFamily(
            "remit_calls_total", "Calls over the API by what became of them", labels=("outcome",)
        )
        for outcome, count in self._calls.items():
            calls.add_metric((outcome,), count)
        tasks = GaugeMetricFamily(
            "remit_node_tasks", "Calls that this node sends or polls now", value=self._tasks
        )
        late = GaugeMetricFamily(
            "remit_ends_waiting",
            "Ends and other steps of calls that the database has not taken so far",
            value=self._late,
        )
        streams = GaugeMetricFamily(
            "remit_event_streams", "Event streams that are open now", value=self.streams
        )
        yield from (requests, seconds, calls, tasks, late, streams)
