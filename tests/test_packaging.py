"""What is installed: files, metadata, symbols, the C library for embedders; and building it."""

import importlib.metadata
import inspect
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import venv
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import cryptodispatch
from cryptodispatch import _emulator, _engine, benchmark, eip93, machine

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path(cryptodispatch.__file__).parent
EXTENSIONS = [_engine, _emulator]
ARCHIVES = ["libcryptodispatch.a", "libcryptodispatch_emulator.a"]


def tool(*names: str) -> str:
    """The first of the programs that is there. CI has them all."""
    for name in names:
        if shutil.which(name):
            return name
    if os.environ.get("CI"):
        pytest.fail(f"none of {names} is installed")
    pytest.skip(f"none of {names} is installed")


def run(*command: str, **options: object) -> str:
    result = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def archives() -> list[str]:
    return [str(Path(cryptodispatch.get_library_dir(), name)) for name in ARCHIVES]


# Files and metadata


def test_version_is_that_of_the_project_file() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert importlib.metadata.version("cryptodispatch") == project["version"]
    assert cryptodispatch.__version__ == project["version"]


def test_typed_files_and_profiles_are_installed() -> None:
    assert (PACKAGE / "py.typed").is_file()
    for module in EXTENSIONS:
        assert (PACKAGE / f"{module.__name__.rpartition('.')[2]}.pyi").is_file()
    assert (PACKAGE / "machine" / "an7581.toml").is_file()


def test_no_file_of_the_tree_is_left_out() -> None:
    source = ROOT / "src" / "cryptodispatch"
    wanted = {
        path.relative_to(source)
        for path in source.rglob("*")
        if path.suffix in {".py", ".pyi", ".toml", ".typed"}
    }
    assert wanted
    assert [path for path in wanted if not (PACKAGE / path).is_file()] == []


def test_license_is_shipped() -> None:
    files = importlib.metadata.files("cryptodispatch")
    assert files is not None
    [license_file] = [file for file in files if file.name == "LICENSE"]
    assert license_file.read_text() == (ROOT / "LICENSE").read_text()


def test_command_is_installed() -> None:
    scripts = importlib.metadata.entry_points(group="console_scripts", name="cryptodispatch")
    assert [script.value for script in scripts] == ["cryptodispatch.cli:main"]
    command = Path(sys.executable).with_name("cryptodispatch")
    assert "Usage" in run(str(command), "--help")


def test_extensions_belong_to_this_python() -> None:
    for module in EXTENSIONS:
        assert module.__file__ is not None
        assert Path(module.__file__).parent == PACKAGE


def undocumented(owner: object, name: str) -> Iterator[str]:
    if not inspect.getdoc(owner):
        yield name
    if inspect.isclass(owner):
        for member_name, member in vars(owner).items():
            described = callable(member) or inspect.isdatadescriptor(member)
            if (
                described
                and not member_name.startswith("_")
                and not inspect.ismemberdescriptor(member)
            ):
                yield from undocumented(member, f"{name}.{member_name}")


@pytest.mark.parametrize(
    "module", [cryptodispatch, eip93, machine, benchmark], ids=lambda module: module.__name__
)
def test_public_names_are_documented(module: ModuleType) -> None:
    """Those that come from the extension included."""
    bare = [
        bare_name
        for name in module.__all__
        if not isinstance(getattr(module, name), tuple)
        for bare_name in undocumented(getattr(module, name), name)
    ]
    assert bare == []


def test_emulator_and_engine_are_apart() -> None:
    """The chip is a separate module: the engine knows it only through the bus."""
    assert hasattr(_emulator.lib, "cd_eip93_emulator_new")
    assert _engine.__file__ is not None
    assert b"cd_eip93_emulator_" not in Path(_engine.__file__).read_bytes()


# Symbols and code


def test_extensions_export_their_init_function_only() -> None:
    nm = tool("nm")
    for module in EXTENSIONS:
        table = run(nm, "-D", "--defined-only", str(module.__file__))
        names = [line.split()[-1] for line in table.splitlines() if line]
        assert names == [f"PyInit_{module.__name__.rpartition('.')[2]}"]


def test_archives_have_prefixed_names_only() -> None:
    nm = tool("nm")
    names = [
        line.split()[-1]
        for line in run(nm, "--defined-only", "--extern-only", *archives()).splitlines()
        if len(line.split()) == 3
    ]
    assert len(names) > 100
    assert [name for name in names if not name.startswith("cd_")] == []


