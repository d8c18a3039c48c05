"""One module per command of `rtbot`; each has a `command`."""
