"""A graph over files on a cluster, for spark-submit: reads CSV or Parquet, writes Parquet.

    spark-submit graphs/spark/job.py graphs/bollinger.yaml graphs/data/prices.csv out/bands \
        --key symbol --time date

A mistake in the graph or in the names of columns is told before any job starts, with exit code 1.
"""

import argparse
import sys

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from rtbot.errors import RtbotError
from spark_adapter import run_graph


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
    return options


def read(spark: SparkSession, path: str) -> DataFrame:
    """Return the rows of the files."""
    if path.removesuffix(".gz").endswith(".csv"):
        return spark.read.csv(path, header=True, inferSchema=True)
    return spark.read.parquet(path)


def main(given: list[str] | None = None) -> None:
    """Run the job."""
    options = arguments(given)
    spark = SparkSession.builder.appName(f"rtbot {options.graph}").getOrCreate()
    try:
        out = run_graph(
            read(spark, options.input),
            options.graph,
            key=options.key,
            time=options.time,
            params=dict(one.split("=", 1) for one in options.params),
            partitions=options.partitions,
        )
    except (RtbotError, OSError, AnalysisException) as error:
        sys.exit(str(error))
    out.write.mode("overwrite").parquet(options.output)


if __name__ == "__main__":
    main()
