# %% [markdown]
"""Bollinger bands on Spark, and the proof that they are those of a local run, to the last bit.

Run it cell by cell in an editor that knows `# %%`, or as a whole: `python graphs/spark/notebook.py`
from the folder above `graphs`. It needs `pip install 'rtbot-graphs[spark]'` and Java.
"""

# %% A session. Its workers use this Python, and its timestamps are in UTC.
import os
import sys

from pyspark.sql import SparkSession

import rtbot
from spark_adapter import register, run_graph

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
spark = SparkSession.builder.config("spark.sql.session.timeZone", "UTC").getOrCreate()

# %% The data: three years of daily prices of five shares.
prices = spark.read.csv("graphs/data/prices.csv", header=True, inferSchema=True)
prices.show(3)

# %% The graph, per symbol. Nothing runs yet, but a mistake in the graph would be told here.
bands = run_graph(prices, "graphs/bollinger.yaml", key="symbol", time="date")
bands.printSchema()

# %% Now it runs.
bands.orderBy("symbol", "date").show(3)

# %% The same, without Spark.
local = rtbot.load("graphs/bollinger.yaml").run("graphs/data/prices.csv")

# %% Are they equal? A graph of inputs alone makes a result of a table, which has a digest.
same = rtbot.load({"inputs": dict.fromkeys(local, "number"), "outputs": list(local)})
there = same.run(bands.orderBy("date").toArrow(), key="symbol")
print("equal bit for bit:", there.digest() == local.digest())

# %% And a picture.
there.plot("out/spark.svg", title="Bollinger bands, from Spark")

# %% In SQL, with other parameters: a table function.
wide = {"window": 50, "width": 3}
register(spark, "bands", "graphs/bollinger.yaml", like=prices, time="date", params=wide)
prices.createOrReplaceTempView("prices")
outside = spark.sql("""
    SELECT symbol, count_if(price > upper) AS above, count_if(price < lower) AS below
    FROM bands(TABLE(prices) PARTITION BY symbol ORDER BY date) JOIN prices USING (symbol, date)
    GROUP BY symbol ORDER BY symbol
""")
outside.show()

# %% Several inputs: a DataFrame for each. Without a key it is one series.
sensors = {
    name: spark.read.csv(f"graphs/data/{name}.csv", header=True, inferSchema=True)
    for name in ("inlet", "outlet")
}
drift = run_graph(sensors, "graphs/two_sensors.yaml", time="time")
print("hours of alert:", drift.where("alert").count())
