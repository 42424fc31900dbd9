"""From a published table of an engine to the request size from which it pays.

``_tables`` says what a file of such tables looks like.
"""

from __future__ import annotations

from cryptodispatch.prediction._fit import Line, Prediction, fit, predict
from cryptodispatch.prediction._tables import SOFTWARE, Side, Table, load_tables

__all__ = ["SOFTWARE", "Line", "Prediction", "Side", "Table", "fit", "load_tables", "predict"]
