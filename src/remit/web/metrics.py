"""Counters for Prometheus; no label names a workspace, a user or an app."""

from __future__ import annotations

from typing import final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

MEDIA = "text/plain; version=0.0.4; charset=utf-8"
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)


@final
class Metrics:
    """What a node counts of its requests; each app has a registry of its own."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "remit_http_requests_total",
            "Requests by route and status",
            ("route", "status"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            "remit_http_request_seconds",
            "Time to answer, by route",
            ("route",),
            buckets=_BUCKETS,
            registry=self._registry,
        )
        self._calls = Counter(
            "remit_calls_total",
            "Calls over the API by what became of them",
            ("outcome",),
            registry=self._registry,
        )
        self._tasks = Gauge(
            "remit_node_tasks", "Calls that this node sends or polls now", registry=self._registry
        )
        # Looked up by the library under a lock; kept here, since every call counts.
        self._known: dict[tuple[str, int], Counter] = {}
        self._timed: dict[str, Histogram] = {}
        self._became: dict[str, Counter] = {}

    def answered(self, route: str, status: int, seconds: float) -> None:
        """A request was answered; ``route`` is its template."""
        counter = self._known.get((route, status))
        if counter is None:
            counter = self._known[route, status] = self._requests.labels(route, str(status))
        counter.inc()
        timer = self._timed.get(route)
        if timer is None:
            timer = self._timed[route] = self._seconds.labels(route)
        timer.observe(seconds)

    def called(self, outcome: str) -> None:
        """A call over the API came to this."""
        counter = self._became.get(outcome)
        if counter is None:
            counter = self._became[outcome] = self._calls.labels(outcome)
        counter.inc()

    def text(self, tasks: int) -> bytes:
        """All of it as Prometheus reads it; ``tasks`` is how much the node has under way."""
        self._tasks.set(tasks)
        return generate_latest(self._registry)
