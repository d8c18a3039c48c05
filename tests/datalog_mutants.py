"""Mutants of the evaluation of Datalog: each rule of counting, undone."""

from tests.mutation import Mutant

UPDATES = "rtbot/datalog/evaluation/stratum_updates.py"
RUNNER = "rtbot/datalog/evaluation/version_runner.py"
ROWS = "rtbot/datalog/evaluation/kernels/ranked_rows.py"
GROUPS = "rtbot/datalog/evaluation/group_updates.py"
FORMS = "rtbot/datalog/evaluation/rule_forms.py"
PLANS = "rtbot/datalog/evaluation/rule_versions.py"


def _datalog(place: str, old: str, new: str, nth: int | None = None) -> Mutant:
    return Mutant(place, old, new, ("datalog trials",), nth=nth)


DATALOG = [
    # A derivation is lost, or gained, once, at the first literal that changes.
    _datalog(f"{UPDATES}::StratumUpdate._lose", "HELD if k < place else BEFORE", "BEFORE"),
    _datalog(f"{UPDATES}::StratumUpdate._lose", "HELD if k < place else BEFORE", "AFTER"),
    _datalog(f"{UPDATES}::StratumUpdate._gain", "HELD if k < place else AFTER", "AFTER"),
    _datalog(f"{UPDATES}::StratumUpdate._lose_by_wave", "AFTER if k < place else LEFT", "AFTER"),
    _datalog(f"{UPDATES}::StratumUpdate._lose_by_wave", "AFTER if k < place else LEFT", "LEFT"),
    _datalog(f"{UPDATES}::StratumUpdate._follow", "rank - 1 if k < place else rank", "rank"),
    # A negation changes with the first and the last row of its key.
    _datalog(f"{UPDATES}::StratumUpdate._find_trigger", "len(columns) == relation.width", "True"),
    _datalog(f"{UPDATES}::StratumUpdate._find_trigger", "(went, came)", "(came, went)"),
    # Ranks compare inside a stratum only.
    _datalog(
        f"{RUNNER}::RuleRunner._join",
        "self._tracks and step.literal in self.inner",
        "self._tracks",
    ),
    # What earlier strata make possible is counted for rows that are there too.
    _datalog(f"{ROWS}::add_derivation", "rows[base + width + 1] += COUNT", "pass"),
    # Only derivations from lower ranks count: others would prove themselves.
    _datalog(f"{ROWS}::add_derivation", "highest < rows[base + width]", "True"),
    _datalog(f"{ROWS}::lose_derivations", "highest >= rows[base + width]", "False"),
    _datalog(f"{ROWS}::add_derivation", "state & OUT == 0", "True"),
    # Facts are one more support, and removals come first.
    _datalog(f"{ROWS}::take_out", "(FACT | FIXED)", "FACT"),
    _datalog(f"{ROWS}::take_out", "rows[base + width + 1] >= COUNT", "False"),
    _datalog(f"{ROWS}::bring_back", "(FACT | FIXED)", "FIXED"),
    _datalog(f"{ROWS}::empty_rows", "WAS | FACT | FIXED | LOGGED", "WAS | FACT | LOGGED"),
    # What is taken out is derived again from what is left.
    _datalog(f"{UPDATES}::StratumUpdate._bring_back", "(IN, 0, -1, rank - 1)", "(IN, 0, -1, -1)"),
    _datalog(f"{UPDATES}::StratumUpdate._restart", "self._go_on()", "pass"),
    # An epoch is taken back whole.
    _datalog(f"{ROWS}::log_row", "rows[base + width]", "0", nth=0),
    _datalog(f"{ROWS}::roll_back", "meta[ALIVE] = meta[BASE_ALIVE]", "pass"),
    # Aggregates.
    _datalog(
        f"{GROUPS}::GroupUpdate._update_groups", "self._put(self._find_rows(keys)[0], FACT)", "pass"
    ),
    _datalog(f"{GROUPS}::GroupUpdate.add_asked", "self.group.how in WITH_ZERO", "False"),
    _datalog(f"{UPDATES}::StratumUpdate._update", "self.groups", "False"),
    _datalog(f"{FORMS}::_Divider._replace_aggregate", "aggregate.how not in WITH_ZERO", "True"),
    _datalog(f"{FORMS}::_Divider._ground", "each.relation not in self.stratum.relations", "True"),
    _datalog(f"{FORMS}::_name_wildcards", "argument is None", "False"),
    # A failure counts where all literals hold that do not need its value.
    _datalog(f"{PLANS}::VersionPlanner.plan_check", "self._level(place) < level", "False"),
    _datalog(
        f"{RUNNER}::RuleRunner._check_failed", "self._go(plan, steps, depth + 1, len(rows))", "pass"
    ),
]
