# SPDX-License-Identifier: GPL-2.0
"""The recipes of docs/contributing.md: read from the page, and applied to a copy of the tree."""
import os
import re
from collections import namedtuple

# `after` None: the text is a whole new file. `line`: the text is a line of its own, else it goes behind `after`.
Step = namedtuple("Step", "file text after line")
CREATE = re.compile(r"Create `([^`]+)`:")
ADD = re.compile(r"In `([^`]+)`, after (the line )?`([^`]+)`, add (the line )?`([^`]+)`\.")


def read(path):
    """{heading: [Step]}, of those headings that have any. Raises ValueError for a step that cannot be read."""
    recipes, heading, new, lines = {}, None, None, iter(open(path, encoding="utf-8").read().splitlines())
    for line in lines:
        if line.startswith("```"):
            code = "".join(f"{more}\n" for more in iter(lines.__next__, "```"))
            if (line == "```c") != bool(new):
                raise ValueError(f"{heading}: {'no code follows ' + new if new else 'a block of C that no step creates'}")
            if new:
                recipes.setdefault(heading, []).append(Step(new, code, None, False))
            new = None
        elif new and line:
            raise ValueError(f"{heading}: the code of {new} does not follow it")
        elif line.startswith("#"):
            heading = line.lstrip("# ")
        elif line.startswith("Create `"):
            new = _match(CREATE, line)[1]
        elif line.startswith("In `"):
            file, whole, after, alone, text = _match(ADD, line).groups()
            if bool(whole) != bool(alone):
                raise ValueError(f"{heading}: a line goes after a line: {line}")
            recipes.setdefault(heading, []).append(Step(file, text, after, bool(whole)))
    return recipes


def _match(form, line):
    found = form.fullmatch(line)
    if not found:
        raise ValueError(f"this is no step: {line}")
    return found


def _places(step, text):
    """Where in the text the step adds, as slices of it: one, if the recipe is right."""
    if step.line:
        return [m.span() for m in re.finditer(rf"^[ \t]*{re.escape(step.after)}$", text, flags=re.M)]
    return [m.span() for m in re.finditer(re.escape(step.after), text)]


def wrong(step, tree):
    """Why the step cannot be done in this tree; None: it can."""
    path = os.path.join(tree, step.file)
    if step.after is None:
        if os.path.exists(path):
            return f"{step.file} exists"
        return None if os.path.isdir(os.path.dirname(path)) else f"there is no folder for {step.file}"
    if not os.path.exists(path):
        return f"{step.file} does not exist"
    with open(path, encoding="utf-8") as f:
        nr = len(_places(step, f.read()))
    return None if nr == 1 else f"{step.file} has {step.after} {nr} times"


def apply(steps, tree):
    """Does the steps in this tree. Raises ValueError for one that cannot be done."""
    for step in steps:
        why, path = wrong(step, tree), os.path.join(tree, step.file)
        if why:
            raise ValueError(why)
        text = step.text
        if step.after is not None:
            with open(path, encoding="utf-8") as f:
                old = f.read()
            start, end = _places(step, old)[0]
            indent = re.match(r"[ \t]*", old[start:end])[0]
            text = old[:end] + (f"\n{indent}{step.text}" if step.line else f" {step.text}") + old[end:]
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
