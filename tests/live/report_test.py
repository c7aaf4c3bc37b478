# SPDX-License-Identifier: GPL-2.0
"""A report says what the recording has: findings and figures as show --from, on a page that stands by itself."""
import re
import shutil
import tempfile

from lib.lab import *
from lib.page import Report, contrast, themes

need_root()
ODD = "q<&\"'>"
a = Namespace("rep")
b = Namespace("repodd")
nic = tap(a, "tap0", 2, "--napi", 1500, "198.18.0.2/16")
a.ip("neigh add 198.18.0.1 lladdr 02:00:00:00:00:01 dev tap0")
a.run("sysctl -qw net.ipv4.icmp_ratelimit=0")
nic("read on")
TAP = f"{a}/tap0"
DIR = tempfile.mkdtemp(prefix="nicprobe-report-")
atexit.register(sh, f"rm -rf {DIR}", check=False)
SENT = [100, 300]


def path(name):
    return os.path.join(DIR, name)


def send(counts, port=77):
    for queue, count in enumerate(counts):
        if count:
            nic(f"send {queue} {count} 200 dport={port}")
    nic("go")


def record(name, seconds, tick, where=TAP, pause=.1):
    """Records ten times a second, and calls `tick` each `pause`: where it is late, as often in all."""
    p = subprocess.Popen([NICPROBE, "record", path(name), where, "-i", ".1"], stderr=subprocess.PIPE, text=True)
    until(lambda: os.path.exists(path(name)) and os.path.getsize(path(name)) > 1000 or p.poll() is not None)
    began = time.monotonic()
    for n in range(round(seconds / pause)):
        tick()
        time.sleep(max(0, began + (n + 1) * pause - time.monotonic()))
    p.send_signal(signal.SIGINT)
    p.communicate(timeout=60)


def made(*files, out="page.html"):
    """The page of these, and what was said on stderr."""
    r = subprocess.run([NICPROBE, "report", *map(path, files), "-o", path(out)], capture_output=True, text=True,
                       timeout=120)
    if r.returncode:
        raise RuntimeError(f"report {files}: {r.stderr}")
    with open(path(out), encoding="utf-8") as f:
        return Report(f.read())


def shown(file, *args):
    r = subprocess.run([NICPROBE, "show", "--from", path(file), "-j", *args], capture_output=True, text=True, timeout=60)
    return json.loads(r.stdout)


def number(text):
    """12.35k packets/s: 12350"""
    m = re.match(r"([\d.]+)([kMG]?)", text)
    return float(m[1]) * {"": 1, "k": 1e3, "M": 1e6, "G": 1e9}[m[2]]


def test_page():
    done = []

    def tick():
        if not done:
            send(SENT)
            done.append(1)
    record("one", 1.5, tick)
    page, doc = made("one"), shown("one")
    same("the page is whole, and refers to nothing else", page.wrong(), [])
    same("findings: those of show --from, in order",
         [(s, i) for s, i, what in page.findings()],
         [(f["severity"], f["id"]) for f in doc["findings"] if f["follows"] is None])
    for (_, name, what), f in zip(page.findings(), [f for f in doc["findings"] if f["follows"] is None]):
        check(f"{name}: said as show says it", what.startswith(f["what"]), what)
    check("a finding is there", "udp-port-closed" in found(doc), str(found(doc)))
    counted = {}
    for label, value in page.cells("i0-pktsize", "rx-nic: packets by queue"):
        counted[label] = counted.get(label, 0) + 1
        counted["most", label] = max(counted.get(("most", label), 0), number(value.split(": ")[1]))
    same("each queue has its cells", sorted(k for k in counted if isinstance(k, str)), ["q0", "q1"])
    near = counted["most", "q1"] / counted["most", "q0"]
    check(f"queue 1 has three times the packets of queue 0 # {near:.3f}", abs(near - 3) < .02, str(counted))
    rows = {r["queue"]: r["packet_size_bytes"]["count"] for r in doc["meters"]["pktsize"] if r["point"] == "rx-nic"}
    same("what was sent is in the recording", rows, {0: 100, 1: 300})
    table = page.table("i0-pktsize")
    text = subprocess.run([NICPROBE, "show", "--from", path("one"), "pktsize"], capture_output=True, text=True,
                          env={**os.environ, "COLUMNS": "400"}).stdout
    cells = [c for row in table[1:] for c in row if c]
    check(f"the table has the cells of show's # {len(cells)}", len(cells) > 30 and all(c in text for c in cells),
          f"{[c for c in cells if c not in text]}\n{text}")
    check("drops are charted by reason", any("NO_SOCKET" in label + value for label, value in page.cells(
        "i0-drop", next(page.words(f.find("figcaption/b")) for f in page.section("i0-drop").iter("figure")))), "")
    check("events are a table", page.all("table[@class='events']") != [], "")


