"""Calls without end while the server is killed: what was promised of a kill, put to the test.

``python -m tests.chaos`` runs it (`make chaos`), ``test_chaos.py`` a short form of it. An upstream
with a ledger (``upstream``), a real `remit serve` that is killed again and again (``lives``), a
driver that repeats what it got no answer to (``driving``), and the comparison of what the driver
was told, what the records say and what the upstream saw (``checking``).
"""
