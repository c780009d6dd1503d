#!/usr/bin/env python3
"""No module of the library may depend, however indirectly, on one that depends on it.

Reads which top-level modules of crates/core/src name each other (tests and comments aside) and fails with the cycle if
there is one. With --show it prints the layers, lowest first.
"""

import re
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent / "crates/core/src"


def without_tests(text: str) -> str:
    """The text without comments and without its tests, `#[cfg(any(test, ...))] mod tests { ... }`."""
    text = re.sub(r"//[^\n]*", "", text)
    start = re.search(r"#\[cfg\(any\(test, [^\n]*\]\s*(?:#\[[^\n]*\]\s*)*(?:pub\(crate\) )?mod \w+ \{", text)
    return text[: start.start()] if start else text


def leaves(tree: str) -> list[str]:
    """The paths of a use tree: a::{b, c::d} is a::b and a::c::d."""
    tree = tree.strip()
    if "{" not in tree:
        return [tree]
    head, inside = tree[: tree.index("{")], tree[tree.index("{") + 1 : tree.rindex("}")]
    parts, depth, last = [], 0, 0
    for at, letter in enumerate(inside + ","):
        depth += (letter == "{") - (letter == "}")
        if letter == "," and depth == 0:
            parts.append(inside[last:at])
            last = at + 1
    return [head + leaf for part in parts if part.strip() for leaf in leaves(part)]


def named(text: str) -> set[str]:
    """The top-level modules that a text names."""
    paths = [leaf for use in re.findall(r"\buse (crate::[^;]*);", text) for leaf in leaves(use)]
    paths += re.findall(r"crate::\w+", re.sub(r"\buse crate::[^;]*;", "", text))
    return {path.split("::")[1].strip() for path in paths if path.startswith("crate::") and "::" in path}


def graph() -> dict[str, set[str]]:
    """Every top-level module with those it names."""
    edges: dict[str, set[str]] = {}
    for file in sorted(SOURCE.rglob("*.rs")):
        parts = file.relative_to(SOURCE).with_suffix("").parts
        if parts[-1] == "tests" or parts == ("lib",):
            continue
        edges.setdefault(parts[0], set()).update(named(without_tests(file.read_text())) - {parts[0]})
    return {module: uses & edges.keys() for module, uses in edges.items()}


def cycle(edges: dict[str, set[str]]) -> list[str]:
    """One cycle, or nothing."""
    done: set[str] = set()

    def visit(module: str, path: list[str]) -> list[str]:
        if module in path:
            return path[path.index(module) :] + [module]
        if module in done:
            return []
        for used in sorted(edges[module]):
            if found := visit(used, path + [module]):
                return found
        done.add(module)
        return []

    return next((found for module in sorted(edges) if (found := visit(module, []))), [])


def layers(edges: dict[str, set[str]]) -> list[list[str]]:
    """The modules, each in the lowest layer above all that it names."""
    left, found = dict(edges), []
    while left:
        layer = sorted(module for module, uses in left.items() if not uses & left.keys())
        found.append(layer)
        left = {module: uses for module, uses in left.items() if module not in layer}
    return found


def main() -> int:
    edges = graph()
    if found := cycle(edges):
        print("modules depend on each other in a circle: " + " -> ".join(found))
        return 1
    if "--show" in sys.argv:
        for number, layer in enumerate(layers(edges)):
            print(f"{number:2}  {' '.join(layer)}")
    print(f"{len(edges)} modules, no circle among them")
    return 0


if __name__ == "__main__":
    sys.exit(main())
