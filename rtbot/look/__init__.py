"""What a file is: a guess with reasons, from its bytes, and the options that read it."""

from rtbot.look.file_facts import FileFacts
from rtbot.look.look_at_file import look_at_file, look_at_sample

__all__ = ["FileFacts", "look_at_file", "look_at_sample"]
