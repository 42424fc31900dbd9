"""Reading NIST response files and the text vectors of RFCs from outside packages."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import resources


def read(package: str, *path: str) -> str:
    """The text of a file of an installed package of vectors."""
    return resources.files(package).joinpath(*path).read_text("ascii")


def parse(text: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield (section, fields) of every vector, values as they stand."""
    section, fields = "", {}
    for line in map(str.strip, [*text.splitlines(), ""]):
        if line.startswith("["):
            section = line.strip("[]")
        elif "=" in line and not line.startswith("#"):
            name, _, value = (part.strip() for part in line.partition("="))
            if name == "COUNT" and fields:
                yield section, fields
                fields = {}
            fields[name] = value
        elif not line and fields:
            yield section, fields
            fields = {}
