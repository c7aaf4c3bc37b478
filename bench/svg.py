# SPDX-License-Identifier: GPL-2.0
"""Plots as plain SVG: panels of bars and of lines, side by side in one figure."""
import math
from html import escape

# a colour-blind safe palette
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"]
GREY = "#777777"
WIDTH, GAP = 480, 30		# width of a panel; gap between panels
TITLE, LEGEND, AXIS = 28, 20, 40


def text(x, y, words, anchor="start", size=12, colour="#222222", weight="normal"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" '
            f'font-weight="{weight}" fill="{colour}">{escape(str(words))}</text>')


def line(x1, y1, x2, y2, colour="#dddddd", width=1, dashes=""):
    dashes = f' stroke-dasharray="{dashes}"' if dashes else ""
    return (f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
            f'stroke-width="{width}"{dashes}/>')


def ticks(low, high, count=5):
    """Round numbers from low to high."""
    span = (high - low) or 1
    step = 10 ** math.floor(math.log10(span / count))
    step *= next(m for m in (1, 2, 5, 10) if span / (step * m) <= count)
    first = math.ceil(low / step - 1e-9)
    return [n * step for n in range(first, math.floor(high / step + 1e-9) + 1)]


def short(value):
    """A number for an axis: 12k, 3.5M."""
    for unit, name in (1e6, "M"), (1e3, "k"):
        if abs(value) >= unit:
            return f"{value / unit:g}{name}"
    return f"{value:g}"


def three(value):
    """Three significant digits, or all digits of the integer part."""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def legend(names):
    out, x = [], 0
    for name, colour in zip(names, COLOURS):
        out.append(f'<rect x="{x}" y="{TITLE + 2}" width="10" height="10" fill="{colour}"/>')
        out.append(text(x + 15, TITLE + 11, name, size=11))
        x += 30 + 6.4 * len(name)
    return out


class Bars:
    """rows: (label, [(value, low, high) or None, one per series]). `bar`: draw a limit there."""
    HEIGHT, LABEL = 15, 215

    def __init__(self, title, unit, rows, series=(), bar=None):
        self.title, self.unit, self.rows, self.bar = title, unit, rows, bar
        self.series = list(series)
        self.each = max(len(values) for _, values in rows) * self.HEIGHT + 8
        self.top = TITLE + (LEGEND if self.series else 0) + 4
        self.height = self.top + len(rows) * self.each + AXIS

    def draw(self):
        given = [v for _, values in self.rows for v in values if v]
        high = max([v[2] for v in given] + [v[0] for v in given] + [self.bar or 0]) * 1.02
        low = min([0] + [v[1] for v in given])
        right = WIDTH - 45
        scale = (right - self.LABEL) / ((high - low) or 1)
        bottom = self.height - AXIS

        def at(value):
            return self.LABEL + (value - low) * scale

        out = [text(0, 16, self.title, size=14, weight="bold"), *legend(self.series)]
        for t in ticks(low, high):
            out += [line(at(t), self.top, at(t), bottom),
                    text(at(t), bottom + 15, short(t), "middle", 11)]
        out.append(text((self.LABEL + right) / 2, bottom + 32, self.unit, "middle", 11, GREY))
        for n, (label, values) in enumerate(self.rows):
            y = self.top + n * self.each + 4
            out.append(text(self.LABEL - 8, y + len(values) * self.HEIGHT / 2 + 4, label, "end"))
            for k, value in enumerate(values):
                if value:
                    out += self.one(at, y + k * self.HEIGHT, value, COLOURS[k])
        out.append(line(at(0), self.top, at(0), bottom, GREY))
        if self.bar is not None:
            out += [line(at(self.bar), self.top, at(self.bar), bottom, "#222222", 1.5, "5 3"),
                    text(at(self.bar), self.top - 2, f"at most {self.bar:g}", "middle", 11)]
        return out

    def one(self, at, y, value, colour):
        mid, low, high = value
        x, w = min(at(0), at(mid)), abs(at(mid) - at(0))
        out = [f'<rect x="{x:.1f}" y="{y + 1:.1f}" width="{w:.1f}" height="{self.HEIGHT - 3}" '
               f'fill="{colour}"/>']
        if high > low:
            middle = y + self.HEIGHT / 2 - .5
            out += [line(at(low), middle, at(high), middle, "#222222"),
                    *(line(at(end), middle - 3, at(end), middle + 3, "#222222")
                      for end in (low, high))]
        end = max(at(mid), at(high), at(0))
        return out + [text(end + 5, y + self.HEIGHT - 4, three(mid), size=11)]


class Lines:
    """series: {name: [(x, y)]}; the x axis is logarithmic, by powers of two."""
    height = TITLE + LEGEND + 250 + AXIS
    LEFT = 55

    def __init__(self, title, x_name, unit, series, bar=None):
        self.title, self.x_name, self.unit, self.series, self.bar = title, x_name, unit, series, bar

    def draw(self):
        points = [p for line_ in self.series.values() for p in line_]
        xs = sorted({x for x, _ in points})
        high = max([y for _, y in points] + [self.bar or 0]) * 1.05 or 1
        top, bottom, right = TITLE + LEGEND + 22, self.height - AXIS, WIDTH - 25
        first, last = math.log2(xs[0]), math.log2(xs[-1])

        def at(x, y):
            along = (math.log2(x) - first) / ((last - first) or 1)
            return self.LEFT + along * (right - self.LEFT), bottom - y / high * (bottom - top)

        out = [text(0, 16, self.title, size=14, weight="bold"), *legend(self.series),
               text(self.LEFT - 45, top - 8, self.unit, size=11, colour=GREY)]
        for t in ticks(0, high):
            y = at(xs[0], t)[1]
            out += [line(self.LEFT, y, right, y), text(self.LEFT - 7, y + 4, short(t), "end", 11)]
        for x in xs:
            out += [line(at(x, 0)[0], bottom, at(x, 0)[0], bottom + 4, GREY),
                    text(at(x, 0)[0], bottom + 17, x, "middle", 11)]
        out.append(text((self.LEFT + right) / 2, bottom + 33, self.x_name, "middle", 11, GREY))
        if self.bar is not None:
            y = at(xs[0], self.bar)[1]
            out += [line(self.LEFT, y, right, y, "#222222", 1.5, "5 3"),
                    text(right, y - 4, f"at most {self.bar:g}", "end", 11)]
        for (_, line_), colour in zip(self.series.items(), COLOURS):
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (at(*p) for p in line_))
            out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" '
                       'stroke-width="2"/>')
            out += [f'<circle cx="{at(*p)[0]:.1f}" cy="{at(*p)[1]:.1f}" r="3" fill="{colour}"/>'
                    for p in line_]
        return out


def figure(panels, columns=2):
    """An SVG document."""
    out, y, width = [], 15, 0
    for n in range(0, len(panels), columns):
        row = panels[n:n + columns]
        for k, panel in enumerate(row):
            x = 20 + k * (WIDTH + GAP)
            width = max(width, x + WIDTH)
            out.append(f'<g transform="translate({x},{y})">' + "\n".join(panel.draw()) + "</g>")
        y += max(panel.height for panel in row) + 15
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{y:.0f}" '
            f'viewBox="0 0 {width} {y:.0f}" font-family="DejaVu Sans, Arial, sans-serif">\n'
            f'<rect width="{width}" height="{y:.0f}" fill="#ffffff"/>\n' + "\n".join(out) +
            "\n</svg>\n")
