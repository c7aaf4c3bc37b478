# SPDX-License-Identifier: GPL-2.0
"""Is stdin JSON, OpenMetrics, or a table that fits? The last line of stderr says why not.

`check.py tables FILE…`: tables named CASE.WIDTH[.ascii|.brief]; a line is printed for each, "ok table/CASE…".
"""
import json
import os
import re
import sys


def once(pairs):
    keys = [key for key, _ in pairs]
    assert len(keys) == len(set(keys)), f"a key stands twice: {keys}"
    return dict(pairs)


def check_json(text):
    assert text.count("\n") == 1 and text.endswith("\n"), "one object, one line"
    document = json.loads(text, object_pairs_hook=once)
    keys = [k for k in document if k not in ("sample", "thinned", "budget", "state", "hw", "meter_seconds", "may_lack",
                                             "earlier")]
    measured = ["hooks", "seconds", "interval", "meters", "absent", "lost"]
    want = ["nicprobe", "interface", "name", "ifindex", "netns", "netns_name", "driver", "queues", "hooks", "time",
            "seconds", "interval", "meters", "absent", "lost", "findings"]
    if "meters" not in document:    # nothing but what the interface is
        assert document["hw"], "neither meters nor hw"
        want = [k for k in want if k not in measured]
    assert keys == want, keys
    for found in document["findings"]:
        check_finding(document, found)
    for rows in document.get("meters", {}).values():
        for row in rows:
            for figure in row.values():
                if isinstance(figure, dict) and "le" in figure:
                    assert sum(figure["le"].values()) == figure["count"], f"slots: {row}"


def check_finding(document, found):
    assert list(found) == ["id", "severity", "what", "means", "queue", "others", "since", "harm", "evidence",
                           "threshold", "try", "fix", "changes", "follows"], list(found)
    assert found["what"] and found["means"].endswith("."), found["means"]
    assert "meters" not in document or found["since"] < document["time"], found["since"]
    assert "meters" in document or found["since"] is None, "since when, and nothing was measured"
    for limit in found["threshold"]:
        assert sorted(limit) == ["text", "value"] and limit["value"] > 0 and limit["text"], limit


def check_openmetrics(text):
    from prometheus_client.openmetrics.parser import text_string_to_metric_families
    families = list(text_string_to_metric_families(text))
    assert families, "nothing in it"
    for family in families:
        assert family.documentation, f"{family.name} has no help"


def check_table(text, width, ascii_only=False):
    assert text.endswith("\n\n"), "no empty line at the end"
    for line in text.split("\n"):
        assert len(line) <= width, f"{len(line)} columns, not {width}: {line}"
        assert line == line.rstrip(), f"spaces at the end: {line}"
        assert not re.search(r"[\x00-\x1f\x7f-\x9f]", line), f"control characters: {line!r}"
        assert not ascii_only or line.isascii(), f"not ASCII: {line}"


def check_tables(paths):
    """Returns whether all of them fit."""
    good = True
    for path in paths:
        name = os.path.basename(path)
        try:
            with open(path, "rb") as f:
                check_table(f.read().decode("utf-8"), int(name.split(".")[1]), name.endswith(".ascii"))
            print(f"ok table/{name}")
        except (AssertionError, UnicodeDecodeError) as e:
            print(f"not ok table/{name}: {e}")
            good = False
    return good


if sys.argv[1] == "tables":
    sys.exit(not check_tables(sys.argv[2:]))
text = sys.stdin.buffer.read().decode("utf-8")
if sys.argv[1] == "json":
    check_json(text)
elif sys.argv[1] == "openmetrics":
    check_openmetrics(text)
else:
    check_table(text, int(sys.argv[2]), "ascii" in sys.argv[3:])
