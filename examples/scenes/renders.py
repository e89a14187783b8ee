"""The background thread that renders queued scenes, one after the other."""

from __future__ import annotations

import logging
import threading

from png import Canvas
from shapes import faces
from store import Job, Store

_STEPS = 10
_LOG = logging.getLogger("scenes")
_SCALE = {"draft": 1, "final": 2}


class Renderer:
    """Renders jobs from the store's queue.

    A picture is drawn in ten steps with a pause between them, as on a machine that is shared; a job
    takes about `seconds`. What a stopped app left half way is rendered after its next start.
    """

    def __init__(self, store: Store, *, seconds: float) -> None:
        """Take the store with the queue, and how long a picture takes."""
        self._store = store
        self._pause_s = seconds / _STEPS
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._work, name="renderer")

    def start(self) -> None:
        """Start the thread."""
        self._store.requeue_jobs()
        self._thread.start()

    def wake(self) -> None:
        """Say that a job was queued."""
        self._wake.set()

    def stop(self) -> None:
        """Stop after the step in progress, and wait for that."""
        self._stopping.set()
        self._wake.set()
        self._thread.join()
        self._store.requeue_jobs()

    def _work(self) -> None:
        while True:
            # Cleared before both looks, so that a wake between look and wait is never lost.
            self._wake.clear()
            if self._stopping.is_set():
                return
            job = self._store.take_job()
            if job is None:
                self._wake.wait()
                continue
            try:
                self._render(job)
            except Exception:  # noqa: BLE001 - one bad job must not end the thread for all others
                _LOG.exception("Job %s could not be rendered", job.id)
                self._store.fail_job(job.id, "The renderer broke down. Try again.")

    def _render(self, job: Job) -> None:
        objects = self._store.objects(job.scene_id, up_to_version=job.version)
        if not objects:
            self._store.fail_job(job.id, "The scene has no objects, so there is nothing to render.")
            return
        canvas = Canvas(_SCALE[job.quality])
        todo = faces(objects)
        for step in range(_STEPS):
            if self._stopping.wait(self._pause_s):
                return
            canvas.draw(todo[len(todo) * step // _STEPS : len(todo) * (step + 1) // _STEPS])
            self._store.note_progress(job.id, (step + 1) * 100 // _STEPS)
        self._store.finish_job(job.id, canvas.png())
