"""From a published table of an engine to the request size from which it pays."""

from __future__ import annotations

from cryptodispatch.prediction._fit import Line, Prediction, fit, predict
from cryptodispatch.prediction._tables import Side, Table, load_tables

__all__ = ["Line", "Prediction", "Side", "Table", "fit", "load_tables", "predict"]
