#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""tests/run itself, on small tests made here: what it counts, what it repeats, and what it reports as left behind."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = {
    "live/good_test.py": "print('ok good: a'); print('skip good: b: why')",
    "live/again_test.py": "print('# made again: a poll ended'); print('# made again: a poll ended'); print('ok again: a')",
    "live/bad_test.py": "print('not ok bad: a: why'); raise SystemExit(1)",
    "live/dies_test.py": "raise SystemExit(3)",
    "unit_test.py": "print('not ok unit: a: why'); raise SystemExit(1)",
    "live/leaves_test.py": """
import os, subprocess
if os.fork() == 0:
    subprocess.run(["ip", "netns", "add", f"nq{os.getpid()}-left"], check=True)
    os._exit(0)
os.wait()
print('ok leaves: a')""",
    "live/waits_test.py": """
import os, subprocess, time
if os.fork() == 0:
    subprocess.run(["ip", "netns", "add", f"nq{os.getpid()}-left"], check=True)
    os._exit(0)
os.wait()
open("made", "w").close()
time.sleep(100)""",
    "live/process_test.py": """
import os, subprocess
subprocess.Popen([os.environ["NIC"], "20"], start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print('ok process: a')""",
    # of the two lanes: each waits until the other one runs
    **{f"{file}.py": f"""
import os, time
open("{name}", "w").close()
end = time.monotonic() + 5
while not os.path.exists("{other}") and time.monotonic() < end:
    time.sleep(.01)
print("{name}: at once" if os.path.exists("{other}") else "{name}: alone")
print("ok {name}: a")""" for file, name, other in (("live/pins_test", "pins", "docs"), ("docs_test", "docs", "pins"))},
    # only its second try, beside which nothing runs, is good
    "live/said_test.py": """
import os
print("ok said: a" if os.path.exists("said") else "not ok said: a: beside others")
open("said", "w").close()""",
    "situations/three_test.py": """
import os, sys
for name in sys.argv[1:] or ("a", "b_2", "c"):
    good = name != "b_2" or os.path.exists("tried")
    print(f"{'ok' if good else 'not ok'} {name}: finds it")
    print(f"ok {name}: silenced")
open("tried", "w").close()""",
    **{f"live/flaky{n}_test.py": f"""
import os
if not os.path.exists("flaky{n}"):
    open("flaky{n}", "w").close()
    print('not ok flaky: a: once')
    raise SystemExit(1)
print('ok flaky: a')""" for n in (1, 2, 3)},
}
failures = 0


def check(name, condition, why):
    global failures
    failures += not condition
    print(f"ok {name}" if condition else f"not ok {name}: {why!r}")


def run(*tests, end=None):
    """Its status and lines; `end`: a signal to the whole group, once the test has made a file "made"."""
    with tempfile.TemporaryDirectory() as tree:
        os.makedirs(f"{tree}/tests/live")
        os.makedirs(f"{tree}/tests/situations")
        shutil.copy(f"{HERE}/run", f"{tree}/tests/run")
        shutil.copy(shutil.which("sleep"), f"{tree}/nic")
        for name, text in TESTS.items():
            with open(f"{tree}/tests/{name}", "w", encoding="ascii") as f:
                f.write(text)
        p = subprocess.Popen([f"{tree}/tests/run", *tests], stdout=subprocess.PIPE, text=True, start_new_session=True,
                             env={**os.environ, "RETRIES": "2", "NAMES": "nq", "NIC": f"{tree}/nic", "NICPROBE": f"{tree}/nicprobe"})
        until = time.monotonic() + 20
        while end and not os.path.exists(f"{tree}/made") and time.monotonic() < until:
            time.sleep(.05)
        if end:
            os.killpg(p.pid, end)
        out = p.communicate(timeout=100)[0]
        return p.returncode, out.splitlines()


def ends(name, got, status, *last):
    check(f"run: {name}", (got[0], got[1][-2:]) == (status, list(last)), got)


ends("one that is good", run("live/good_test.py"), 0, "0 retried", "1 passed, 0 failed, 1 skipped")
ends("one that fails twice", run("live/bad_test.py"), 1, "1 retried", "0 passed, 1 failed, 0 skipped")
ends("one that dies", run("live/dies_test.py"), 1, "1 retried", "0 passed, 1 failed, 0 skipped")
ends("no second try for what is the same each time", run("unit_test.py"), 1, "0 retried", "0 passed, 1 failed, 0 skipped")
ends("two second tries pass", run("live/flaky1_test.py", "live/flaky2_test.py", "live/good_test.py"), 0,
     "2 retried", "3 passed, 0 failed, 1 skipped")
got = run("live/flaky1_test.py", "live/good_test.py")
check("run: and why is told at the end", got[1][-4] == "# first try of live/flaky1_test.py: not ok flaky: a: once", got)
got = run("live/again_test.py", "live/bad_test.py")
check("run: what is made again within a test is counted", "2 made again" in got[1], got)
got = run("situations/three_test.py")
ends("of situations that which failed is made again", got, 0, "1 retried", "6 passed, 0 failed, 0 skipped")
check("run: and no other is", sum("ok a: finds it" in line for line in got[1]) == 1, got)
ends("of one the functions that are named", run("situations/three_test.py:a,c"), 0, "0 retried", "4 passed, 0 failed, 0 skipped")
got = run(*(f"live/flaky{n}_test.py" for n in (1, 2, 3)))
ends("three fail", got, 1, "3 retried", "3 passed, 1 failed, 0 skipped")
check("run: three fail: they are named", "not ok second tries: 3, and 2 are allowed: live/flaky1_test.py live/flaky2_test.py "
      "live/flaky3_test.py" in got[1], got)
got = run("live/good_test.py", "live/pins_test.py", "docs_test.py")
if len(os.sched_getaffinity(0)) > 1:
    check("run: two lanes at once", got[0] == 0 and {"pins: at once", "docs: at once"} <= set(got[1]), got)
ends("what lanes counted is in the sum", got, 0, "0 retried", "3 passed, 0 failed, 1 skipped")
check("run: what a test of a lane says stays together", got[1].index("# live/pins_test.py") + 2 == got[1].index("ok pins: a"), got)
got = run("live/pins_test.py", "docs_test.py", "live/said_test.py")
ends("one that fails in a lane has its second try afterwards", got, 0, "1 retried", "3 passed, 0 failed, 0 skipped")
check("run: and the first try is told", "# once more: not ok said: a: beside others" in got[1], got)
if os.geteuid():
    print("skip run: what is left behind: needs root")
else:
    got = run("live/leaves_test.py")
    said = [line for line in got[1] if line.startswith("not ok live/leaves_test.py: it left behind: namespace nq")]
    check("run: a namespace left behind is named", said and got[0] == 1, got)
    name = said[0].split()[-1] if said else "?"
    check("run: and taken away", not os.path.exists(f"/run/netns/{name}"), name)
    got = run("live/waits_test.py", end=signal.SIGTERM)
    said = [line for line in got[1] if line.startswith("not ok live/waits_test.py: it left behind: namespace nq")]
    check("run: ended by a signal it names and takes away what was left, too", got[0] == 130 and said and
          not os.path.exists(f"/run/netns/{said[0].split()[-1]}"), got)
    got = run("live/process_test.py")
    check("run: so is a process", got[0] == 1 and any(line.startswith(
        "not ok live/process_test.py: it left behind: process ") for line in got[1]), got)
sys.exit(1 if failures else 0)