def test_no_mutable_process_wide_state() -> None:
    """Everything hangs off a handle; only the CPU mask is kept by the process."""
    table = run(tool("nm"), "--format=sysv", "--defined-only", *archives())
    rows = [[cell.strip() for cell in line.split("|")] for line in table.splitlines()]
    variables = {row[0] for row in rows if len(row) == 7 and re.match(r"\.t?(data|bss)$", row[6])}
    assert variables == {"kept_mask"}


def test_newer_instructions_are_in_files_named_for_them() -> None:
    """R111: the rest of the library runs on any x86-64."""
    if platform.machine() != "x86_64":
        pytest.skip("only x86-64 has a baseline to check")
    listing = run(tool("objdump"), "-d", "--no-show-raw-insn", *archives())
    newer = re.compile(r"\t(v?aes\w+|sha\d\w+|v?pclmul\w+|v[a-z]\w+)\s|%[yz]mm")
    guilty: dict[str, str] = {}
    member = ""
    for line in listing.splitlines():
        if heading := re.match(r"(\S+\.o):\s+file format", line):
            member = heading.group(1)
        elif (found := newer.search(line)) and not found.group().strip().startswith("ver"):
            guilty.setdefault(member, line)
    named_for_it = re.compile(r"_(aesni|vaes|shani|avx2|avx512|ssse3)(_\w+)?\.o$")
    assert [name for name in guilty if named_for_it.search(name)]
    assert {name: line for name, line in guilty.items() if not named_for_it.search(name)} == {}


# Embedding

ENGINE_PROGRAM = r"""
#include "cryptodispatch/cryptodispatch.h"
#include <stdio.h>

int main(void) {
    /* AES-128 of FIPS 197, appendix B */
    static const uint8_t key[16] = {0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae, 0xd2, 0xa6,
                                    0xab, 0xf7, 0x15, 0x88, 0x09, 0xcf, 0x4f, 0x3c};
    uint8_t text[16] = {0x32, 0x43, 0xf6, 0xa8, 0x88, 0x5a, 0x30, 0x8d,
                        0x31, 0x31, 0x98, 0xa2, 0xe0, 0x37, 0x07, 0x34};
    struct cd_cipher_request request = {.source = text, .destination = text, .length = 16};
    struct cd_registry *registry;
    struct cd_cipher *cipher;
    if (cd_registry_new(&registry) != CD_OK || cd_software_register(registry, NULL) != CD_OK ||
        cd_cipher_new(&cipher, registry, "ecb(aes)", 0, 0) != CD_OK ||
        cd_cipher_set_key(cipher, key, sizeof key) != CD_OK ||
        cd_cipher_encrypt_wait(cipher, &request) != CD_OK)
        return 1;
    for (int i = 0; i < 16; i++)
        printf("%02x", text[i]);
    cd_cipher_free(cipher);
    cd_registry_free(registry);
    return 0;
}
"""
EMULATOR_PROGRAM = r"""
#include "cryptodispatch/eip93_emulator.h"
#include <stdio.h>

int main(void) {
    struct cd_eip93_emulator_config config = {.variant = CD_EIP93_93IES, .pace = CD_EIP93_FREE};
    struct cd_eip93_emulator *emulator;
    if (cd_eip93_emulator_new(&emulator, &config) != CD_OK)
        return 1;
    printf("%08x", cd_eip93_emulator_read32(emulator, 0x1FC)); /* REVISION */
    cd_eip93_emulator_free(emulator);
    return 0;
}
"""


def compile_and_run(folder: Path, program: str, *libraries: str) -> str:
    source = folder / "program.c"
    source.write_text(program)
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", f"-I{cryptodispatch.get_include()}"]
    link = [f"-L{cryptodispatch.get_library_dir()}", *libraries, "-pthread", "-ldl"]
    run(tool("cc", "gcc", "clang"), *flags, str(source), *link, "-o", str(folder / "program"))
    return run(str(folder / "program"))


def test_c_program_embeds_the_engine(tmp_path: Path) -> None:
    output = compile_and_run(tmp_path, ENGINE_PROGRAM, "-lcryptodispatch")
    assert output == "3925841d02dc09fbdc118597196a0b32"


def test_c_program_embeds_the_emulator(tmp_path: Path) -> None:
    output = compile_and_run(
        tmp_path, EMULATOR_PROGRAM, "-lcryptodispatch_emulator", "-lcryptodispatch"
    )
    assert output[-2:] == "5d", "EIP number 93"


