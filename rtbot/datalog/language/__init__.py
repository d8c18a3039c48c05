"""The language of Datalog programs: text to a checked program."""

from rtbot.datalog.language.reading_programs import read_program

__all__ = ["read_program"]
