"""Build of the C library and the two extension modules; everything else is in pyproject.toml.

Two static libraries come first: `libcryptodispatch.a` (the engine) and
`libcryptodispatch_emulator.a` (the chip). `_engine` links the first, `_emulator` both. Libraries
and public headers are installed with the package, for programs that embed them.

A build makes both extensions, or it fails and says why; nothing in it is optional.
"""

import importlib
import os
import runpy
import shutil
import sysconfig
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import PlatformError

CSRC = Path("csrc")
HEADERS = CSRC / "include" / "cryptodispatch"
EMULATOR = CSRC / "eip93" / "emulator"
INCLUDES = [str(CSRC / "include"), str(CSRC)]
# No -march: code for newer CPUs is chosen at run time, function by function.
LIBRARY_FLAGS = ["-O3", "-std=c11", "-fvisibility=hidden", "-fPIC", "-pthread", "-D_GNU_SOURCE"]
EXTENSION_FLAGS = ["-O2", "-fvisibility=hidden", "-pthread"]
ARCHIVES = ("libcryptodispatch.a", "libcryptodispatch_emulator.a")


class BuildNative(build_ext):
    """Compile the libraries, generate and build the extensions, ship libraries and headers."""

    def finalize_options(self) -> None:
        """Build as much at once as the machine can."""
        super().finalize_options()
        self.parallel = self.parallel or True

    def build_extensions(self) -> None:
        """Build into `build_temp` and `build_lib`, which belong to one Python version."""
        self._check_toolchain()
        emulator_sources = sorted(EMULATOR.rglob("*.c"))
        engine_sources = sorted(set(CSRC.rglob("*.c")) - set(emulator_sources) - _left_by_make())
        engine = self._archive(ARCHIVES[0], engine_sources)
        emulator = self._archive(ARCHIVES[1], emulator_sources)
        for extension in self.extensions:
            if extension.name == "cryptodispatch._engine":
                self._generate_engine(extension)
                extension.extra_objects = [engine]
            else:
                self._generate_emulator(extension)
                extension.extra_objects = [emulator, engine]
            extension.depends = [*extension.extra_objects, *map(str, HEADERS.glob("*.h"))]
        super().build_extensions()
        self._ship([engine, emulator])

    def copy_extensions_to_source(self) -> None:
        """Put libraries and headers beside the extensions of an in-place build."""
        super().copy_extensions_to_source()
        for built, in_place in self._shipped():
            Path(in_place).parent.mkdir(parents=True, exist_ok=True)
            self.copy_file(built, in_place)

    def get_outputs(self) -> list[str]:
        """Name every file that is built to be installed."""
        return sorted({*super().get_outputs(), *(built for built, _ in self._shipped())})

    def get_output_mapping(self) -> dict[str, str]:
        """Name the same files with their place in the source tree, for editable installs."""
        return super().get_output_mapping() | (dict(self._shipped()) if self.inplace else {})

    def _check_toolchain(self) -> None:
        command = getattr(self.compiler, "compiler_so", None)
        if not command or shutil.which(command[0]) is None:
            found = f"{command[0]!r} cannot be run" if command else "there is none"
            message = (
                f"cryptodispatch needs a C11 compiler, gcc or clang, and {found}. Install one "
                "(Debian: apt install gcc libc6-dev) or name it in the environment variable CC."
            )
            raise PlatformError(message)
        if not Path(sysconfig.get_path("include"), "Python.h").exists():
            message = (
                "cryptodispatch needs the C headers of this Python, and Python.h is not there. "
                "Install them (Debian: apt install python3-dev)."
            )
            raise PlatformError(message)

    def _archive(self, name: str, sources: list[Path]) -> str:
        """Compile what is out of date, several files at once, and put all objects in an archive."""
        objects = self.compiler.object_filenames(list(map(str, sources)), 0, self.build_temp)
        archive = Path(self.build_temp, name)
        recipe_file = archive.with_suffix(".recipe")
        recipe = "\n".join([*self.compiler.compiler_so, *LIBRARY_FLAGS, *objects])
        same_recipe = recipe_file.exists() and recipe_file.read_text() == recipe
        newest_header = max(map(_modified, CSRC.rglob("*.h")))
        stale = [
            str(source)
            for source, made in zip(sources, map(Path, objects), strict=True)
            if self.force
            or not same_recipe
            or not made.exists()
            or _modified(made) < max(newest_header, _modified(source))
        ]
        if stale or not archive.exists():
            recipe_file.unlink(missing_ok=True)
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                list(pool.map(self._compile, stale))
            archive.unlink(missing_ok=True)  # else objects of deleted sources would stay in it
            label = name.removeprefix("lib").removesuffix(".a")
            self.compiler.create_static_lib(objects, label, output_dir=self.build_temp)
            recipe_file.write_text(recipe)
        return str(archive)

    def _compile(self, source: str) -> None:
        self.compiler.compile(
            [source],
            output_dir=self.build_temp,
            include_dirs=INCLUDES,
            extra_postargs=LIBRARY_FLAGS,
        )

    def _generate_engine(self, extension: Extension) -> None:
        cython_build = _build_tool("Cython", "Cython.Build", (3, 1))
        folder = Path(self.build_temp, "cython")
        generated = folder / "pyext" / "_engine.c"
        before = generated.read_bytes() if generated.exists() else None
        written = generated.stat() if generated.exists() else None
        [made] = cython_build.cythonize(
            [extension],
            build_dir=str(folder),
            include_path=["pyext"],
            force=self.force,
            # Signatures that inspect, and so stubtest, can read; no __test__. Others: _engine.pyx.
            compiler_directives={"embedsignature.format": "clinic", "autotestdict": False},
        )
        if written is not None and generated.read_bytes() == before:
            # Every isolated environment has a new Cython; the same text need not be compiled again.
            os.utime(generated, ns=(written.st_atime_ns, written.st_mtime_ns))
        extension.sources = made.sources

    def _generate_emulator(self, extension: Extension) -> None:
        _build_tool("cffi", "cffi", (1, 17))
        ffi_builder = runpy.run_path("pyext/emulator_build.py")["ffibuilder"]
        source = Path(self.build_temp, "cffi", "_emulator.c")
        source.parent.mkdir(parents=True, exist_ok=True)
        ffi_builder.emit_c_code(str(source))  # leaves the file alone if nothing changed
        extension.sources = [str(source)]

    def _ship(self, archives: list[str]) -> None:
        package = Path(self.build_lib, "cryptodispatch")
        for folder in ("include", "lib"):
            shutil.rmtree(package / folder, ignore_errors=True)
        shutil.copytree(HEADERS, package / "include" / "cryptodispatch")
        (package / "lib").mkdir(parents=True)
        for archive in archives:
            shutil.copy2(archive, package / "lib")

    def _shipped(self) -> Iterator[tuple[str, str]]:
        """Yield what _ship makes: its path in the build folder and in the source tree."""
        source = Path(self.get_finalized_command("build_py").get_package_dir("cryptodispatch"))
        names = [f"include/cryptodispatch/{path.name}" for path in sorted(HEADERS.glob("*.h"))]
        for name in [*names, *(f"lib/{archive}" for archive in ARCHIVES)]:
            yield str(Path(self.build_lib, "cryptodispatch", name)), str(Path(source, name))


