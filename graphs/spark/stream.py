"""A graph over a folder into which files come, for spark-submit: stop it, start it, no row is lost.

    spark-submit graphs/spark/stream.py graphs/bollinger.yaml in out checkpoint \
        --schema "date timestamp, symbol string, price double" --watermark "3 days"

Everything that it knows is in the checkpoint. With --once it takes what is there and ends.
"""

import argparse
import sys

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import rtbot
from rtbot.core.errors import RtbotError
from spark_adapter import late_rows, reason, run_graph

PROVIDER = "spark.sql.streaming.stateStore.providerClass"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
CHANGELOG = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"


def arguments(given: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("graph", help="the graph file, on the driver")
    parser.add_argument("input", help="the folder into which CSV files come")
    parser.add_argument("output", help="the folder of Parquet to write")
    parser.add_argument("checkpoint", help="the folder of the state")
    parser.add_argument("--schema", required=True, help="the columns of the files")
    parser.add_argument("--watermark", required=True, help="how late a row may come")
    parser.add_argument("--once", action="store_true", help="take what is there, and end")
    return parser.parse_args(given)


def main(given: list[str] | None = None) -> None:
    """Run the stream."""
    options = arguments(given)
    try:
        graph = rtbot.load(options.graph)
        spark = SparkSession.builder.config(PROVIDER, ROCKSDB).config(CHANGELOG, "true")
        rows = spark.getOrCreate().readStream.schema(options.schema)
        out = run_graph(rows.csv(options.input, header=True), graph, watermark=options.watermark)
        query = (
            out.writeStream.option("checkpointLocation", options.checkpoint)
            .trigger(**{"availableNow": True} if options.once else {"processingTime": "10 seconds"})
            .start(options.output, format="parquet", queryName="rtbot")
        )
        query.awaitTermination()
    except (RtbotError, OSError, PySparkException) as error:
        sys.exit(reason(error) or str(error))
    print(f"late rows: {late_rows(query):,}")


if __name__ == "__main__":
    main()
