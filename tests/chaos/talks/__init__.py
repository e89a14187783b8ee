"""Conversations without end while servers are killed and stopped: section 9 put to the test.

``python -m tests.chaos.talks`` runs it (`make chaos`), ``test_talks.py`` a short form of it. What
each session does is a script (``script``) that a model of its own (``model``) says; the app
(``host``) counts every write; servers are killed, and on PostgreSQL stopped beyond their lease
(``deaths``); a driver (``driving``) talks, answers and reads over HTTP; ``checking`` holds the log
of each session against what the driver was told and what the app saw.
"""
