"""The house rules that a program can check: who may include whom, lengths, names, documentation."""

import ast
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
CSRC = ROOT / "csrc"
INCLUDE = CSRC / "include"
PACKAGE = ROOT / "src" / "cryptodispatch"
PYEXT = ROOT / "pyext"

GENERATED = re.compile(
    r"(^|/)(\.git|\.venv|build|dist|__pycache__|\.\w+_cache|\.hypothesis|\.benchmarks"
    r"|csrc/build[^/]*|[^/]+\.egg-info|src/cryptodispatch/(include|lib)"
    r"|setup\.cfg|PKG-INFO)(/|$)"  # these two are made by a source archive
)


def tree(*suffixes: str) -> list[Path]:
    """Every file of the project with one of the suffixes, generated ones left out."""
    found = []
    folders = [ROOT]
    while folders:
        for path in sorted(folders.pop().iterdir()):
            if GENERATED.search(path.relative_to(ROOT).as_posix()):
                continue
            if path.is_dir():
                folders.append(path)
            elif not suffixes or path.suffix in suffixes:
                found.append(path)
    return found


def label(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


C_FILES = [path for path in tree(".c", ".h") if path.is_relative_to(CSRC)]
C_TEST_FILES = [path for path in tree(".c", ".h") if not path.is_relative_to(CSRC)]
HEADERS = [path for path in C_FILES if path.suffix == ".h"]
PUBLIC_HEADERS = [path for path in C_FILES if path.is_relative_to(INCLUDE)]
PYTHON_MODULES = [path for path in tree(".py") if path.is_relative_to(PACKAGE)]
CYTHON_FILES = tree(".pyx", ".pxi", ".pxd")


# Who may include whom

MAY_INCLUDE = {
    "base": {"base"},
    "crypto": {"base", "crypto"},
    "clock": {"base", "clock"},
    "algorithm": {"base", "algorithm"},
    "software": {"base", "crypto", "algorithm", "software"},
    "benchmark": {"base", "clock", "algorithm", "benchmark"},
    "fallback": {"base", "clock", "algorithm", "benchmark", "fallback"},
    "eip93": {"base", "clock", "eip93"},
    "eip93/emulator": {"base", "crypto", "clock", "eip93", "eip93/emulator"},
    "eip93/driver": {"base", "clock", "algorithm", "eip93", "eip93/driver"},
}
# The module that a public header speaks for; the umbrella header is for users alone.
PUBLIC_MODULE = {
    "aead.h": "algorithm",
    "algorithm.h": "algorithm",
    "batch.h": "algorithm",
    "benchmark.h": "benchmark",
    "cipher.h": "algorithm",
    "clock.h": "clock",
    "cpu.h": "base",
    "cryptodispatch.h": "everything",
    "eip93_bus.h": "eip93",
    "eip93_driver.h": "eip93/driver",
    "eip93_emulator.h": "eip93/emulator",
    "fallback.h": "fallback",
    "hash.h": "algorithm",
    "machine.h": "benchmark",
    "openssl.h": "software",
    "pycryptodome.h": "software",
    "registry.h": "algorithm",
    "software.h": "software",
    "status.h": "base",
    "stream.h": "algorithm",
}


def module_of(path: Path) -> str:
    if path.is_relative_to(INCLUDE):
        return PUBLIC_MODULE[path.name]
    parts = path.relative_to(CSRC).parts
    return "/".join(parts[:2]) if parts[0] == "eip93" and len(parts) > 2 else parts[0]


def included(path: Path) -> Iterator[Path]:
    """The project's headers that `path` includes."""
    for name in re.findall(r'^\s*#\s*include\s*"([^"]+)"', path.read_text(), re.MULTILINE):
        candidates = [CSRC / name, INCLUDE / name, path.parent / name]
        resolved = next((c for c in candidates if c.is_file()), None)
        assert resolved is not None, f"{path}: {name} is not in csrc/ or csrc/include/"
        yield resolved


def test_includes_follow_the_dependency_law() -> None:
    wrong = [
        f"{label(path)}: {header.name}; {module_of(path)}/ may not see {module_of(header)}/"
        for path in C_FILES
        if path.name != "cryptodispatch.h"
        for header in included(path)
        if module_of(header) not in MAY_INCLUDE[module_of(path)]
    ]
    assert wrong == []


def test_includes_are_written_from_the_root() -> None:
    relative = re.compile(r'#\s*include\s*"(\.|include/)')
    assert [label(path) for path in C_FILES if relative.search(path.read_text())] == []


def test_csrc_knows_no_python() -> None:
    python = re.compile(r'#\s*include\s*[<"]Python\.h')
    assert [label(path) for path in C_FILES if python.search(path.read_text())] == []


def test_python_side_sees_public_headers_only() -> None:
    for path in [*CYTHON_FILES, *PYEXT.glob("*.py")]:
        for name in re.findall(r'(?:from|#\s*include)\s+"([^"]+\.h)"', path.read_text()):
            assert name.startswith("cryptodispatch/"), path


def test_umbrella_header_has_all_but_the_emulator() -> None:
    names = {h.name for h in included(INCLUDE / "cryptodispatch" / "cryptodispatch.h")}
    others = {"cryptodispatch.h", "eip93_emulator.h"}
    assert names == {h.name for h in PUBLIC_HEADERS} - others


# Names


def test_c_file_names_are_unique_and_snake_case() -> None:
    counts = Counter(path.name for path in C_FILES)
    assert [name for name, count in counts.items() if count > 1] == []
    assert [
        name for name in counts if not re.fullmatch(r"[a-z0-9]+(_[a-z0-9]+)*\.[ch]", name)
    ] == []


def test_names_in_headers_have_the_prefix() -> None:
    wrong = []
    for path in HEADERS:
        macros = re.findall(r"^\s*#\s*define\s+(\w+)", path.read_text(), re.MULTILINE)
        tags = re.findall(r"^(?:typedef )?(?:struct|enum|union) (\w+) ?{", code(path), re.MULTILINE)
        wrong += [f"{label(path)}: {m}" for m in macros if not m.startswith(("CD_", "EIP93_"))]
        wrong += [f"{label(path)}: {t}" for t in tags if not t.startswith(("cd_", "eip93_"))]
    assert wrong == []


# Lengths

CALLED_LONG = re.compile(r"Long because\s+(\*\s+)?\w+")
ATTRIBUTE = re.compile(r"(__attribute__|CD_TARGET)\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)")


def code(path: Path) -> str:
    """C text without comments, string contents and preprocessor lines; line numbers stay."""
    pattern = re.compile(
        r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|^[ \t]*#(?:\\\n|[^\n])*",
        re.DOTALL | re.MULTILINE,
    )
    text = re.sub(r'extern "C" {', "", path.read_text())
    return pattern.sub(lambda match: "\n" * match.group().count("\n"), text)


def functions(path: Path) -> Iterator[tuple[str, int, int]]:
    """Name, first and last line of each function definition."""
    depth = 0
    header = ""
    start = line = 1
    inside = None
    for character in code(path):
        if character == "{":
            plain = ATTRIBUTE.sub("", header) if depth == 0 else ""
            if name := re.search(r"(\w+)\s*\([^{};]*\)\s*$", plain):
                inside = (name.group(1), start)
            depth += 1
        elif character == "}":
            depth = max(depth - 1, 0)
            if depth == 0 and inside is not None:
                yield (*inside, line)
                inside = None
        if depth == 0:
            if character in "};":
                header = ""
            elif header or not character.isspace():
                if not header:
                    start = line
                header += character
        line += character == "\n"


def comment_above(path: Path, line: int) -> str:
    """The comment that ends on the line above `line` (counted from 1)."""
    lines = path.read_text().splitlines()
    last = first = line - 1
    if last == 0 or not lines[last - 1].rstrip().endswith("*/"):
        return ""
    while first > 0 and "/*" not in lines[first - 1]:
        first -= 1
    return "\n".join(lines[first - 1 : last])


def test_functions_are_short() -> None:
    long = []
    for path in C_FILES:
        for name, first, last in functions(path):
            limit = 150 if CALLED_LONG.search(comment_above(path, first)) else 60
            if last - first + 1 > limit:
                long.append(f"{label(path)}: {name} has {last - first + 1} lines")
    assert long == []


def test_functions_are_found() -> None:
    """The checks on functions look at real ones."""
    found = {name for path in C_FILES for name, _, _ in functions(path)}
    declared = {name for header in PUBLIC_HEADERS for _, name in declarations(header)}
    assert len(declared) > 50
    assert declared <= found


def test_files_are_short() -> None:
    limits = dict.fromkeys([*C_FILES, *C_TEST_FILES, *PYTHON_MODULES, *CYTHON_FILES], 500)
    limits |= dict.fromkeys([p for p in CYTHON_FILES if p.suffix != ".pxd"], 400)
    limits |= dict.fromkeys(PUBLIC_HEADERS, 250)
    lines = {path: len(path.read_text().splitlines()) for path in limits}
    assert {label(p): count for p, count in lines.items() if count > limits[p]} == {}


# Headers stand alone


def compiler() -> str:
    for name in ("cc", "gcc", "clang"):
        if shutil.which(name):
            return name
    pytest.skip("no C compiler")


def test_headers_are_self_contained() -> None:
    command = [compiler(), "-std=c11", "-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
    command += ["-Wno-unused-function", "-Wno-unused-const-variable"]
    command += ["-D_GNU_SOURCE", f"-I{CSRC}", f"-I{INCLUDE}", "-x", "c", "-"]
    for path in HEADERS:
        program = f'#include "{path}"\ntypedef int not_empty;\n'
        result = subprocess.run(command, input=program, capture_output=True, text=True, check=False)
        assert result.returncode == 0, result.stderr


def test_headers_are_guarded_by_their_name() -> None:
    for path in HEADERS:
        name = f"{path.stem.upper()}_H"
        guards = re.findall(r"^#ifndef (\w+)\n#define \1$", path.read_text(), re.MULTILINE)
        assert guards[:1] in ([name], [f"CD_{name}"]), label(path)


# Documentation


def declarations(header: Path) -> Iterator[tuple[int, str]]:
    """Line and name of each function that a public header declares or defines."""
    text = code(header)
    for match in re.finditer(
        r"^(?!typedef|\s)[^\n;{}()]*?\b(cd_\w+)\((?:[^;{}]*)\)\s*[;{]", text, re.MULTILINE
    ):
        yield text.count("\n", 0, match.start()) + 1, match.group(1)


def test_public_c_functions_are_documented() -> None:
    """A comment above the function, above its group without blank lines, or on its line."""
    bare = []
    for header in PUBLIC_HEADERS:
        lines = header.read_text().splitlines()
        for number, name in declarations(header):
            last = number
            while ";" not in lines[last - 1] and "{" not in lines[last - 1]:
                last += 1
            first = number
            while first > 1 and lines[first - 2].strip():
                first -= 1
            if "/*" not in "".join(lines[first - 1 : number - 1]) + lines[last - 1]:
                bare.append(f"{label(header)}: {name}")
    assert bare == []


def test_c_files_say_what_they_are_for() -> None:
    assert [label(path) for path in C_FILES if not path.read_text().startswith("/*")] == []


def missing_docstrings(node: ast.AST, name: str) -> Iterator[str]:
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    if isinstance(node, documented) and not ast.get_docstring(node):
        yield name
    if isinstance(node, ast.Module | ast.ClassDef):
        for child in node.body:
            public = not getattr(child, "name", "_").startswith("_")
            overload = any("overload" in ast.dump(d) for d in getattr(child, "decorator_list", []))
            setter = any("setter" in ast.dump(d) for d in getattr(child, "decorator_list", []))
            if public and not overload and not setter:
                yield from missing_docstrings(child, f"{name}.{getattr(child, 'name', '')}")


def assigned_names(module: ast.Module) -> set[str]:
    targets = [t for node in module.body if isinstance(node, ast.Assign) for t in node.targets]
    return {target.id for target in targets if isinstance(target, ast.Name)}


def test_python_is_documented() -> None:
    bare = [
        f"{label(path)}: {name}"
        for path in PYTHON_MODULES
        for name in missing_docstrings(ast.parse(path.read_text()), path.stem)
    ]
    assert bare == []


def test_python_modules_say_what_they_export() -> None:
    silent = [
        label(path)
        for path in PYTHON_MODULES
        if path.name != "__main__.py"
        and "__all__" not in assigned_names(ast.parse(path.read_text()))
    ]
    assert silent == []


# The Python side


def test_extern_declarations_are_in_one_file() -> None:
    for path in CYTHON_FILES:
        has_extern = "cdef extern" in re.sub(r"#.*", "", path.read_text())
        assert has_extern == (path.name == "cdecl.pxd"), path.name


def test_emulator_and_engine_are_apart() -> None:
    """The chip is a separate module: the engine knows it only through the bus."""
    for path in CYTHON_FILES:
        assert "eip93_emulator.h" not in path.read_text(), path.name


def test_tests_are_not_a_package() -> None:
    assert [p for p in tree(".py") if p.name == "__init__.py" and "tests" in p.parts] == []


# Text

TEXTS = [
    path
    for path in tree()
    if path.suffix not in {".so", ".o", ".a", ".pyc", ".png", ".gz", ".bin"}
    and not path.is_relative_to(ROOT / "tests" / "vectors")
    and path.name not in {"LICENSE", Path(__file__).name}
]


@pytest.mark.parametrize(
    "pattern",
    [
        pytest.param(
            re.compile(r"(^|[^A-Za-z0-9_.])/(work|root|home/\w+|tmp/bash)[/ ]"), id="paths"
        ),
        pytest.param(re.compile(r"pypi\.org|pythonhosted\.org|debian\.org|npmjs\.org"), id="hosts"),
        pytest.param(
            re.compile(r"\b(TODO|FIXME|XXX)\b|NotImplementedError|not implemented", re.IGNORECASE),
            id="left undone",
        ),
        pytest.param(re.compile(r"[ \t\r]+$", re.MULTILINE), id="space at ends of lines"),
        pytest.param(re.compile(r"[^\n]\Z|\n\n\Z"), id="ends of files"),
    ],
)
def test_text_is_free_of(pattern: re.Pattern[str]) -> None:
    found = {label(path): pattern.search(path.read_text(encoding="utf-8")) for path in TEXTS}
    assert {name: match.group() for name, match in found.items() if match} == {}


def test_changelog_keeps_a_changelog() -> None:
    headings = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings[0] == "[Unreleased]"
    versions = [re.fullmatch(r"\[(\d+\.\d+\.\d+)\] - \d{4}-\d\d-\d\d", h) for h in headings[1:]]
    assert all(versions)
    numbers = [tuple(map(int, v.group(1).split("."))) for v in versions if v]
    assert all(newer > older for newer, older in pairwise(numbers))
