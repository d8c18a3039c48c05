"""What is installed is what is here."""

from pathlib import Path

import pytest
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder

ROOT = Path(__file__).parents[2]
PACKAGES = ["rtbot", "spark_adapter"]


def here(folders):
    """Files below folders, without what Python writes beside them."""
    paths = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file()]
    return {str(path.relative_to(ROOT)) for path in paths if path.parent.name != "__pycache__"}


@pytest.mark.parametrize(
    ("builder", "folders"),
    [(WheelBuilder, PACKAGES), (SdistBuilder, [*PACKAGES, ".ci", "docs", "graphs", "tests"])],
)
def test_a_distribution_has_every_file(builder, folders):
    packed = {file.distribution_path for file in builder(str(ROOT)).recurse_included_files()}
    missing = here(folders) - packed
    assert missing == set(), "is it ignored by git?"


def test_the_wheel_has_nothing_else():
    packed = {file.distribution_path for file in WheelBuilder(str(ROOT)).recurse_included_files()}
    assert packed <= here(PACKAGES)
    assert {f"{package}/py.typed" for package in PACKAGES} <= packed
