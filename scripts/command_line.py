#!/usr/bin/env python3
"""Writes docs/reference/command-line.md from the program's own help.

    scripts/command_line.py [--program PATH]            write the page
    scripts/command_line.py [--program PATH] --check    exit 1 if the page differs

The program is the newest of target/release/eigenfold and target/debug/eigenfold if none is named.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reference" / "command-line.md"

HEAD = """# Command line

<!-- Written by scripts/command_line.py from the program's own help: do not edit. -->

`eigenfold COMMAND --help` prints what this page shows; `eigenfold COMMAND -h` prints one line per flag. The parameters of the methods
are flags of `embed` and `compare`; `eigenfold methods NAME` and the [pages of the methods](../methods/index.md) list them.

| command | purpose |
|---|---|
"""

TAIL = """## Exit codes

| code | meaning | files |
|---|---|---|
| 0 | done; warnings are printed on standard error | all written |
| 1 | a numerical failure, or a lack of memory or disk space | none written |
| 2 | bad usage or bad input; another flag or file helps | none written |

Every error is one line on standard error: the fact with its numbers, then the way out. Ctrl-C ends an optimization early: its current
embedding is written, and the program then ends by the signal (130 in a shell).

## Environment

| variable | effect |
|---|---|
| `RAYON_NUM_THREADS` | the number of threads, unless `--threads` is given |
| `NO_COLOR`, `CLICOLOR` | help without colors |
| `TERM`, `COLUMNS` | the progress line and the width of the help follow the terminal |

Results do not depend on the environment.

## Shell completions

```console
eigenfold completions bash > ~/.local/share/bash-completion/completions/eigenfold
eigenfold completions zsh > ~/.zfunc/_eigenfold
eigenfold completions fish > ~/.config/fish/completions/eigenfold.fish
```

PowerShell and Elvish are supported too. Completions include the parameters of the methods.

## Manual pages

```console
eigenfold man | man -l -
eigenfold man --dir ~/.local/share/man/man1
```

The second command writes `eigenfold.1` and one page per command. The manual pages include the parameters of the methods.
"""


def program() -> Path:
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    built = [path for path in (target / "release" / "eigenfold", target / "debug" / "eigenfold") if path.is_file()]
    if not built:
        sys.exit("no program; build it with cargo build -p eigenfold-cli, or name it with --program")
    return max(built, key=lambda path: path.stat().st_mtime)


def help_of(path: Path, *words: str) -> str:
    # Without a terminal the help is 100 columns wide.
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    run = subprocess.run(
        [path, *words, "--help"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True, env=environment
    )
    return "\n".join(line.rstrip() for line in run.stdout.splitlines())


def commands(text: str) -> list[tuple[str, str]]:
    """The names and purposes in the list of commands of the program's help."""
    found: list[tuple[str, str]] = []
    inside = False
    for line in text.splitlines():
        if line == "Commands:":
            inside = True
        elif inside and not line.strip():
            break
        elif inside and line.startswith("   "):
            found[-1] = (found[-1][0], f"{found[-1][1]} {line.strip()}")
        elif inside:
            name, purpose = line.split(maxsplit=1)
            found.append((name, purpose))
    return [(name, purpose) for name, purpose in found if name != "help"]


def page(path: Path) -> str:
    listed = commands(help_of(path))
    text = HEAD + "".join(f"| [`{name}`](#{name}) | {purpose} |\n" for name, purpose in listed) + "\n"
    for name, _ in listed:
        text += f"## {name}\n\n```text\n{help_of(path, name)}\n```\n\n"
    return text + TAIL


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path)
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    text = page((args.program or program()).resolve())
    if args.check:
        if not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != text:
            sys.exit(f"{PAGE.relative_to(ROOT)} differs from the program's help; run scripts/command_line.py")
        return
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
