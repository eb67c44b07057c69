"""The recorded answers and published records that may stand beside a checkout; tests that need them skip without."""

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[5] / "shared" / "w3c"

needs_recordings = pytest.mark.skipif(not SHARED.is_dir(), reason=f"there are no recordings in {SHARED}")
