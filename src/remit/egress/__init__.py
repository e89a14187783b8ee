"""The only outbound HTTP: every request goes through one guard (contract section 11).

``guard`` decides, on ``addresses`` (the table) and ``allowances`` (the operator's exceptions);
``client`` sends, through a ``transport`` that can be replaced; ``http_transport`` is the one that
is used, on ``pool``, ``connection`` and ``answers``.
"""
