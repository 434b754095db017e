"""The figure of README.md: how many times as good as the best other lock ondeck is, at every point of each record.

An SVG with a background of its own, so that it can be read on a light and on a dark page.
"""

import html
import math

from records import in_words

# Pixels of the drawing.
WIDTH, LABELS, RIGHT = 900, 332, 26
ABOVE, STEP, BELOW = 94, 19, 50
# Between the panels of two machines.
BETWEEN = 44

# What is the same on a light and a dark page, then the colours of either.
STYLE = """
text { font: 13px system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; }
.title { font-size: 16px; font-weight: 600; }
.end { text-anchor: end; } .middle { text-anchor: middle; }
circle { stroke-width: 1.5; }
"""
# A hollow dot, within the quartiles, stands last, because it is as specific as the colours.
COLOURS = """.paper {{ fill: {0}; stroke: {3}; }}
text {{ fill: {1}; }} .muted {{ fill: {2}; }}
.grid {{ stroke: {3}; }}
.one {{ stroke: {4}; }}
.ahead {{ fill: {5}; stroke: {5}; }}
.behind {{ fill: {6}; stroke: {6}; }}
.equal {{ fill: {0}; }}"""
LIGHT = COLOURS.format("#ffffff", "#1b1e23", "#5a606b", "#e4e6ea", "#8d939e", "#0072b2", "#d55e00")
DARK = COLOURS.format("#15171b", "#e8eaed", "#a4abb6", "#2d3138", "#6d7480", "#4dabf0", "#ff8a3c")


def label(row):
    """The words beside a row of dots."""
    counts = sorted({point.threads for point in row.points.values()})
    if row.words != row.title:
        numbers = f"{counts[0]}–{counts[-1]}" if len(counts) > 1 else f"{counts[0]}"
        return f"{row.words}; {numbers} thread{'' if counts == [1] else 's'}"
    # What these points differ in is not the number of threads alone.
    return row.words if len(row.points) == 1 else f"{row.words}; {len(row.points)} points"


def doublings(found):
    """The ends of the axis: powers of two around all ratios and around 1."""
    values = [ratio.value for row in found for ratio in row.ratios.values()]
    low = math.floor(math.log2(min([0.5, *values])))
    high = math.ceil(math.log2(max([2, *values])))
    return low, high


def short(value):
    """A number without zeros behind its point."""
    return f"{value:.1f}".rstrip("0").rstrip(".")


def svg(records):
    """The drawing; `records` are the words for each machine and its rows. Each machine is a panel, with the same axis."""
    low, high = doublings([row for _, found in records for row in found])
    lines = {(row.title, row.words): label(row) for _, found in records for row in found}
    bottom = ABOVE + STEP * len(lines)
    height = bottom + BELOW
    panel = (WIDTH - LABELS - RIGHT - BETWEEN * (len(records) - 1)) / len(records)

    title = "How many times as good as the best other lock ondeck is"
    described = " ".join(f"{machine}: {in_words(found)}" for machine, found in records)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
        f"<title>{title}</title>",
        f"<desc>{html.escape(described)}</desc>",
        f"<style>{STYLE}{LIGHT}",
        f"@media (prefers-color-scheme: dark) {{\n{DARK}\n}}</style>",
        f'<rect class="paper" x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="8"/>',
        f'<text class="title" x="16" y="28">{title}</text>',
        '<text class="muted" x="16" y="48">A dot is a situation with a number of threads; hollow: the quartiles '
        "overlap.</text>",
    ]
    middles = {key: ABOVE + STEP * (index + 0.5) for index, key in enumerate(lines)}
    for key, words in lines.items():
        parts.append(f'<text class="end" x="{LABELS - 14}" y="{middles[key] + 4.5:g}">{html.escape(words)}</text>')
    for index, (machine, found) in enumerate(records):
        left = LABELS + index * (panel + BETWEEN)

        def across(ratio, left=left):
            return short(left + (math.log2(ratio) - low) / (high - low) * panel)

        parts.append(f'<text class="middle" x="{short(left + panel / 2)}" y="{ABOVE - 18}">{html.escape(machine)}</text>')
        for power in range(low, high + 1):
            ratio, name = 2**power, str(2**power) if power >= 0 else f"1/{2**-power}"
            kind, at = "one" if power == 0 else "grid", across(ratio)
            parts.append(f'<path class="{kind}" d="M{at} {ABOVE - 8}V{bottom + 6}"/>')
            parts.append(f'<text class="muted middle" x="{at}" y="{bottom + 22}">{name}</text>')
        centre = float(across(1))
        parts += [
            f'<text class="muted end" x="{short(centre - 10)}" y="{bottom + 40}">← another</text>',
            f'<text class="muted" x="{short(centre + 10)}" y="{bottom + 40}">ondeck leads →</text>',
        ]
        for row in found:
            middle = middles[row.title, row.words]
            for ratio in row.ratios.values():
                kind = "behind" if ratio.behind() else "ahead"
                kind += "" if ratio.told() else " equal"
                parts.append(f'<circle class="{kind}" cx="{across(ratio.value)}" cy="{middle:g}" r="4.5"/>')
    return "\n".join([*parts, "</svg>"]) + "\n"
