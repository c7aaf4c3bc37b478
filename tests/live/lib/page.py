# SPDX-License-Identifier: GPL-2.0
"""Reads a page of `nicprobe report`: strictly, as XML and as HTML; and the contrast of its colours."""
import html.parser
import re
import xml.etree.ElementTree as ET

VOID = {"meta", "br", "hr", "img", "input", "link"}


class Strict(html.parser.HTMLParser):
    """Complains about elements that are not closed in order, and ids that are there twice."""
    def __init__(self):
        super().__init__()
        self.open, self.ids, self.wrong, self.links = [], set(), [], []

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name == "id" and value in self.ids:
                self.wrong.append(f"id {value} twice")
            if name == "id":
                self.ids.add(value)
            if name in ("href", "src"):
                self.links.append(value)
            if name.startswith("on"):
                self.wrong.append(f"{name} is a script")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}> where another is open")


class Report:
    def __init__(self, text):
        self.text = text
        self.root = ET.fromstring(text.split("\n", 1)[1])	# without the doctype it is XML
        self.css = self.root.find("head/style").text

    def all(self, path):
        return self.root.findall(".//" + path)

    def words(self, element):
        return re.sub(r"\s+", " ", "".join(element.itertext())).strip()

    def findings(self):
        """[(severity, id, what)] in order."""
        return [(self.words(f.find("h3/span")), f.find("h3/code").text,
                 self.words(next(p for p in f.findall("p") if p.get("class") == "what")))
                for f in self.all("article")]

    def section(self, name):
        return next(s for s in self.all("section") if s.get("id") == name)

    def cells(self, section, title):
        """[(label, text of its number)] of the heat map of that title in a section."""
        for figure in self.section(section).iter("figure"):
            if self.words(figure.find("figcaption/b")) == title:
                return [tuple(t.text.split(" ", 1)) for t in figure.iter("title") if ": " in t.text and
                        not t.get("id")]
        return []

    def table(self, section):
        """Rows of the first table of a section: lists of cells."""
        table = next(self.section(section).iter("table"))
        return [[self.words(c) for c in row] for row in table.iter("tr")]

    def wrong(self):
        """What is not as it should be."""
        p = Strict()
        p.feed(self.text)
        wrong = p.wrong + [f"{tag} is not closed" for tag in p.open]
        wrong += [f"link to {link}" for link in p.links if not link.startswith("#") or link[1:] not in p.ids]
        wrong += [f"it has {word}" for word in ("http:", "https:", "url(", "<script", "@import", "javascript:", "//")
                  if word in re.sub(r"<(code|td|dd|b|p)\b[^>]*>[^<]*", "", self.text)]
        for svg in self.all("svg"):
            ids = svg.get("aria-labelledby", "").split()
            if svg.get("role") != "img" or len(ids) != 2 or not all(
                    e is not None and e.text for e in (svg.find("title"), svg.find("desc"))) or \
                    ids != [svg.find("title").get("id"), svg.find("desc").get("id")]:
                wrong.append("an image without title and description")
        for div in self.all("div"):
            if div.get("class") == "scroll" and div.get("tabindex") != "0":
                wrong.append("a table that scrolls and cannot be reached by keys")
        return wrong


def themes(css):
    """{light, dark: {name: colour}}"""
    roots = re.findall(r":root\{([^}]*)\}", css)
    light = dict(re.findall(r"--(\w+):(#[0-9a-f]{6})", roots[0]))
    return {"light": light, "dark": {**light, **dict(re.findall(r"--(\w+):(#[0-9a-f]{6})", roots[1]))}}


def contrast(one, other):
    """As WCAG 2.1 has it."""
    def luminance(colour):
        parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
        r, g, b = (c / 12.92 if c <= .03928 else ((c + .055) / 1.055) ** 2.4 for c in parts)
        return .2126 * r + .7152 * g + .0722 * b
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + .05) / (low + .05)
