"""What a worker's end means to who started it."""

import errno
import os
import sys

import pytest

from sandcrawler import workers
from sandcrawler.cli import main


@pytest.mark.parametrize(("number", "code"), [(errno.ENOSPC, 3), (errno.EMFILE, 3), (errno.ENOENT, 2)])
def test_what_may_pass_is_no_wrong_setting(number: int, code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(workers, "run", fail)
    monkeypatch.setattr(sys, "argv", ["sandcrawler", "run", "ingest"])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == code, "a service manager starts it again, but for 2 and 4"
