#!/usr/bin/env python3
"""Runs the examples of the pages and compares what the pages quote.

    python3 scripts/blocks.py [--program PATH] [--list] [PAGE ...]

Every page runs in a fresh directory, block by block (CONTRIBUTING.md has the rules for writers):

sh        run by `bash -e` with the program on the path; must succeed, unless the quoted output has an error line
python    run in one namespace per page; blocks with >>> are doctests
text      after one of these, in the same section: lines of its output, in order; `...` stands for any text
json      after a block that prints JSON: every key shown must be there with its value; a list may end with "..."

Other kinds (console, rust, formulas under a heading of their own) are not run. Times and memory are not compared, numbers are
compared to one part in 500 or half a unit of the last digit shown, so that another processor's rounding passes and a stale figure
does not. Python blocks need the package on PYTHONPATH.
"""

import argparse
import contextlib
import doctest
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap
import time
import traceback

ROOT = pathlib.Path(__file__).resolve().parent.parent
SECONDS = 600  # more is a command that waits for something
FENCE = re.compile(r"^(?P<indent>[ \t]*)(?P<ticks>```+)(?P<kind>[^\s`]*)[^\n]*\n(?P<body>.*?)^(?P=indent)(?P=ticks)[ \t]*$", re.M | re.S)
MEASURED = re.compile(r"\d[\d,]*(\.\d+)? ?(ms|s|min|kB|MB|GB)\b")
NUMBER = re.compile(r"(?<![\w.])[-−]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?(?![\w])")


class Failed(Exception):
    """What a page says and what happened differ."""


def pages():
    """The pages whose blocks are run."""
    skipped = ("docs/decisions/", "docs/papers/", "docs/internals/", "docs/gallery/")
    found = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [page for page in found if not str(page.relative_to(ROOT)).startswith(skipped)]


def blocks(text):
    """The fenced blocks of a page: kind, code, line and the number of its section."""
    headings = [found.start() for found in re.finditer(r"^#+ .*$", FENCE.sub(lambda found: " " * len(found[0]), text), re.M)]
    for found in FENCE.finditer(text):
        code = textwrap.dedent(found["body"])
        section = sum(start < found.start() for start in headings)
        yield found["kind"], code, text[: found.start()].count("\n") + 1, section


def value(number):
    return float(number.replace(",", "").replace("−", "-"))


def near(shown, actual):
    """Whether a number shown in a page is the one that was computed."""
    if shown == actual:
        return True
    mantissa, _, exponent = shown.replace(",", "").partition("e")
    digits = len(mantissa.partition(".")[2])
    unit = 10.0 ** (int(exponent or 0) - digits)
    difference = abs(value(shown) - value(actual))
    return difference <= max(0.51 * unit if digits or exponent else 0.0, abs(value(shown)) / 500)


def same_line(shown, actual):
    """Whether a line of output is the one shown, but for times, memory, rounding and what `...` stands for."""
    shown, actual = (re.sub(r"\s+", " ", MEASURED.sub("TIME", line)).strip() for line in (shown, actual))
    pattern = "".join(
        "(.*)" if part == "..." else f"({NUMBER.pattern})" if NUMBER.fullmatch(part) else re.escape(part)
        for part in re.split(rf"(\.\.\.|{NUMBER.pattern})", shown)
        if part is not None
    )
    found = re.fullmatch(pattern, actual)
    if not found:
        return False
    wanted = [part for part in re.findall(rf"\.\.\.|{NUMBER.pattern}", shown)]
    return all(part == "..." or near(part, got) for part, got in zip(wanted, found.groups()))


def compare_text(shown, output):
    lines = iter(output.splitlines())
    for wanted in shown.splitlines():
        if wanted.strip() in ("", "..."):
            continue
        if not any(same_line(wanted, line) for line in lines):
            raise Failed(f"the output has no such line (in this order):\n  {wanted}\nthe output is\n{textwrap.indent(output, '  ')}")


