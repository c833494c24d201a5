"""What tells one log from another, taken while other work goes on."""

from __future__ import annotations

import gc
import hashlib
import os
import threading
from pathlib import Path

import pytest

from repbm.core import InputError
from repbm.evaluation._fingerprint import Fingerprint, fingerprint


def test_it_is_of_all_files_in_order_of_name(tmp_path: Path) -> None:
    folder = tmp_path / "log"
    folder.mkdir()
    for name, content in (("b.csv", b"second"), ("a.csv", b"first")):
        (folder / name).write_bytes(content)
    expected = hashlib.sha256(b"firstsecond").hexdigest()
    assert fingerprint(folder) == expected
    begun = Fingerprint.begun(str(folder))
    assert begun is not None
    assert begun.sha256 == expected


def test_what_is_no_file_has_none_to_begin_with(tmp_path: Path) -> None:
    assert Fingerprint.begun(tmp_path / "nothing.csv") is None
    assert Fingerprint.begun({"episode": [0]}) is None


def test_a_fault_is_raised_where_the_fingerprint_is_wanted(tmp_path: Path) -> None:
    empty = tmp_path / "log"
    empty.mkdir()
    begun = Fingerprint(empty)
    with pytest.raises(InputError):
        _ = begun.sha256


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes here")
def test_a_pipe_is_left_to_who_reads_the_log(tmp_path: Path) -> None:
    pipe = tmp_path / "log.csv"
    os.mkfifo(pipe)
    begun = Fingerprint.begun(pipe)
    assert begun is not None
    writer = threading.Thread(target=pipe.write_bytes, args=(b"all of it",))
    writer.start()
    assert pipe.read_bytes() == b"all of it"
    writer.join()
    del begun


def test_nobody_works_on_one_that_is_not_wanted_any_more(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_bytes(bytes(1 << 22))
    begun = Fingerprint.begun(log)
    del begun
    gc.collect()
    for thread in threading.enumerate():
        if thread.name == "repbm-fingerprint":
            thread.join(10)
            assert not thread.is_alive()
