"""Choosing among software implementations: measured, kept in a file, put in force."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import cryptodispatch as cd
from cryptodispatch import _engine, eip93
from cryptodispatch.software import _cache, _choose, _priorities
from cryptodispatch.software._choose import decide, decide_split

AUTHENC = "authenc(hmac(sha256),cbc(aes))"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache folder of its own, and the built-in priorities afterwards."""
    monkeypatch.delenv("CRYPTODISPATCH_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    yield tmp_path
    _priorities.restore()


pytestmark = pytest.mark.skipif(
    "aesni" not in _engine.cpu_features(),
    reason="without AES instructions libcrypto is the first choice in processes that loaded it",
)


def two(algorithm: str) -> tuple[str, str]:
    """The implementation bound by the built-in order, and another one that could be."""
    own = _priorities.candidates()[algorithm]
    if len(own) < 2:
        pytest.skip(f"one implementation of {algorithm} here")
    first, second, *_rest = sorted(own, key=own.__getitem__, reverse=True)
    return first, second


def keep_reversed(algorithm: str = "cbc(aes)") -> tuple[str, str]:
    """Keep the two the other way round."""
    first, second = two(algorithm)
    rest = [name for name in _priorities.candidates()[algorithm] if name not in (first, second)]
    choice = {"order": [second, first, *rest], "small": "", "threshold": 0}
    assert _cache.save({algorithm: choice})
    return first, second


def bound(algorithm: str = "cbc(aes)", **environment: str) -> str:
    """What a new process binds a name to, before it has done anything else."""
    program = f"import cryptodispatch as cd; print(cd.Cipher({algorithm!r}).driver)"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        env={**os.environ, **environment},
        capture_output=True,
        check=False,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


class TestPriority:
    def test_lookups_listing_and_new_transforms_go_by_it(self) -> None:
        first, second = two("cbc(aes)")
        before = cd.Cipher("cbc(aes)", bytes(16))
        _engine.set_priority(second, 5000)
        assert cd.Cipher("cbc(aes)").driver == second
        assert before.driver == first
        assert {entry.driver: entry.priority for entry in cd.algorithms()}[second] == 5000
        _engine.set_priority(second, -(2**31))
        assert cd.Cipher("cbc(aes)").driver == first
        assert cd.Cipher(second).driver == second

    def test_the_software_side_of_a_fallback_goes_by_it(self) -> None:
        first, second = two("rfc3686(ctr(aes))")  # what raw_aes is measured with
        with eip93.Device.emulated(engine="an7581") as device:
            _engine.set_priority(second, 400)
            device.fallback.enable()
            assert device.fallback["raw_aes"].software == second
            device.fallback.disable()
            _engine.set_priority(second, 1)
            device.fallback.enable()
            assert device.fallback["raw_aes"].software == first

    def test_wrong_use(self) -> None:
        with pytest.raises(cd.UnknownAlgorithmError, match="aes-lob"):
            _engine.set_priority("cbc(aes-lob)", 1)
        with pytest.raises(cd.UnknownAlgorithmError):
            _engine.set_priority("cbc(aes)", 1)  # the name of an algorithm is no driver name
        with pytest.raises(ValueError, match="priority: 2147483648"):
            _engine.set_priority("cbc(aes-lib)", 2**31)
        with pytest.raises(TypeError):
            _engine.set_priority(None, 1)  # type: ignore[arg-type]


class TestDecide:
    def test_the_fastest_over_all_sizes_comes_first(self) -> None:
        own = {"a": 300, "b": 200, "c": 100}
        ticks = {"a": (10.0, 100.0), "b": (5.0, 50.0), "c": (20.0, 200.0)}
        assert decide(ticks, own) == ("b", "a", "c")

    def test_noise_changes_nothing(self) -> None:
        own = {"a": 300, "b": 200}
        assert decide({"a": (10.0, 100.0), "b": (9.7, 97.0)}, own) == ("a", "b")
        assert decide({"a": (10.0, 100.0), "b": (9.4, 94.0)}, own) == ("b", "a")

    def test_every_size_counts_the_same(self) -> None:
        """Twice as fast at 16 bytes outweighs 10 % at 16384, whatever the ticks add up to."""
        own = {"a": 1, "b": 2}
        assert decide({"a": (50.0, 11000.0), "b": (100.0, 10000.0)}, own) == ("a", "b")

    def test_split(self) -> None:
        sizes = (16, 256, 4096)
        ticks = {"a": (10.0, 100.0, 4000.0), "b": (200.0, 210.0, 1000.0)}
        assert decide_split(ticks, ("a", "b"), sizes) == ("b", "a", 256)
        assert decide_split(ticks, ("b", "a"), sizes) == ("b", "a", 256)

    def test_no_split_without_gain(self) -> None:
        sizes = (16, 256, 4096)
        best = {"a": (10.0, 100.0, 1000.0), "b": (20.0, 200.0, 2000.0)}
        assert decide_split(best, ("a", "b"), sizes) is None
        near = {"a": (10.0, 100.0, 1000.0), "b": (20.0, 200.0, 900.0)}
        assert decide_split(near, ("a", "b"), sizes) is None
        assert decide_split({"a": (1.0, 1.0, 1.0)}, ("a",), sizes) is None

    def test_priorities_are_dealt_out_again(self) -> None:
        own = {"a": 300, "b": 200, "c": 100}
        assert _priorities.priorities(own, ["c", "a", "b"]) == {"c": 300, "a": 200, "b": 100}
        ties = {"a": 100, "b": 100, "c": 100}
        assert _priorities.priorities(ties, ["c", "b", "a"]) == {"c": 100, "b": 99, "a": 98}


class TestChoose:
    def test_it_measures_applies_and_keeps(self, folder: Path) -> None:
        calls = []
        choices = cd.benchmark.choose_software(
            ["cbc(aes)", "sha1", "cbc(aes)"], progress=lambda *call: calls.append(call)
        )
        assert calls == [("cbc(aes)", 0, 2), ("sha1", 1, 2)]
        for name, choice in choices.items():
            assert set(choice.order) == set(_priorities.candidates()[name])
            assert set(choice.order) <= set(choice.ticks)
            assert all(len(row) == len(choice.sizes) for row in choice.ticks.values())
            assert all(row[0] < row[-1] for row in choice.ticks.values())
        assert cd.Cipher("cbc(aes)").driver == choices["cbc(aes)"].order[0]
        assert cd.Hash("sha1").driver == choices["sha1"].order[0]
        if "aesni" in _engine.cpu_features():
            assert choices["cbc(aes)"].order[0] != "cbc(aes-lib)"
        [path] = (folder / "cryptodispatch").iterdir()
        assert str(path) == _cache.cache_path()
        assert stat.S_IMODE(path.stat().st_mode) == 0o600

    def test_all_algorithms_with_a_choice(self) -> None:
        choices = cd.benchmark.choose_software(save=False)
        wanted = {name for name, own in _priorities.candidates().items() if len(own) > 1}
        assert set(choices) == wanted

    def test_not_kept_if_not_wanted(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        cd.benchmark.choose_software(["sha1"], save=False)
        monkeypatch.setenv("CRYPTODISPATCH_CACHE", "off")
        cd.benchmark.choose_software(["sha1"])
        assert list(folder.iterdir()) == []

    def test_what_was_kept_of_others_stays(self) -> None:
        _first, second = keep_reversed("cbc(aes)")
        cd.benchmark.choose_software(["sha1"])
        kept = _cache.load()
        assert kept is not None
        assert kept["cbc(aes)"]["order"][0] == second
        assert cd.Cipher("cbc(aes)").driver == second

    def test_unknown_names(self) -> None:
        with pytest.raises(cd.UnknownAlgorithmError, match=r"cbc\(aez\)"):
            cd.benchmark.choose_software(["cbc(aez)"])

    def test_measured_costs_decide(self, monkeypatch: pytest.MonkeyPatch) -> None:
        first, second = two("cbc(aes)")
        _fake_costs(monkeypatch, {second: (1.0,) * 6})
        choice = cd.benchmark.choose_software(["cbc(aes)"])["cbc(aes)"]
        assert choice.order[0] == second != first
        assert choice.best == (second,) * 6
        assert cd.Cipher("cbc(aes)").driver == second
        assert bound() == second

    def test_made_for_comparison_is_measured_and_never_chosen(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        before = cd.Cipher("cbc(aes)").driver
        _fake_costs(monkeypatch, {"cbc(aes-generic)": (1.0,) * 6})
        choice = cd.benchmark.choose_software(["cbc(aes)"], save=False)["cbc(aes)"]
        assert "cbc(aes-generic)" in choice.ticks
        assert "cbc(aes-generic)" not in choice.order
        assert cd.Cipher("cbc(aes)").driver == before

    def test_libcrypto_is_loaded_where_it_was_best(self, monkeypatch: pytest.MonkeyPatch) -> None:
        if _engine.load_openssl():
            pytest.skip(_engine.load_openssl())
        built_in = cd.Cipher("cbc(des3_ede)").driver
        _fake_costs(monkeypatch, {"cbc(des3_ede-openssl)": (1.0,) * 6})
        choice = cd.benchmark.choose_software(["cbc(des3_ede)"])["cbc(des3_ede)"]
        assert choice.order[0] == "cbc(des3_ede-openssl)"
        assert bound("cbc(des3_ede)") == "cbc(des3_ede-openssl)"
        assert bound("cbc(des3_ede)", CRYPTODISPATCH_LIBCRYPTO="") == built_in


def _fake_costs(
    monkeypatch: pytest.MonkeyPatch, cheap: dict[str, tuple[float, ...]], other: float = 100.0
) -> None:
    """Let the measurement find given ticks, and for everything else `other`."""
    monkeypatch.setattr(
        _choose,
        "_measure",
        lambda entries: {
            entry.driver: cheap.get(entry.driver, (other,) * len(_choose.SIZES))
            for entry in entries
        },
    )


class TestBySize:
    SMALL = (1.0, 1.0, 1.0, 900.0, 900.0, 900.0)
    LARGE = (900.0, 900.0, 900.0, 1.0, 1.0, 1.0)

    def fake(self, monkeypatch: pytest.MonkeyPatch, algorithm: str, proxy: float) -> None:
        """The built-in first is better from 1024 bytes on, the next one below."""
        large, small = two(algorithm)
        costs = {small: self.SMALL, large: self.LARGE, f"fallback({large})": (proxy,) * 6}
        _fake_costs(monkeypatch, costs, other=2000.0)

    def test_requests_go_by_size_and_agree(self, monkeypatch: pytest.MonkeyPatch) -> None:
        large, small = two(AUTHENC)
        lanes = {driver for _name, driver, *_rest, batched in _engine.software() if batched}
        if {large, small} & lanes:
            pytest.skip("both sides would lose their lanes")
        self.fake(monkeypatch, AUTHENC, proxy=2.0)
        choice = cd.benchmark.choose_software([AUTHENC])[AUTHENC]
        assert (choice.order[:2], choice.small, choice.threshold) == ((large, small), small, 256)
        aead = cd.Aead(AUTHENC, bytes(16), b"k" * 20)
        assert aead.driver == f"fallback({large})"
        plain = cd.Aead(large, bytes(16), b"k" * 20)
        for size, _side in ((16, "small"), (256, "small"), (272, "large"), (4096, "large")):
            data = os.urandom(size)
            assert aead.encrypt(data, bytes(16)) == plain.encrypt(data, bytes(16))
        counters = _priorities._splits[AUTHENC][AUTHENC].counters
        assert (counters["within_threshold"], counters["above_threshold"]) == (2, 2)
        assert _priorities._splits[AUTHENC][AUTHENC].software == small
        _priorities.restore()
        assert cd.Aead(AUTHENC).driver == large
        assert aead.encrypt(b"", bytes(16)) == plain.encrypt(b"", bytes(16))

    def test_it_is_kept_and_applied(self) -> None:
        large, small = two(AUTHENC)
        rest = [name for name in _priorities.candidates()[AUTHENC] if name not in (large, small)]
        choice = {"order": [large, small, *rest], "small": small, "threshold": 512}
        assert _cache.save({AUTHENC: choice})
        program = f"import cryptodispatch as cd; print(cd.Aead({AUTHENC!r}).driver)"
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
        assert done.stdout.decode().strip() == f"fallback({large})"

    def test_the_dispatch_must_pay_for_itself(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.fake(monkeypatch, AUTHENC, proxy=900.0)
        choice = cd.benchmark.choose_software([AUTHENC])[AUTHENC]
        assert choice.small is None
        assert not [entry for entry in cd.algorithms() if entry.proxy]

    @pytest.mark.parametrize("side", [0, 1])
    def test_what_has_lanes_for_batches_is_not_put_behind_a_proxy(
        self, monkeypatch: pytest.MonkeyPatch, side: int
    ) -> None:
        wide = two(AUTHENC)[side]
        others = [name for name in _priorities.candidates()[AUTHENC] if name != wide]
        rows = [(*row[:5], row[1] == wide) for row in _engine.software()]
        monkeypatch.setattr(_engine, "software", lambda: rows)
        self.fake(monkeypatch, AUTHENC, proxy=1.0)
        choice = cd.benchmark.choose_software([AUTHENC])[AUTHENC]
        assert choice.small is None or {choice.small, choice.order[0]} <= set(others)

    def test_a_proxy_of_somebody_else_is_left_alone(self) -> None:
        large, small = two(AUTHENC)
        group = cd.Group(
            name="mine", algorithm=AUTHENC, driver=large, key=b"", members=(large,), type="aead",
            threshold=64,
        )  # fmt: skip
        mine = cd.Fallback("mine", [group])
        mine.enable()
        assert _priorities.split(AUTHENC, large, small, 256) == ""
        assert mine.enabled
        mine.close()


def _altered(change: object) -> bytes:
    """A good file with one thing wrong."""
    document = {"version": _cache.VERSION, "key": _cache.key(), "choices": {}}
    first, second = two("cbc(aes)")
    document["choices"] = {"cbc(aes)": {"order": [second, first], "small": "", "threshold": 0}}
    assert callable(change)
    change(document)
    return json.dumps(document).encode()


CORRUPT = {
    "empty": lambda: b"",
    "binary": lambda: bytes(range(256)),
    "cut": lambda: _altered(lambda _d: None)[:-3],
    "deep": lambda: b"[" * 100000,
    "other type": lambda: b"[1, 2]",
    "number": lambda: b"7",
    "call": lambda: b"__import__('os').abort()",
    "version": lambda: _altered(lambda d: d.update(version=_cache.VERSION + 1)),
    "no version": lambda: _altered(lambda d: d.pop("version")),
    "package": lambda: _altered(lambda d: d["key"].update(package="0.0.0")),
    "cpu": lambda: _altered(lambda d: d["key"].update(cpu=["mmx"])),
    "build": lambda: _altered(lambda d: d["key"].update(implementations="00")),
    "choices": lambda: _altered(lambda d: d.update(choices=[])),
    "choice": lambda: _altered(lambda d: d["choices"].update(sha1=None)),
    "order": lambda: _altered(lambda d: d["choices"]["cbc(aes)"].update(order="cbc(aes-lib)")),
    "driver": lambda: _altered(lambda d: d["choices"]["cbc(aes)"].update(order=[["x"]])),
    "threshold": lambda: _altered(lambda d: d["choices"]["cbc(aes)"].update(threshold=-1)),
    "huge": lambda: _altered(lambda _d: None) + b" " * (1 << 20),
}


class TestCache:
    def test_a_new_process_binds_what_was_kept(self) -> None:
        first, second = keep_reversed()
        assert bound() == second
        assert bound(CRYPTODISPATCH_CACHE="off") == first
        assert bound(XDG_CACHE_HOME="relative") == first

    def test_a_good_file_is_good(self) -> None:
        """The changes below each break something that works."""
        path = _path()
        path.write_bytes(_altered(lambda _d: None))
        path.chmod(0o600)
        assert bound() == two("cbc(aes)")[1]

    @pytest.mark.parametrize("kind", list(CORRUPT))
    def test_corrupt_and_foreign_files_are_ignored(self, kind: str) -> None:
        path = _path()
        path.write_bytes(CORRUPT[kind]())
        path.chmod(0o600)
        assert _cache.load() is None
        _engine.on_first_lookup(_cache.apply_cached)
        assert cd.Cipher("cbc(aes)").driver == two("cbc(aes)")[0]

    def test_drivers_that_are_not_there_are_left_out(self) -> None:
        first, second = two("cbc(aes)")
        order = ["cbc(aes-gone)", "sha1-lib", second, first, second]
        _cache.save(
            {
                "cbc(aes)": {"order": order, "small": "cbc(aes-gone)", "threshold": 64},
                "cbc(gone)": {"order": ["x"], "small": "y", "threshold": 64},
            }
        )
        _engine.on_first_lookup(_cache.apply_cached)
        assert cd.Cipher("cbc(aes)").driver == second
        assert not [entry for entry in cd.algorithms() if entry.proxy]

    def test_what_others_could_have_written_is_ignored(self) -> None:
        first, _second = keep_reversed()
        path = Path(str(_cache.cache_path()))
        path.chmod(0o620)
        assert bound() == first
        path.chmod(0o602)
        assert bound() == first

    @pytest.mark.parametrize("kind", ["folder", "fifo", "loop", "dangling"])
    def test_what_is_no_file_is_ignored(self, kind: str) -> None:
        path = _path()
        if kind == "folder":
            path.mkdir()
        elif kind == "fifo":
            os.mkfifo(path)
        else:
            path.symlink_to(path if kind == "loop" else path.with_name("nothing"))
        assert bound() == two("cbc(aes)")[0]

    def test_a_folder_that_cannot_be_written(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (folder / "cryptodispatch").write_text("a file where the folder should be")
        with pytest.raises(OSError, match=r"File exists|Not a directory") as caught:
            _cache.save({})
        assert caught.value.filename == _cache.cache_path()
        assert "sha1" in cd.benchmark.choose_software(["sha1"])
        monkeypatch.setenv("XDG_CACHE_HOME", "/proc/nowhere")
        with pytest.raises(OSError, match="No such file"):
            _cache.save({})

    def test_replaced_in_one_piece(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        _first, _second = keep_reversed()
        before = Path(str(_cache.cache_path())).read_bytes()

        def fail(*_arguments: object) -> None:
            raise OSError("disk full")

        monkeypatch.setattr(os, "replace", fail)
        with pytest.raises(OSError, match="disk full"):
            _cache.save({})
        [left] = (folder / "cryptodispatch").iterdir()  # and no temporary one
        assert left.read_bytes() == before

    def test_other_cpu_features_have_a_file_of_their_own(self) -> None:
        if not _engine.cpu_features():
            pytest.skip("no feature to take away")
        keep_reversed()
        other = {"CRYPTODISPATCH_CPU_DISABLE": "bmi2,arm_sha2"}  # no AES is made of these
        assert bound() != bound(**other) == bound(CRYPTODISPATCH_CACHE="off")

    def test_it_is_strict_json(self) -> None:
        keep_reversed()
        document = json.loads(Path(str(_cache.cache_path())).read_text())
        assert document["version"] == _cache.VERSION
        assert document["key"] == _cache.key()

    def test_the_first_lookup_stays_cheap(self) -> None:
        keep_reversed()
        best = 1.0
        for _try in range(50):
            start = time.perf_counter()
            _cache.apply_cached()
            best = min(best, time.perf_counter() - start)
        assert best < 1e-3

    def test_a_failing_file_fails_no_lookup(self, monkeypatch: pytest.MonkeyPatch) -> None:
        keep_reversed()

        def fail(*_arguments: object) -> None:
            raise RuntimeError("a fault in applying")

        monkeypatch.setattr(_priorities, "apply", fail)
        _engine.on_first_lookup(_cache.apply_cached)
        assert cd.Cipher("cbc(aes)").driver == two("cbc(aes)")[0]

    def test_nothing_is_read_before_the_first_lookup_and_once_then(self) -> None:
        calls = []
        _engine.on_first_lookup(lambda: calls.append(1))
        assert calls == []
        cd.algorithms()
        cd.Cipher("cbc(aes)")
        cd.Hash("sha1")
        assert calls == [1]


def _path() -> Path:
    path = Path(str(_cache.cache_path()))
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


class TestCommand:
    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "cryptodispatch", "tune", "--software", *arguments],
            env={**os.environ, **environment},
            capture_output=True,
            check=False,
            text=True,
            timeout=120,
        )

    def test_json(self) -> None:
        done = self.run("--json")
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        assert found["kept"] == _cache.cache_path()
        assert set(found["clock"]) == {"name", "hz"}
        choice = found["algorithms"]["cbc(aes)"]
        assert set(choice["order"]) == set(_priorities.candidates()["cbc(aes)"])
        assert len(choice["best"]) == len(choice["sizes"]) == 6
        assert bound() == choice["order"][0]

    def test_table(self) -> None:
        done = self.run(CRYPTODISPATCH_CACHE="off")
        assert done.returncode == 0, done.stderr
        assert "cbc(aes-lib)" in done.stdout
        assert "Not kept" in done.stdout
        assert "*" in done.stdout

    def test_wrong_use(self) -> None:
        done = self.run("--machine", "an7581")
        assert done.returncode == 2
        assert "--software" in done.stderr
