"""A graph over files on a cluster, for spark-submit: reads CSV or Parquet, writes Parquet.

    spark-submit graphs/spark/job.py graphs/bollinger.yaml graphs/data/prices.csv out/bands \
        --key symbol --time date

A mistake ends it with exit code 1: in the graph or a parameter before Spark starts, in the names of
columns before any job.
"""

import argparse
import sys

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

import rtbot
from rtbot.core.errors import RtbotError
from spark_adapter import reason, run_graph


def arguments(given: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("graph", help="the graph file, on the driver")
    parser.add_argument("input", help="files or a folder of CSV (.csv) or Parquet")
    parser.add_argument("output", help="the folder of Parquet to write")
    parser.add_argument("--key", action="append", help="a key column; more than once for several")
    parser.add_argument("--time", help="the column of times")
    parser.add_argument("--partitions", type=int, help="how many tasks, at most one per key")
    parser.add_argument("-p", dest="params", action="append", default=[], metavar="NAME=VALUE")
    options = parser.parse_args(given)
    for one in options.params:
        if "=" not in one:
            parser.error(f"-p is NAME=VALUE, not {one}")
    if options.partitions is not None and options.partitions < 1:
        parser.error(f"--partitions is a number from 1 on, not {options.partitions}")
    return options


def read(spark: SparkSession, path: str) -> DataFrame:
    """Return the rows of the files."""
    if path.removesuffix(".gz").endswith(".csv"):
        return spark.read.csv(path, header=True, inferSchema=True)
    return spark.read.parquet(path)


def main(given: list[str] | None = None) -> None:
    """Run the job."""
    options = arguments(given)
    try:
        graph = rtbot.load(options.graph, **dict(one.split("=", 1) for one in options.params))
        spark = SparkSession.builder.appName(f"rtbot {options.graph}").getOrCreate()
        out = run_graph(
            read(spark, options.input),
            graph,
            key=options.key,
            time=options.time,
            partitions=options.partitions,
        )
        out.write.mode("overwrite").parquet(options.output)
    except (RtbotError, OSError, PySparkException) as error:
        sys.exit(reason(error) or str(error))


if __name__ == "__main__":
    main()
