"""The setup of a scene under the name that it had. Reference: a pickle as it was written then, by hand."""

import pickle

import pytest

from saltus.lab.making import setup


def test_programs_and_pickles_with_the_earlier_name_get_the_class():
    with pytest.warns(DeprecationWarning, match="now LabStart"):
        assert setup.Setup is setup.LabStart
    with pytest.warns(DeprecationWarning, match="now LabStart"):
        assert pickle.loads(b"csaltus.lab.making.setup\nSetup\n.") is setup.LabStart
    with pytest.raises(AttributeError, match="no attribute 'Start'"):
        _ = setup.Start