def test_events():
    def tick():
        send([3, 3])
        if not changed and time.monotonic() > begin + .3:
            a.ip("link set tap0 mtu 1450")
            a.ip("link set tap0 down")
            a.ip("link set tap0 up")
            a.ip("neigh replace 198.18.0.1 lladdr 02:00:00:00:00:01 dev tap0")
            changed.append(1)
    changed, begin = [], time.monotonic()
    record("events", 1.5, tick)
    page = made("events")
    kinds = [json.loads(line) for line in subprocess.run(
        [NICPROBE, "show", "--from", path("events"), "--events", "-j"], capture_output=True, text=True
    ).stdout.splitlines()]
    table = next(t for t in page.all("table") if t.get("class") == "events")
    same("all events are in the table, in order", [page.words(row.findall("td")[1]) for row in table.find("tbody")],
         [e["what"] for e in kinds])
    marks = {page.words(m) for m in page.all("path[@class='ev']")}
    wanted = [e["what"] for e in kinds if e["event"] in ("setting", "link")]
    check("changes of settings and link are marks", wanted and all(any(w in m for m in marks) for w in wanted),
          f"{marks}, not {wanted}")


def test_names():
    """Names of interfaces and qdiscs that are markup."""
    tap_odd = tap(b, "tap1", 1, "--napi", 1500, "198.19.0.2/16")
    b.ip("link set tap1 down")
    subprocess.run(["ip", "-n", str(b), "link", "set", "tap1", "name", ODD], check=True)
    subprocess.run(["ip", "-n", str(b), "link", "set", ODD, "up"], check=True)
    subprocess.run([NICPROBE, "attach", f"{b}/{ODD}"], check=True, capture_output=True)
    record("odd", .8, lambda: (tap_odd("send 0 5 100"), tap_odd("go")), f"{b}/{ODD}")
    page = made("odd")
    same("a name of markup: the page is whole", page.wrong(), [])
    same("and has the name as it is", page.words(page.section("i0").find("h2")), f"{b}/{ODD}")
    check("the name is markup nowhere", "q<&" not in page.text and "&lt;&amp;&quot;&#39;&gt;" in page.text, "")
    os.rename(path("odd"), path("<b>&.npr"))
    same("so is the name of a file", made("<b>&.npr").wrong(), [])
    subprocess.run([NICPROBE, "detach", f"{b}/{ODD}"], check=True, capture_output=True)


def test_two():
    def differ(page):
        text = page.words(page.section("i0-compare"))
        return int(re.search(r"(\d+) of (\d+) figures differ", text)[1]), text

    nr, text = differ(made("slow", "slow"))
    same("a file and itself: nothing differs", nr, 0)
    page = made("slow", "fast")
    same("two files: the page is whole", page.wrong(), [])
    nr, text = differ(page)
    check("the queue that is busier in one is told", "pktsize, rx-nic: packets by queue: q1" in text, text)
    check("the one that is not, is not", "pktsize, rx-nic: packets by queue: q0" not in text, text)
    sides = [s for s in page.section("i0-findings").iter("div") if s.get("class") == "side"]
    same("both stand side by side", ["A" in page.words(s.find("p/b")) for s in sides], [True, False])


