"""The page on Spark and the programs in graphs/spark: each is run, and gives what it says."""

import os
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import rtbot
from tests import samples
from tests.samples import ON_SPARK, ROOT

pytest.importorskip("pyspark")

from pyspark.sql import functions

import spark_adapter

PROGRAMS = ROOT / "graphs" / "spark"
PRICES = "graphs/data/prices.csv"
BOLLINGER = "graphs/bollinger.yaml"


@pytest.fixture
def here(spark, tmp_path):
    """A folder with the graphs, which relative paths of Python and of Spark begin at."""
    java = spark.sparkContext._jvm.org.apache.hadoop.fs
    files = java.FileSystem.get(spark.sparkContext._jsc.hadoopConfiguration())
    before = files.getWorkingDirectory()
    files.setWorkingDirectory(java.Path(str(tmp_path)))
    with samples.enter_folder(tmp_path):
        yield tmp_path
    files.setWorkingDirectory(before)


def digest(table):
    """The digest of a table that a graph of prices has given on Spark."""
    outputs = ["upper", "middle", "lower"]
    same = rtbot.load({"inputs": dict.fromkeys(outputs, "number"), "outputs": outputs})
    return same.run(table.sort_by("date"), key="symbol").digest()


def local(**params):
    return rtbot.load(ROOT / BOLLINGER, **params).run(ROOT / PRICES).digest()


def program(name, *arguments):
    """Run the main function of a program in the session that is there."""
    runpy.run_path(str(PROGRAMS / name))["main"]([str(one) for one in arguments])


def commands():
    """The spark-submit commands of the page that name a program of ours."""
    text = ON_SPARK.read_text(encoding="utf-8").replace("\\\n", " ")
    return re.findall(r"^spark-submit .* graphs/spark/.*$", text, re.MULTILINE)


@pytest.mark.usefixtures("here")
def test_the_page_shows_what_it_says():
    for block, line, expected, shown in samples.run_page(ON_SPARK):
        assert samples.matches(expected, shown), f"{block.page}:{block.line}: $ {line}\n{shown}"


def test_the_notebook_is_equal_bit_for_bit_and_draws_without_a_folder_out(here, capsys):
    (here / "out").rmdir()
    runpy.run_path(str(PROGRAMS / "notebook.py"))
    told = capsys.readouterr().out
    assert "equal bit for bit: True" in told
    assert "hours of alert: 473" in told
    assert "|   IBM|   10|    2|" in told
    assert (here / "out" / "spark.svg").read_text(encoding="utf-8").startswith("<svg")


@pytest.mark.usefixtures("here")
def test_the_job_as_the_page_submits_it(spark):
    (command,) = commands()
    done = submitted(command)
    assert done.returncode == 0, done.stderr
    assert len(list(Path("out/bands").glob("part-*"))) > 1
    assert digest(spark.read.parquet("out/bands").toArrow()) == local()


