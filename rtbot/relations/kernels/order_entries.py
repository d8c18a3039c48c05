"""What Python calls of the loops over an order: others call those, so that they have no entry."""

from rtbot.relations.kernels.ordered_rows import (
    apply_touched,
    check_touched,
    finish_touched,
    touch_rows,
)
from rtbot.tables.hash_tables import DONE


def note_rows(
    sign, words, weights, begin, end, touched, count, known, cells, nodes, meta, spec, labels
):
    """Touch rows: `touch_rows`."""
    return touch_rows(
        sign, words, weights, begin, end, touched, count, known, cells, nodes, meta, spec, labels
    )


def settle_rows(touched, count, cells, nodes, meta):
    """Give touched rows their new copies if all are right; the code of `check_touched`."""
    code = check_touched(touched, count, cells, meta)
    if code == DONE:
        apply_touched(touched, count, cells, nodes, meta)
    else:
        finish_touched(touched, count, cells, nodes, meta)
    return code


def forget_rows(touched, count, cells, nodes, meta):
    """Forget what a transaction has touched: `finish_touched`."""
    finish_touched(touched, count, cells, nodes, meta)