def test_bad():
    whole = open(path("slow"), "rb").read()
    damaged = bytearray(whole)
    damaged[len(whole) // 2:len(whole) // 2 + 200] = bytes(200)
    for name, content in (("empty", b""), ("foreign", b"hello\n" * 99), ("cut", whole[:len(whole) * 2 // 3]),
                          ("damaged", bytes(damaged))):
        with open(path(name), "wb") as f:
            f.write(content)
    p = subprocess.Popen([NICPROBE, "record", path("single"), TAP, "-i", "100"], stderr=subprocess.PIPE)
    until(lambda: os.path.exists(path("single")) and os.path.getsize(path("single")) > 1000)
    p.kill()
    p.wait()
    for args, words in ((["empty"], "is empty"), (["foreign"], "not a recording"), (["none"], "No such file"),
                        (["slow", "foreign"], "not a recording"), (["single"], "one frame only"),
                        ([], "needs a recording"), (["slow", "slow", "slow"], "one recording or two"),
                        (["slow", "-o", path("slow")], "is the recording itself"),
                        (["slow", "-o", "/dev/full"], "No space left"),
                        (["slow", "-o", path("no/where.html")], "No such file"), (["slow", "-o", DIR], "directory"),
                        (["slow", "-j"], "report makes HTML")):
        r = subprocess.run([NICPROBE, "report", *(path(w) if w[0] not in "-/" else w for w in args)],
                           capture_output=True, text=True, cwd=DIR)
        check(f"report {' '.join(os.path.basename(w) for w in args)}: a sentence, and no page",
              r.returncode in (1, 2) and words in r.stderr + r.stdout and "<html" not in r.stdout, r.stderr)
    for name, words in (("cut", "is missing"), ("damaged", "is damaged")):
        page = made(name)
        check(f"{name}: the rest is shown, and it is said", words in page.words(page.root.find("body/header")) and
              page.all("svg") != [], page.words(page.root.find("body/header")))
    with open("/dev/full", "w") as full:
        r = subprocess.run([NICPROBE, "report", path("slow")], stdout=full, stderr=subprocess.PIPE, text=True)
    check("a full disk at stdout: a sentence", r.returncode == 1 and "No space left" in r.stderr, r.stderr)
    with open(path("keep.html"), "w") as f:
        f.write("before")
    r = subprocess.run(["sh", "-c", f"ulimit -f 8; trap '' XFSZ; exec {NICPROBE} report {path('slow')} -o {path('keep.html')}"],
                       capture_output=True, text=True)
    check("a page that does not fit: what was there stays, and nothing besides",
          r.returncode == 1 and open(path("keep.html")).read() == "before" and
          not [f for f in os.listdir(DIR) if f.startswith("keep.html.")], r.stderr)
    out = subprocess.run([NICPROBE, "report", path("slow")], capture_output=True, text=True).stdout
    check("into a pipe it writes the page", out.startswith("<!DOCTYPE html>") and out.endswith("</html>\n"), out[:80])


def test_contrast():
    css = made("slow").css
    for theme, c in themes(css).items():
        pairs = [("fg", "bg"), ("dim", "bg"), ("link", "bg"), ("fg", "soft"), ("dim", "soft"), ("ok", "bg"), ("fg", "okb"),
                 ("ok", "okb"), *((f"s{i}", "bg") for i in range(3)), *((f"s{i}", f"s{i}b") for i in range(3)),
                 *(("fg", f"s{i}b") for i in range(3))]
        low = [f"{x} on {y}: {contrast(c[x], c[y]):.2f}" for x, y in pairs if contrast(c[x], c[y]) < 4.5]
        same(f"{theme}: texts have a contrast of 4.5", low, [])
        low = [f"{x}: {contrast(c[x], c['soft']):.2f}" for x in ("l0", "l1", "l2", "l3", "ev", "s0", "s1", "s2")
               if contrast(c[x], c["soft"]) < 3]
        same(f"{theme}: lines have one of 3", low, [])
        steps = [contrast(c[f"c{i}"], c["bg"]) for i in range(1, 9)]
        check(f"{theme}: each colour of heat stands out more than the one before", steps == sorted(steps), str(steps))


def width_of(page, window, dark):
    """How wide the page is in Chromium, whose window has that width."""
    probe = ("<script>document.title=[document.documentElement.scrollWidth,innerWidth,"
             "getComputedStyle(document.body).backgroundColor].join(' ')</script></body>")
    with open(path("probe.html"), "w", encoding="utf-8") as f:
        f.write(page.text.replace("</body>", probe))
    # Its own window is 500 pixels wide at least: the page is in a frame of the width.
    with open(path("frame.html"), "w", encoding="utf-8") as f:
        f.write(f"<iframe src='probe.html' style='width:{window}px;height:900px;border:0' onload='document.title="
                "this.contentDocument.title'></iframe>")
    got = subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files",
                          f"--user-data-dir={DIR}/chromium", "--virtual-time-budget=4000",
                          *(["--blink-settings=preferredColorScheme=0"] if dark else []), "--dump-dom",
                          "--window-size=1600,1000", f"file://{path('frame.html')}"],
                         capture_output=True, text=True, timeout=120, env={**os.environ, "HOME": DIR}).stdout
    m = re.search(r"<title>(\d+) (\d+) rgb\((\d+), (\d+), (\d+)\)</title>", got)
    return [int(x) for x in m.groups()] if m else got[:300]


def test_chromium():
    if not shutil.which("chromium"):
        skip("report in a browser", "there is no chromium; try: sudo make deps-dev")
        return
    for files in (("slow",), ("slow", "fast")):
        page = made(*files)
        for window in (400, 1400):
            for dark in (False, True):
                name = f"{len(files)} file{'s' * (len(files) > 1)} at {window} pixels, {'dark' if dark else 'light'}"
                got = width_of(page, window, dark)
                if not check(f"{name}: the page is shown", len(got) == 5, str(got)):
                    continue
                check(f"{name}: nothing is wider than the window", got[0] <= got[1] == window, str(got))
                check(f"{name}: its colours", (sum(got[2:]) < 200) == dark, str(got))


def printed(name, *files):
    """(text, brightness of the first sheet from 0 to 255) of the page on paper, as Chromium prints it."""
    made(*files, out=f"{name}.html")
    pdf = path(f"{name}.pdf")
    subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={DIR}/chromium",
                    "--no-pdf-header-footer", f"--print-to-pdf={pdf}", f"file://{path(name)}.html"],
                   capture_output=True, timeout=120, env={**os.environ, "HOME": DIR}, check=True)
    grey = subprocess.run(["pdftoppm", "-gray", "-r", "20", "-f", "1", "-l", "1", pdf], capture_output=True, check=True).stdout
    sheet = grey.split(b"\n", 3)[3]
    return " ".join(sh(f"pdftotext {pdf} -").split()), sum(sheet) / len(sheet)


def test_paper():
    if not (shutil.which("chromium") and shutil.which("pdftotext")):
        skip("report on paper", "there is no chromium, or no pdftotext; try: sudo make deps-dev")
        return
    # to a port on which nothing listens
    record("closed", 2, lambda: (nic("send 0 100 300 v4 udp"), nic("go")))
    one, light = printed("one", "closed")
    check("paper: the findings, and what they mean", "What udp-port-closed means" in one and "It is said when" in one, one[:800])
    check("paper: the events are open", "recording begins" in one, one[:800])
    check("paper: nothing that is closed, and could not be opened", "The numbers" not in one, one[-800:])
    check(f"paper: white # {light:.0f}", light > 200, light)
    two, _ = printed("two", "slow", "closed")
    check("paper: two files", "slow" in two and "What udp-port-closed means" in two, two[:800])


nicprobe("attach", TAP)
# Each round has several sends, and there are many: enough to judge, whoever else wants the CPU.
record("slow", 5, lambda: send([6, 2]), pause=.02)
record("fast", 5, lambda: send([6, 12]), pause=.02)
each(test_page, test_events, test_names, test_two, test_bad, test_contrast, test_chromium, test_paper)
nicprobe("detach", TAP)
finish()