def _left_by_make() -> set[Path]:
    """Return sources inside the build folders of csrc/Makefile, which are not ours."""
    return {path for folder in CSRC.glob("build*") for path in folder.rglob("*.c")}


def _modified(path: Path) -> float:
    return path.stat().st_mtime


def _build_tool(package: str, module: str, minimum: tuple[int, int]) -> ModuleType:
    """Import a tool of the build; only builds without isolation can lack it."""
    wanted = f"{package} >= {minimum[0]}.{minimum[1]}"
    advice = f"Install it, or let pip build in isolation: pip install '{wanted.replace(' ', '')}'"
    try:
        tool = importlib.import_module(module)
        version = importlib.import_module(package).__version__
    except ImportError as error:
        message = f"cryptodispatch needs {wanted} to build, and it is not installed. {advice}"
        raise PlatformError(message) from error
    if tuple(map(int, version.split(".")[:2])) < minimum:
        message = f"cryptodispatch needs {wanted} to build, and {version} is installed. {advice}"
        raise PlatformError(message)
    return tool


def _extension(name: str, source: str) -> Extension:
    return Extension(
        f"cryptodispatch.{name}",
        [source],
        include_dirs=[str(CSRC / "include")],
        extra_compile_args=EXTENSION_FLAGS,
        extra_link_args=["-pthread", "-ldl"],
    )


setup(
    # BuildNative replaces the second source by the one that it generates.
    ext_modules=[
        _extension("_engine", "pyext/_engine.pyx"),
        _extension("_emulator", "pyext/emulator_build.py"),
    ],
    cmdclass={"build_ext": BuildNative},
)
