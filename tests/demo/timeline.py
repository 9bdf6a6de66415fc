# SPDX-License-Identifier: GPL-2.0-only
"""A teardown as a timeline, from the trace events ib_teardown: as text, and drawn as SVG.

The events of one HCA become spans: the states its device went through, the clients' remove_one, and
what the lifecycle thread waited for.  A span that has no end in the trace ends with the trace.
"""
import html
import re
from dataclasses import dataclass

LINE = re.compile(r'^\s*.+-\d+\s+\[\d+\]\s+\S+\s+(?P<time>\d+\.\d+): ib_teardown_(?P<event>\w+): '
                  r'hca=(?P<hca>\S+) (?:device=(?P<device>\S+) )?(?P<what>.*) value=(?P<value>-?\d+)$')
STATES = ('CLOSING', 'DRAINING', 'STOPPED', 'RELEASED', 'QUARANTINED')


@dataclass
class Event:
    """One line of the trace; time in seconds."""
    time: float
    event: str
    hca: str
    what: str
    value: int


@dataclass
class Span:
    """Something that lasted: kind is state, client or wait; times in seconds."""
    kind: str
    what: str
    start: float
    end: float

    def milliseconds(self):
        return (self.end - self.start) * 1000


def events(text, hca):
    """The events of one HCA (its PCI address) in a trace."""
    found = []
    for line in text.splitlines():
        match = LINE.match(line)
        if match and match['hca'] == hca:
            found.append(Event(float(match['time']), match['event'], hca, match['what'],
                               int(match['value'])))
    return found


def _pairs(found, kind, begin, end):
    """Spans from events that come in pairs with the same word."""
    opened, spans = {}, []
    for event in found:
        if event.event == begin:
            opened[event.what] = event.time
        elif event.event == end and event.what in opened:
            spans.append(Span(kind, event.what, opened.pop(event.what), event.time))
    return spans + [Span(kind, what, start, found[-1].time) for what, start in opened.items()]


def _states(found):
    """One span for each state of the teardown; the last state is a moment."""
    moves = [e for e in found if e.event == 'state' and e.what in STATES]
    ends = [e.time for e in moves[1:]]
    if moves:
        ends.append(moves[-1].time)
    return [Span('state', move.what, move.time, end) for move, end in zip(moves, ends)]


def spans(found):
    """What the events say, by start: states, clients, waits that took time."""
    if not found:
        return []
    every = _states(found) + _pairs(found, 'client', 'remove_begin', 'remove_end') + \
        [s for s in _pairs(found, 'wait', 'wait_begin', 'wait_end') if s.milliseconds() >= 0.1]
    return sorted(every, key=lambda s: (s.start, s.end))


def table(found):
    """The timeline as lines of text."""
    rows = spans(found)
    if not rows:
        return ['(no teardown in the trace)']
    begin = rows[0].start
    words = {'state': '{}', 'client': '  client {} leaves', 'wait': '  waited for {}'}
    return [f'{(s.start - begin) * 1000:9.1f} ms  {s.milliseconds():9.1f} ms  '
            + words[s.kind].format(s.what) for s in rows]


COLOUR = {'state': '#4a7ebb', 'client': '#6aa84f', 'wait': '#e69138'}
WIDTH, LABEL, ROW = 1000, 300, 22


def _bar(row, number, begin, scale):
    top = 40 + number * ROW
    left = LABEL + (row.start - begin) * scale
    width = max(2.0, (row.end - row.start) * scale)
    text = html.escape(row.what)
    return (f'<text x="8" y="{top + 14}">{row.kind}: {text}</text>'
            f'<rect x="{left:.1f}" y="{top + 3}" width="{width:.1f}" height="{ROW - 6}" '
            f'fill="{COLOUR[row.kind]}"><title>{text}: {row.milliseconds():.1f} ms</title></rect>'
            f'<text x="{min(left + width + 4, WIDTH - 70):.1f}" y="{top + 14}">'
            f'{row.milliseconds():.1f} ms</text>')


def svg(found, title):
    """The timeline drawn: one row a span, time to the right."""
    rows = spans(found)
    begin = rows[0].start if rows else 0.0
    length = max([s.end - begin for s in rows], default=0.0) or 1.0
    scale = (WIDTH - LABEL - 90) / length
    body = '\n'.join(_bar(row, n, begin, scale) for n, row in enumerate(rows))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" '
            f'height="{60 + len(rows) * ROW}" font-family="sans-serif" font-size="12">\n'
            f'<rect width="100%" height="100%" fill="white"/>\n'
            f'<text x="8" y="22" font-size="15">{html.escape(title)}</text>\n{body}\n</svg>\n')
