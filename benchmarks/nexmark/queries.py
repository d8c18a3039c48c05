"""The queries of Nexmark in our SQL, which is DuckDB's; windows are functions of a time in ms.

They are those that Flink's variant of the benchmark has, with windows of 10 s.
"""

DAY = 86_400_000

WINNING = """
    SELECT a.id, a.seller, a.category, a.expires, max(b.price) AS final
    FROM auction a JOIN bid b ON a.id = b.auction AND b.date_time BETWEEN a.date_time AND a.expires
    GROUP BY a.id, a.seller, a.category, a.expires"""

RANKS = (
    ("", ""),
    ("rank1_", "price < 10000"),
    ("rank2_", "price >= 10000 AND price < 1000000"),
    ("rank3_", "price >= 1000000"),
)


def filter_counts(what: dict[str, str]) -> str:
    """Return counts for each range of prices: {name: what is counted}."""
    return ",\n    ".join(
        f"count({counted}){f' FILTER (WHERE {condition})' if condition else ''} AS {rank}{name}"
        for name, counted in what.items()
        for rank, condition in RANKS
    )


DISTINCT_COUNTS = filter_counts(
    {"bids": "*", "bidders": "DISTINCT bidder", "auctions": "DISTINCT auction"}
)

QUERIES = {
    "q0": "SELECT auction, bidder, price, date_time, extra FROM bid",
    "q1": "SELECT auction, bidder, 0.908 * price AS price, date_time, extra FROM bid",
    "q2": "SELECT auction, price FROM bid WHERE auction % 123 = 0",
    "q3": """
    SELECT p.name, p.city, p.state, a.id
    FROM auction a JOIN person p ON a.seller = p.id
    WHERE a.category = 10 AND p.state IN ('OR', 'ID', 'CA')""",
    "q4": f"SELECT category, avg(final) AS price FROM ({WINNING}) w GROUP BY category",
    "q5": """
    WITH counts AS (
        SELECT auction, start, count(*) AS num
        FROM (SELECT auction, hop(date_time, 2000, 10000) AS start FROM bid) w
        GROUP BY auction, start)
    SELECT c.auction, c.start, c.num
    FROM counts c JOIN (SELECT start, max(num) AS most FROM counts GROUP BY start) m
    ON c.start = m.start AND c.num >= m.most""",
    "q6": f"""
    SELECT id, seller, avg(final) OVER (
        PARTITION BY seller ORDER BY expires, id ROWS BETWEEN 9 PRECEDING AND CURRENT ROW) AS price
    FROM ({WINNING}) w""",
    "q7": """
    SELECT b.auction, b.bidder, b.price, b.date_time, b.extra
    FROM (SELECT *, tumble(date_time, 10000) AS start FROM bid) b
    JOIN (SELECT tumble(date_time, 10000) AS start, max(price) AS most
          FROM bid GROUP BY tumble(date_time, 10000)) m
    ON b.start = m.start AND b.price = m.most""",
    "q8": """
    SELECT p.id, p.name, p.start
    FROM (SELECT DISTINCT id, name, tumble(date_time, 10000) AS start FROM person) p
    JOIN (SELECT DISTINCT seller, tumble(date_time, 10000) AS start FROM auction) a
    ON p.id = a.seller AND p.start = a.start""",
    "q9": """
    SELECT id, item, description, initial_bid, reserve, date_time, expires, seller, category, extra,
        bidder, price, bid_time, bid_extra
    FROM (
        SELECT a.*, b.bidder, b.price, b.date_time AS bid_time, b.extra AS bid_extra,
            row_number() OVER (PARTITION BY a.id ORDER BY b.price DESC, b.date_time,
                               b.bidder, b.extra) AS place
        FROM auction a JOIN bid b
        ON a.id = b.auction AND b.date_time BETWEEN a.date_time AND a.expires) w
    WHERE place <= 1""",
    "q15": f"""
    SELECT date_time // {DAY} AS day,
    {DISTINCT_COUNTS}
    FROM bid GROUP BY date_time // {DAY}""",
    "q16": f"""
    SELECT channel, date_time // {DAY} AS day, max(date_time % {DAY} // 60000) AS minute,
    {DISTINCT_COUNTS}
    FROM bid GROUP BY channel, date_time // {DAY}""",
    "q17": f"""
    SELECT auction, date_time // {DAY} AS day,
    {filter_counts({"bids": "*"})},
    min(price) AS least, max(price) AS most, avg(price) AS average, sum(price) AS total
    FROM bid GROUP BY auction, date_time // {DAY}""",
    "q18": """
    SELECT auction, bidder, price, channel, url, date_time, extra
    FROM (SELECT *, row_number() OVER (PARTITION BY bidder, auction ORDER BY date_time DESC,
              price, channel, url, extra) AS place FROM bid) w
    WHERE place <= 1""",
    "q19": """
    SELECT * FROM (
        SELECT *, row_number() OVER (PARTITION BY auction ORDER BY price DESC, bidder, date_time,
            channel, url, extra) AS place FROM bid) w
    WHERE place <= 10""",
    "q20": """
    SELECT b.auction, b.bidder, b.price, b.channel, b.url, b.date_time AS bid_time,
        b.extra AS bid_extra, a.item, a.description, a.initial_bid, a.reserve, a.date_time,
        a.expires, a.seller, a.category, a.extra
    FROM bid b JOIN auction a ON b.auction = a.id
    WHERE a.category = 10""",
}
"""The queries by their names."""