def compare_json(shown, actual, path="$"):
    if isinstance(shown, dict) and isinstance(actual, dict):
        for key, inner in shown.items():
            if key not in actual:
                raise Failed(f"{path} has no {key!r}; it has {', '.join(actual)}")
            compare_json(inner, actual[key], f"{path}.{key}")
    elif isinstance(shown, list) and isinstance(actual, list):
        cut = bool(shown) and shown[-1] == "..."
        kept = shown[:-1] if cut else shown
        if len(kept) > len(actual) or (not cut and len(kept) != len(actual)):
            raise Failed(f"{path} has {len(actual)} entries, the page shows {len(kept)}")
        for at, inner in enumerate(kept):
            compare_json(inner, actual[at], f"{path}[{at}]")
    elif isinstance(shown, Number) and isinstance(actual, (int, float)) and not isinstance(actual, bool):
        measured = re.search(r"seconds|memory|\.time", path)
        if not measured and not near(shown.text, repr(actual)):
            raise Failed(f"{path} is {actual}, the page shows {shown.text}")
    elif shown != "..." and shown != actual:
        raise Failed(f"{path} is {actual!r}, the page shows {shown!r}")


class Number:
    """A number of a page's JSON with the digits it is shown with."""

    def __init__(self, text):
        self.text = text


def shell(code, program, directory):
    """Runs a block of commands: its exit code, what it printed, and its standard output alone."""
    code = code.replace("cargo run --release -- ", "eigenfold ")
    environment = {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}", "NO_COLOR": "1", "COLUMNS": "200"}
    apart = "--json -" in code
    done = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", code],
        cwd=directory, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE if apart else subprocess.STDOUT, text=True, timeout=SECONDS,
    )
    return done.returncode, done.stdout + (done.stderr or ""), done.stdout


def python(code, namespace, name, line):
    """Runs a block of Python: what it printed."""
    printed = io.StringIO()
    if ">>>" in code:
        test = doctest.DocTestParser().get_doctest(code, namespace, name, name, line)
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
        runner.run(test, out=printed.write, clear_globs=False)
        namespace.update(test.globs)
        if runner.failures:
            raise Failed(printed.getvalue())
        return ""
    with contextlib.redirect_stdout(printed):
        exec(compile("\n" * line + code, name, "exec"), namespace)
    return printed.getvalue()


def run(page, program):
    """Runs one page; raises `Failed` with the line that does not hold."""
    page, program = pathlib.Path(page).resolve(), pathlib.Path(program).resolve()
    found = list(blocks(page.read_text(encoding="utf-8")))
    namespace, before = {"__name__": "__main__"}, None
    home = os.getcwd()
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        try:
            for at, (kind, code, line, section) in enumerate(found):
                try:
                    if kind == "sh":
                        quoted = [shown for other, shown, _, where in found[at + 1 : at + 2] if other == "text" and where == section]
                        fails = any(re.match(r"eigenfold: |error", shown) for text in quoted for shown in text.splitlines())
                        status, output, plain = shell(code, program, directory)
                        if (status != 0) != fails:
                            raise Failed(f"exit code {status}:\n{textwrap.indent(output, '  ')}")
                        before = section, output, plain
                    elif kind == "python":
                        output = python(code, namespace, page.name, line)
                        before = section, output, output
                    elif kind == "text" and before and before[0] == section:
                        compare_text(code, before[1])
                    elif kind == "json" and before and before[0] == section and before[2].lstrip().startswith(("{", "[")):
                        shown = json.loads(code, parse_float=Number, parse_int=Number)
                        compare_json(shown, json.loads(before[2]))
                except Failed as failed:
                    raise Failed(f"{page}:{line}: {failed}") from None
                except Exception as error:
                    raise Failed(f"{page}:{line}: {''.join(traceback.format_exception_only(error))}{textwrap.indent(code, '  ')}") from None
        finally:
            os.chdir(home)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=os.environ.get("EIGENFOLD_PROGRAM", str(ROOT / "target/release/eigenfold")))
    parser.add_argument("--list", action="store_true", help="print the blocks instead of running them")
    parser.add_argument("page", nargs="*")
    arguments = parser.parse_args()
    failures, ran = 0, 0
    for page in [pathlib.Path(page) for page in arguments.page] or pages():
        if arguments.list:
            for kind, code, line, section in blocks(page.read_text(encoding="utf-8")):
                print(f"{page}:{line}: [{kind}] section {section}: {code.splitlines()[0] if code else ''}")
            continue
        began = time.monotonic()
        try:
            run(page, arguments.program)
            ran += sum(kind in ("sh", "python") for kind, *_ in blocks(page.read_text(encoding="utf-8")))
            print(f"{time.monotonic() - began:7.1f} s  {page}", flush=True)
        except Failed as failed:
            failures += 1
            print(f"FAILED  {failed}\n", flush=True)
    if not arguments.list:
        print(f"{ran} blocks of passing pages were run, {failures} pages failed")
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
