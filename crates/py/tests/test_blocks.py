"""The script that runs the pages: it accepts rounding, and refuses stale figures, failing commands and missing keys."""

import json
import shutil
import sys

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
import blocks  # noqa: E402

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")


@pytest.mark.parametrize(
    "shown, actual, same",
    [
        ("objective 0.735", "objective 0.735", True),
        ("objective 7.3476e-1", "objective 7.3475e-1", True),
        ("ended at 1.41", "ended at 0.885", False),
        ("-k 25 connects it, 0.00 s (kd-tree)", "-k 25 connects it, 0.31 s (kd-tree)", True),
        ("-k 25 connects it", "-k 47 connects it", False),
        ("values −245, 932", "values -245, 932", True),
        ("1,797 points ... in 2 dimensions", "1,797 points of 64 features in 2 dimensions", True),
        ("1,797 points", "1,797 points of 64 features", False),
        ("  indented   line", "indented line", True),
    ],
)
def test_a_line_is_compared_up_to_rounding_and_times(shown, actual, same):
    assert blocks.same_line(shown, actual) is same


@pytest.mark.parametrize(
    "shown, problem",
    [
        ('{"a": [1, 2.5, "..."]}', None),
        ('{"a": [1, 2.5, 3], "b": {"c": "x"}}', None),
        ('{"a": [1, 2.4, 3]}', "2.5"),
        ('{"a": [1, 2.5]}', "3 entries"),
        ('{"d": 1}', "no 'd'"),
        ('{"b": {"c": "y"}}', "'x'"),
    ],
)
def test_json_is_compared_key_by_key(shown, problem):
    compare = lambda: blocks.compare_json(  # noqa: E731
        json.loads(shown, parse_float=blocks.Number, parse_int=blocks.Number), {"a": [1, 2.5, 3], "b": {"c": "x"}}
    )
    if problem is None:
        return compare()
    with pytest.raises(blocks.Failed, match=problem):
        compare()


@pytest.mark.parametrize(
    "page, problem",
    [
        ("```sh\necho one; echo two\n```\n\n```text\none\ntwo\n```\n", None),
        ("```sh\necho one; echo two\n```\n\n```text\ntwo\none\n```\n", "no such line"),
        ("```sh\nls nowhere.csv\n```\n", "exit code"),
        ("```sh\necho 'eigenfold: no'; false\n```\n\n```text\neigenfold: no\n```\n", None),
        ("```sh\necho 'eigenfold: no'\n```\n\n```text\neigenfold: no\n```\n", "exit code 0"),
        ("```sh\necho one\n```\n\n## Another section\n\n```text\na formula\n```\n", None),
        ("- a list\n\n  ```sh\n  echo one > file\n  ```\n\n```python\nprint(open('file').read().strip())\n```\n\n```text\none\n```\n", None),
        ("```python\n>>> 1 + 1\n3\n```\n", "Expected"),
        ("```python\nnothing_of_this_name\n```\n", "NameError"),
        ("```console\nls nowhere.csv\n```\n", None),
    ],
)
def test_the_blocks_of_a_page_are_run(page, problem, tmp_path):
    file = tmp_path / "page.md"
    file.write_text("# Page\n\n" + page)
    if problem is None:
        return blocks.run(file, sys.executable)
    with pytest.raises(blocks.Failed, match=problem):
        blocks.run(file, sys.executable)
