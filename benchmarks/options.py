"""What the benchmarks' commands share: how names are matched, and files that cannot be used."""

from __future__ import annotations

import argparse
from pathlib import Path


def plain(name: str) -> str:
    """A name as it is compared, with pytest -k: "SHA-256" as "sha256"."""
    return name.lower().replace("-", "")


def matches(only: str, name: str) -> bool:
    """Whether a name contains `only`; case and dashes do not count."""
    return plain(only) in plain(name)


def check_target(parser: argparse.ArgumentParser, option: str, path: Path | None) -> None:
    """End with an error if a file cannot be written: known before minutes of measuring."""
    if path is None:
        return
    there = path.exists()
    try:
        with path.open("ab"):
            pass
        if not there:
            path.unlink()
    except OSError as error:
        parser.error(f"{option}: {path}: {error.strerror}")


def write(parser: argparse.ArgumentParser, option: str, path: Path, text: str) -> None:
    """Write a file, or end with an error that names it."""
    try:
        path.write_text(text, "utf-8")
    except OSError as error:
        parser.exit(1, f"{parser.prog}: error: {option}: {path}: {error.strerror}\n")
