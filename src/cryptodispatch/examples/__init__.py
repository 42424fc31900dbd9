"""Examples that run: ``parquet_column`` encrypts a column of a Parquet file."""

from __future__ import annotations

__all__ = ["parquet_column"]
