"""Which software implementation an algorithm's name stands for: measured, kept in a file, applied.

Nothing is measured unasked. ``cryptodispatch.benchmark.choose_software`` (or `cryptodispatch tune
--software`) measures and keeps the result; every later process with the same CPU features and the
same library puts it in force before its first lookup of a name.
"""

from __future__ import annotations

__all__ = ()
