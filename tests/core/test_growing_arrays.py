"""Arrays that grow: what is in them stays, and so does what others see of them."""

import numpy as np
import pytest

from rtbot.core.growing_arrays import MAPPED, allocate_growing, extend_array


@pytest.mark.parametrize("words", [1, MAPPED - 1, MAPPED, 2 * MAPPED + 3])
@pytest.mark.parametrize("is_seen", [False, True])
def test_words_stay_and_new_ones_are_zero(words, is_seen):
    arrays = {"one": allocate_growing(words)}
    assert not arrays["one"].any()
    arrays["one"][:] = np.arange(words)
    view = arrays["one"][:7] if is_seen else None
    for more in (5, MAPPED):
        extend_array(arrays, "one", words + more)
        found = arrays["one"]
        assert found.dtype == np.int64
        assert found.flags.writeable
        assert np.array_equal(found[:words], np.arange(words))
        assert not found[words:].any()
        assert len(found) == words + more
        if view is not None:
            assert np.array_equal(view, np.arange(min(words, 7)))
        del found
