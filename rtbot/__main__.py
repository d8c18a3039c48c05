"""`python -m rtbot` is the command line."""

from rtbot.cli import main

main()
