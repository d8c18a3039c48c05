"""One Spark session for the whole suite: a JVM costs seconds and most of a gigabyte."""

import importlib.util
import os
import sys
from pathlib import Path

import pytest

from tests.spark import java

ROOT = Path(__file__).resolve().parents[2]
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.driver.extraJavaOptions": (
        "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Duser.timezone=UTC"
    ),
    "spark.executorEnv.RTBOT_INTERPRET": "1",  # compiling would take most of the time
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.streaming.stateStore.providerClass": ROCKSDB,
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


def pytest_configure(config):
    config.addinivalue_line("markers", "xdist_group(name): tests that share a worker, and its JVM")


def pytest_itemcollected(item):
    if "spark" in getattr(item, "fixturenames", ()):
        item.add_marker(pytest.mark.xdist_group("spark"))


def missing():
    """What Spark lacks here, and how to install it; "" if nothing."""
    for module in ("pyspark", "pandas", "google.protobuf"):
        top = module.split(".", maxsplit=1)[0]
        if importlib.util.find_spec(top) is None or importlib.util.find_spec(module) is None:
            return f"no {module}: pip install 'rtbot-graphs[spark]'"
    return "" if java.home() else f"no {java.HOW}"


def skip_without(lacking):
    """Skip a test for what is lacking; fail it where tests of Spark are needed."""
    if lacking:
        (pytest.fail if java.NEEDED else pytest.skip)(lacking)


def started(folder, master="local[2]"):
    """A session whose workers have this Python and project; `folder` is for what Spark keeps."""
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master).appName("rtbot tests")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    session = builder.config("spark.sql.warehouse.dir", f"{folder}/warehouse").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


@pytest.fixture(scope="session", autouse=True)
def java_home():
    """What Spark looks at, and programs that tests start."""
    if home := java.home():
        os.environ["JAVA_HOME"] = str(home)


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    skip_without(missing())
    session = started(tmp_path_factory.mktemp("spark"))
    yield session
    session.stop()
