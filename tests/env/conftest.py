"""What the tests of environments share: without Gymnasium there are none."""

import pytest

pytest.importorskip("gymnasium")
