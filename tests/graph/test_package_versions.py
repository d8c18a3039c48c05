"""A dump of a graph with operators of a package, and other versions of that package."""

import json
import sys

import pytest

import rtbot
from rtbot.graph import packages
from rtbot.operator import REGISTRY
from rtbot.storage.container import decode_blob, encode_blob
from tests.graph.test_packages import graph_of, site  # noqa: F401 (a fixture)
from tests.operator_packages import declare, install

STEP = """
from rtbot.operator import Example, In, Operator, Out, Scalar, step


class AcmeTotal(Operator):
    '''The sum of the values so far.'''

    version = {state}
    i1 = In("number", doc="values")
    o1 = Out("number", doc="their sums")
    total = Scalar("number", 0.0)
    example = Example(inputs={{"i1": [(1, 1.0)]}}, outputs={{"o1": [(1, {sign}1.0)]}})

    @step
    def step(i1, total):
        total = total {sign} i1
        return total, total
"""


def bring(site, version, text):  # noqa: F811
    """Another version of the package, as in a process that begins anew."""
    folder = site / f"at-{version}"
    folder.mkdir()
    sys.path[:] = [str(folder), *(place for place in sys.path if "at-" not in place)]
    install(folder, "acme-sums", f"acme_sums_{version.replace('.', '_')}.ops", version, ops=text)
    REGISTRY.pop("AcmeTotal", None)
    REGISTRY.pop("AcmeTwice", None)
    packages._load_all.cache_clear()


def dump_after(name, *values):
    session = rtbot.load(graph_of(name)).start(compiled=False)
    for time, value in enumerate(values):
        session.push_one("x", time, value)
    return session.dump()


def refused(name, blob):
    with pytest.raises(rtbot.CheckpointError) as caught:
        rtbot.load(graph_of(name)).resume(blob)
    assert caught.value.code == "RT313"
    return caught.value


def test_a_dump_names_the_package_and_its_version(site):  # noqa: F811
    bring(site, "1.0", declare("AcmeTwice"))
    header, _ = decode_blob(dump_after("AcmeTwice"))
    assert header["own_operators"] == {
        "y0": {"package": "acme-sums 1.0", "formulas": {"o1": "2.0 * i1"}}
    }


def test_a_dump_of_rtbot_s_own_operators_names_none():
    header, _ = decode_blob(dump_after("CumulativeSum"))
    assert header["own_operators"] == {}


def test_another_version_with_the_same_steps_goes_on(site):  # noqa: F811
    bring(site, "1.0", STEP.format(sign="+", state=1))
    blob = dump_after("AcmeTotal", 1.0, 2.0)
    bring(site, "1.1", "# A comment.\n" + STEP.format(sign="+", state=1))
    session = rtbot.load(graph_of("AcmeTotal")).resume(blob, compiled=False)
    assert session.push_one("x", 5, 4.0) == {"y0": [(5, 7.0)]}
    header, _ = decode_blob(session.dump())
    assert header["own_operators"]["y0"]["package"] == "acme-sums 1.1"


@pytest.mark.parametrize(("sign", "state"), [("-", 1), ("+", 2)], ids=["step", "state"])
def test_another_version_with_another_step_or_state_is_refused_by_name(site, sign, state):  # noqa: F811
    bring(site, "1.0", STEP.format(sign="+", state=1))
    blob = dump_after("AcmeTotal", 1.0, 2.0)
    bring(site, "2.0", STEP.format(sign=sign, state=state))
    error = refused("AcmeTotal", blob)
    assert "y0 was of acme-sums 1.0 and is of acme-sums 2.0; " in error.message
    assert error.hint == "install acme-sums 1.0, or start again"


def test_another_formula_is_refused_with_both(site):  # noqa: F811
    bring(site, "1.0", declare("AcmeTwice"))
    blob = dump_after("AcmeTwice", 1.0)
    bring(site, "1.1", declare("AcmeTwice", 3))
    told = "y0 was of acme-sums 1.0 and is of acme-sums 1.1; operators.y0: o1 was 2.0 * i1 and is"
    assert told in refused("AcmeTwice", blob).message


def test_a_dump_of_before_that_names_none_goes_on(site):  # noqa: F811
    bring(site, "1.0", STEP.format(sign="+", state=1))
    header, arrays = decode_blob(dump_after("AcmeTotal", 1.0))
    del header["own_operators"]
    blob = encode_blob(json.loads(json.dumps(header)), arrays)
    session = rtbot.load(graph_of("AcmeTotal")).resume(blob, compiled=False)
    assert session.push_one("x", 5, 4.0) == {"y0": [(5, 5.0)]}
