#!/usr/bin/env python3
"""Prints the public names of the library `eigenfold`, from what `cargo doc` made: items, and their fields, variants and methods.

--write  puts them into docs/internals/api.txt
--check  fails if that file differs
"""
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SNAPSHOT = ROOT / "docs/internals/api.txt"
DOCS = ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "doc/eigenfold"
KINDS = {"constant": "const", "struct": "struct", "enum": "enum", "trait": "trait", "fn": "fn", "type": "type", "macro": "macro"}


def members(page):
    """Fields, variants and methods of an item, without those of the traits that it implements."""
    own = re.split(r'id="(?:trait|synthetic|blanket)-implementations"|id="implementors"', page)[0]
    found = re.findall(r'id="(structfield|variant|method|tymethod|associatedconstant)\.([A-Za-z0-9_]+)"', own)
    return sorted({name for kind, name in found if kind != "variant"}), sorted({name for kind, name in found if kind == "variant"})


def lines():
    pages = re.findall(r'<a href="((?:\w+/)*(\w+)\.(\w+)\.html)">', (DOCS / "all.html").read_text(encoding="utf-8"))
    for path, kind, name in sorted(pages, key=lambda page: (page[0].count("/"), page[0].rsplit("/", 1)[0] if "/" in page[0] else "", page[2])):
        prefix = "::".join(path.split("/")[:-1])
        full = f"{prefix}::{name}" if prefix else name
        parts, variants = members((DOCS / path).read_text(encoding="utf-8"))
        shown = [f"[{' | '.join(variants)}]"] if variants else []
        yield " ".join([KINDS[kind], full] + shown + ([f"{{ {', '.join(parts)} }}"] if parts else []))


def main():
    if not (DOCS / "all.html").exists():
        sys.exit("there is no documentation; run cargo doc --workspace --no-deps first")
    text = "\n".join(lines()) + "\n"
    if "--write" in sys.argv:
        SNAPSHOT.write_text(text, encoding="utf-8")
    elif "--check" in sys.argv:
        if text != SNAPSHOT.read_text(encoding="utf-8"):
            sys.exit("the public names of the library changed; if this is wanted, run scripts/api.py --write and commit it")
    else:
        print(text, end="")


main()
