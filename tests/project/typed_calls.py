"""Calls as users write them, for mypy alone: it has to find every mistake that is marked here."""

import rtbot

graph = rtbot.load("graph.yaml", window=20)
graph = rtbot.load(graph, window=30)
result = graph.run("a.csv", key="symbol", time="ts", inputs={"price": "close"}, sort=True)
graph.run({"price": [(1, 2.0)]}, ["site", "room"], tap=["ma"], late="drop", lateness="5s")
with graph.start("symbol", queue_limit=10, compiled=False) as session:
    session.push({"price": []}, sort=True)
graph.compare("a.csv", seed=1, spark=False)

graph.run("a.csv", kye="symbol")  # type: ignore[call-arg]
graph.start(tme="ts")  # type: ignore[call-arg]
graph.run("a.csv", inputs=["close"])  # type: ignore[arg-type]
graph.run("a.csv", duplicates="lst")  # type: ignore[arg-type]
graph.compare("a.csv", rnus=1)  # type: ignore[call-arg]
