#!/usr/bin/env python3
"""Runs the commands of Markdown pages and compares their output.

    readme.py PAGE…       with mksum in PATH

A fenced block that begins with ```console is a session in an empty directory: lines that begin with `$ ` are commands, and
the lines up to the next command are their expected output on stdout and stderr. `…` matches any text within a line, and a
line of `…` matches any number of lines.
"""
import pathlib
import re
import subprocess
import sys
import tempfile


def sessions(page):
    return re.findall(r"^```console\n(.*?)^```$", page.read_text(), re.M | re.S)


def agrees(expected, found):
    lines = [r"(?:.*\n)*?" if line == "…" else re.escape(line).replace("…", ".*") + r"\n" for line in expected.splitlines()]
    return re.fullmatch("".join(lines), found if found.endswith("\n") or not found else found + "\n") is not None


def run(page, session, number):
    failures = 0
    steps = [step.split("\n", 1) for step in re.split(r"^\$ ", session, flags=re.M)[1:]]
    with tempfile.TemporaryDirectory() as folder:
        for step in steps:
            command, expected = step
            # A command continues after a backslash.
            while command.endswith("\\"):
                more, expected = expected.split("\n", 1)
                command = command[:-1] + more.lstrip("> ")
            done = subprocess.run(["bash", "-c", command], check=False, cwd=folder, text=True, errors="replace",
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
            if not agrees(expected, done.stdout):
                failures += 1
                print(f"{page}, session {number}: {command}\n--- expected\n{expected}--- found\n{done.stdout}---")
    return len(steps), failures


total = failed = 0
for name in sys.argv[1:]:
    page = pathlib.Path(name)
    found = sessions(page)
    if not found:
        print(f"{page}: no console session")
        failed += 1
    for number, session in enumerate(found, 1):
        steps, failures = run(page, session, number)
        total, failed = total + steps, failed + failures
print(f"{total - failed} commands passed, {failed} failed")
sys.exit(bool(failed))