def test_missing_library_is_said_clearly(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("cryptodispatch._paths._PACKAGE", tmp_path)
    with pytest.raises(FileNotFoundError, match="install cryptodispatch with pip"):
        cryptodispatch.get_include()
    with pytest.raises(FileNotFoundError, match="install cryptodispatch with pip"):
        cryptodispatch.get_library_dir()


# The build


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source archive, made by the standard front end in an environment of its own."""
    folder = tmp_path_factory.mktemp("sdist")
    pip = new_environment(folder / "venv")
    run(*pip, "install", "build")
    python = str(folder / "venv" / "bin" / "python")
    run(python, "-m", "build", "--sdist", "--outdir", str(folder), str(ROOT))
    [archive] = folder.glob("*.tar.gz")
    return archive


@pytest.fixture(scope="module")
def unpacked(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tree as someone has it who got the source archive: no git; the first use builds it."""
    target = tmp_path_factory.mktemp("unpacked")
    run("tar", "-xzf", str(sdist), "-C", str(target))
    [folder] = target.iterdir()
    return folder


def new_environment(folder: Path) -> list[str]:
    venv.create(folder, with_pip=True)
    return [str(folder / "bin" / "python"), "-m", "pip", "--quiet"]


def failed_install(pip: list[str], *arguments: str, **variables: str) -> str:
    result = subprocess.run(
        [*pip, "install", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | variables,
    )
    assert result.returncode != 0
    shown = subprocess.run([*pip, "show", "cryptodispatch"], capture_output=True, check=False)
    assert shown.returncode != 0, "a failed build installed something"
    return result.stdout + result.stderr


@pytest.mark.slow
def test_source_archive_is_the_whole_tree(sdist: Path) -> None:
    """R107: headers, tests and build scripts are in it, products of builds are not."""
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = {
        path.relative_to(ROOT).as_posix()
        for folder in ("csrc", "pyext", "src", "tests", "benchmarks", ".ci")
        for path in (ROOT / folder).rglob("*")
        if path.is_file()
    }
    generated = re.compile(r"csrc/build|__pycache__|\.egg-info|cryptodispatch/(include|lib)/|\.so$")
    wanted = {name for name in wanted if not generated.search(name)}
    assert wanted - names == set()
    assert [n for n in names if re.search(r"\.(so|o|a|pyc)$|csrc/build|/_engine\.c$", n)] == []


@pytest.mark.slow
def test_source_archive_builds_and_tests_without_git(unpacked: Path, tmp_path: Path) -> None:
    """R107."""
    pip = new_environment(tmp_path / "venv")
    variables = os.environ | {"GIT_DIR": "/nonexistent"}
    run(*pip, "install", ".[test]", cwd=unpacked, env=variables)
    python = str(tmp_path / "venv" / "bin" / "python")
    tests = ["tests/test_house_rules.py", "tests/test_packaging.py"]
    output = run(python, "-m", "pytest", "-q", *tests, cwd=unpacked, env=variables)
    assert " passed" in output
    run(str(tmp_path / "venv" / "bin" / "cryptodispatch"), "selftest", cwd=tmp_path)


@pytest.mark.slow
def test_missing_compiler_is_said_clearly(unpacked: Path, tmp_path: Path) -> None:
    """R109."""
    pip = new_environment(tmp_path / "venv")
    output = failed_install(pip, str(unpacked), CC="/nonexistent/cc")
    assert "cryptodispatch needs a C11 compiler, gcc or clang, and '/nonexistent/cc'" in output


@pytest.mark.slow
def test_missing_build_tools_are_said_clearly(unpacked: Path, tmp_path: Path) -> None:
    """R109: without isolation, nothing is left out silently because a tool is not there."""
    pip = new_environment(tmp_path / "venv")
    run(*pip, "install", "setuptools>=77", "wheel")
    in_place = [str(unpacked), "--no-build-isolation", "--no-deps"]
    assert "cryptodispatch needs Cython >= 3.1 to build" in failed_install(pip, *in_place)
    run(*pip, "install", "cython>=3.1")
    assert "cryptodispatch needs cffi >= 1.17 to build" in failed_install(pip, *in_place)
    run(*pip, "install", "cffi>=1.17")
    run(*pip, "install", *in_place)
    python = str(tmp_path / "venv" / "bin" / "python")
    run(python, "-c", "import cryptodispatch._engine, cryptodispatch._emulator", cwd=tmp_path)


@pytest.mark.slow
def test_editable_install(unpacked: Path, tmp_path: Path) -> None:
    pip = new_environment(tmp_path / "venv")
    run(*pip, "install", "-e", str(unpacked))
    python = str(tmp_path / "venv" / "bin" / "python")
    program = (
        "import cryptodispatch as cd; from cryptodispatch import _engine, _emulator;"
        "print(cd.get_include(), cd.get_library_dir())"
    )
    run(python, "-c", program, cwd=tmp_path)