def submitted(command):
    """Run a command with the spark-submit of this environment."""
    settings = {"SPARK_LOCAL_IP": "127.0.0.1", "PYTHONPATH": str(ROOT), "RTBOT_INTERPRET": "1"}
    settings["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    settings["PYSPARK_PYTHON"] = sys.executable
    words = shlex.split(command)
    words[1:1] = ["--conf", "spark.ui.enabled=false", "--driver-memory", "1g"]
    words[1:1] = ["--driver-java-options", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"]
    return subprocess.run(
        words, env=os.environ | settings, capture_output=True, text=True, check=False
    )


@pytest.mark.usefixtures("here")
def test_a_mistake_ends_the_job_with_two_lines():
    with pytest.raises(SystemExit) as caught:
        program("job.py", BOLLINGER, PRICES, "out/none", "--key", "symbl", "--time", "date")
    assert str(caught.value) == (
        "error[RT204]: there is no column 'symbl' for a key\n     did you mean 'symbol'?"
    )


COLUMNS = "date timestamp, symbol string, price double"
REST = ["out/x", "checkpoint", "--schema", COLUMNS, "--watermark", "1 day"]
MISTAKES = {
    "a job without a graph": (["job.py", "none.yaml", PRICES, "out/x"], "'none.yaml'"),
    "a job without data": (["job.py", BOLLINGER, "none.csv", "out/x"], "PATH_NOT_FOUND"),
    "a job without a value": (["job.py", BOLLINGER, PRICES, "out/x", "-p", "window"], "2"),
    "a job in no partitions": (["job.py", BOLLINGER, PRICES, "out/x", "--partitions", "0"], "2"),
    "a stream without a graph": (["stream.py", "none.yaml", "graphs/data", *REST], "'none.yaml'"),
    "a stream without a folder": (["stream.py", BOLLINGER, "none", *REST], "PATH_NOT_FOUND"),
    "a stream with a delay that is none": (
        ["stream.py", BOLLINGER, "graphs/data", *REST[:-1], "soon"],
        "INTERVAL",
    ),
    "a stream with columns that are none": (
        ["stream.py", BOLLINGER, "graphs/data", *REST[:3], "date of it", *REST[4:]],
        "PARSE",
    ),
}


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(("words", "shown"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_end_the_programs_without_a_traceback(words, shown):
    with pytest.raises(SystemExit) as caught:
        program(*words)
    assert shown in str(caught.value)


BEFORE_SPARK = {
    "a window that is no number": ("job.py", ["-p", "window=x"], "RT113"),
    "a window of nothing": ("job.py", ["-p", "window=0"], "RT112"),
    "a parameter that the graph has not": ("job.py", ["-p", "windw=3"], "window"),
}


@pytest.mark.parametrize(("name", "words", "shown"), BEFORE_SPARK.values(), ids=BEFORE_SPARK)
def test_a_wrong_parameter_ends_the_job_before_spark_starts(name, words, shown):
    run = runpy.run_path(str(PROGRAMS / name))["main"]
    run.__globals__["SparkSession"] = None
    with pytest.raises(SystemExit) as caught:
        run([str(ROOT / BOLLINGER), PRICES, "out/x", *words])
    assert shown in str(caught.value)


@pytest.mark.usefixtures("here")
def test_a_wrong_row_ends_the_job_with_what_rtbot_says():
    Path("twice.csv").write_text("t,symbol,price\n1,a,1\n1,a,2\n", encoding="utf-8")
    with pytest.raises(SystemExit) as caught:
        program("job.py", BOLLINGER, "twice.csv", "out/x", "--time", "t")
    assert str(caught.value).startswith("error[RT203]: a second message at t=")


@pytest.mark.usefixtures("here")
def test_parameters_of_the_job(spark):
    program("job.py", BOLLINGER, PRICES, "out/wide", "--time", "date", "-p", "window=50")
    assert digest(spark.read.parquet("out/wide").toArrow()) == local(window=50)


def test_the_stream_is_stopped_and_started(here, spark, capsys):
    prices = spark.read.csv(PRICES, header=True, inferSchema=True)
    words = [BOLLINGER, here / "in", here / "out" / "stream", here / "checkpoint", "--once"]
    words += ["--schema", "date timestamp_ntz, symbol string, price double"]
    words += ["--watermark", "3 days"]
    for year in (2010, 2011, 2012, 2013):
        part = prices.where(functions.year("date") == year)
        part.orderBy("date").coalesce(1).write.mode("append").csv(str(here / "in"), header=True)
        program("stream.py", *words)
    assert capsys.readouterr().out == 4 * "late rows: 0\n"
    rest = spark_adapter.drain(spark, str(here / "checkpoint"), BOLLINGER)
    assert rest.count() > 0
    assert digest(spark.read.parquet(str(here / "out" / "stream")).union(rest).toArrow()) == local()


def test_every_program_is_on_the_page():
    text = ON_SPARK.read_text(encoding="utf-8")
    for path in PROGRAMS.glob("*.py"):
        assert f"(../graphs/spark/{path.name})" in text
