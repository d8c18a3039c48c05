"""`python -m tests.mistakes` writes the page of mistakes as the messages are now."""

import os

from tests.mistakes.cases import PAGE, page

os.environ["RTBOT_INTERPRET"] = "1"
PAGE.write_text(page(), encoding="utf-8")
