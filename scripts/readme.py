#!/usr/bin/env python3
"""Runs the commands of Markdown pages and compares what they print.

    readme.py PAGE…       with mksum in PATH

A fenced block that begins with ```console is a session in an empty folder: lines after `$ ` are commands, the lines up
to the next one what they print on both outputs. `…` stands for anything within a line, a line of `…` for any lines.
"""
import pathlib, re, subprocess, sys, tempfile


def sessions(page):
    return re.findall(r"^```console\n(.*?)^```$", page.read_text(), re.M | re.S)


def agrees(expected, found):
    lines = [r"(?:.*\n)*?" if line == "…" else re.escape(line).replace("…", ".*") + r"\n" for line in expected.splitlines()]
    return re.fullmatch("".join(lines), found if found.endswith("\n") or not found else found + "\n") is not None


def run(page, session, number):
    failures = 0
    steps = [step.split("\n", 1) for step in re.split(r"^\$ ", session, flags=re.M)[1:]]
    with tempfile.TemporaryDirectory() as folder:
        for command, expected in steps:
            # A command goes on after a backslash.
            while command.endswith("\\"):
                more, expected = expected.split("\n", 1)
                command = command[:-1] + more.lstrip("> ")
            done = subprocess.run(["bash", "-c", command], cwd=folder, text=True, errors="replace",
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
        print(f"{page}: no session")
        failed += 1
    for number, session in enumerate(found, 1):
        steps, failures = run(page, session, number)
        total, failed = total + steps, failed + failures
print(f"{total - failed} commands as told, {failed} not")
sys.exit(bool(failed))
