"""Where the installed package keeps what C programs need to embed the engine."""

from pathlib import Path

__all__ = ["get_include", "get_library_dir"]

_PACKAGE = Path(__file__).absolute().parent


def get_include() -> str:
    """Return the folder to give a C compiler with `-I`.

    Programs write `#include "cryptodispatch/cryptodispatch.h"`.

    Returns:
        An absolute path.

    Raises:
        FileNotFoundError: The package was not built by its setup.py, so the headers are not there.
    """
    return _existing(_PACKAGE / "include", "cryptodispatch/cryptodispatch.h")


def get_library_dir() -> str:
    """Return the folder to give a linker with `-L`.

    Programs link with `-lcryptodispatch -pthread -ldl`; those that use the emulated chip as well
    put `-lcryptodispatch_emulator` before it.

    Returns:
        An absolute path.

    Raises:
        FileNotFoundError: The package was not built by its setup.py, so no library is there.
    """
    return _existing(_PACKAGE / "lib", "libcryptodispatch.a")


def _existing(folder: Path, content: str) -> str:
    if not (folder / content).is_file():
        message = f"{folder / content} is not there: install cryptodispatch with pip"
        raise FileNotFoundError(message)
    return str(folder)
