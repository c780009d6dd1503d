#!/usr/bin/env python3
"""Prints the tree of crates/*/src with the first sentence of every file's documentation.

--write  puts the tree into docs/internals/architecture.md, between its two marks
--check  fails if the page differs from the tree, or if a file has no first `//!` line
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/internals/architecture.md"
MARKS = "<!-- files -->", "<!-- /files -->"
CRATES = ["linalg", "graph", "io", "core", "fft", "plot", "page", "cli", "py"]  # a crate uses those before it
WIDTH = 30


def first_sentence(path):
    """The first sentence of the `//!` lines at the head of a file."""
    paragraph = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("//!") or not line[3:].strip():
            break
        paragraph.append(line[3:].strip())
    if not paragraph:
        sys.exit(f"{path.relative_to(ROOT)} does not start with a `//!` line; add one sentence that says what it is")
    sentence = re.split(r"\.(?:\s|$)", " ".join(paragraph), maxsplit=1)[0].rstrip(":,")
    return re.sub(r"\[([^\]]*)\](?:\([^)]*\))?", r"\1", sentence) if "[`" in sentence else sentence


def lines(folder, depth):
    """One line per file, files first; `mod.rs` speaks for its folder."""
    for path in sorted(folder.glob("*.rs"), key=lambda path: (path.name != "lib.rs", path.name)):
        if path.name != "mod.rs":
            yield f"{'  ' * depth + path.name:{WIDTH}}{first_sentence(path)}"
    for inner in sorted(path for path in folder.iterdir() if path.is_dir() and any(path.rglob("*.rs"))):
        own = inner / "mod.rs"
        about = first_sentence(own) if own.exists() else ""
        yield f"{'  ' * depth + inner.name + '/':{WIDTH}}{about}".rstrip()
        yield from lines(inner, depth + 1)


def main():
    crates = ["\n".join([f"crates/{name}/src", *lines(ROOT / "crates" / name / "src", 1)]) for name in CRATES]
    tree = "```text\n" + "\n\n".join(crates) + "\n```"
    page = PAGE.read_text(encoding="utf-8")
    before, after = page.split(MARKS[0])[0], page.split(MARKS[1])[-1]
    wanted = f"{before}{MARKS[0]}\n{tree}\n{MARKS[1]}{after}"
    if "--write" in sys.argv:
        PAGE.write_text(wanted, encoding="utf-8")
    elif "--check" in sys.argv:
        if page != wanted:
            sys.exit("the files in docs/internals/architecture.md are not those of crates/*/src; run scripts/files.py --write")
    else:
        print(tree)


main()
