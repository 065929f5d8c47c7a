"""Draws boxes in layers and arrows between them as SVG. Used by draw-modules and include-graph.

A box stands above all that its arrows lead to. Where arrows lead in a circle, as few as a simple rule finds lead upwards
(after Eades, Lin and Smyth, A fast and effective heuristic for the feedback arc set problem, 1993), and are red.
"""
import bisect
import dataclasses
import html
import itertools

BOX_WIDTH, BOX_HEIGHT, GAP, LAYER_HEIGHT, MARGIN = 168, 46, 36, 84, 24
BEND_WIDTH = 16  # room for an arrow that passes a layer
LEGEND_HEIGHT = 40
UPWARDS = "#c0392b"
UPWARDS_HEAD = ['    <marker id="upwards" viewBox="0 0 8 8" refX="7.2" refY="4" markerWidth="7" markerHeight="7" '
                'orient="auto-start-reverse">',
                f'      <path d="M0 0.8 L8 4 L0 7.2 Z" fill="{UPWARDS}"/>',
                '    </marker>']


@dataclasses.dataclass
class Box:
    name: str
    label: str
    note: str  # a second line, in small letters
    fill: str
    stroke: str


@dataclasses.dataclass
class Arrow:
    start: str
    end: str
    dashed: bool = False
    upwards: bool = False  # set by Drawing


class Node:
    """A box, or the point where a long arrow passes a layer (name is None)."""

    def __init__(self, name, layer):
        self.name, self.layer, self.x = name, layer, 0.0
        self.above, self.below = [], []

    @property
    def width(self):
        return BOX_WIDTH if self.name else BEND_WIDTH


def mark_upwards(boxes, arrows):
    """Sets `upwards` for arrows that must lead upwards for all others to lead downwards: those against an order in which
    what nothing is left to lead to comes first, what nothing is left to come from comes last, and else what has most
    arrows out and fewest in."""
    after = {box.name: {arrow.end for arrow in arrows if arrow.start == box.name} for box in boxes}
    before = {box.name: {arrow.start for arrow in arrows if arrow.end == box.name} for box in boxes}
    left, first, last = [box.name for box in boxes], [], []

    def take(name, side):
        left.remove(name)
        side.append(name)
        for others in (after, before):
            for names in others.values():
                names.discard(name)

    while left:
        name = next((name for name in left if not after[name]), None)
        if name:
            take(name, last)
            continue
        name = next((name for name in left if not before[name]), None) or \
            max(left, key=lambda name: len(after[name]) - len(before[name]))
        take(name, first)
    place = {name: i for i, name in enumerate(first + last[::-1])}
    for arrow in arrows:
        arrow.upwards = place[arrow.start] > place[arrow.end]


class Drawing:
    """Layers of nodes from the lowest on, and each arrow with the nodes that it passes, from above to below."""

    def __init__(self, boxes, arrows):
        self.boxes = {box.name: box for box in boxes}
        mark_upwards(boxes, arrows)
        below = {name: [] for name in self.boxes}
        for arrow in arrows:
            upper, lower = (arrow.end, arrow.start) if arrow.upwards else (arrow.start, arrow.end)
            below[upper].append(lower)
        known = {}

        def layer_of(name):
            """0 for a box without arrows, and otherwise one more than the highest that they lead to."""
            if name not in known:
                known[name] = 1 + max(map(layer_of, below[name]), default=-1)
            return known[name]

        nodes = {name: Node(name, layer_of(name)) for name in self.boxes}
        self.layers = [[node for node in nodes.values() if node.layer == layer] for layer in range(max(known.values()) + 1)]
        self.arrows = []
        for arrow in arrows:
            upper, lower = (arrow.end, arrow.start) if arrow.upwards else (arrow.start, arrow.end)
            path = [nodes[upper]]
            for layer in range(known[upper] - 1, known[lower], -1):
                path.append(Node(None, layer))
                self.layers[layer].append(path[-1])
            path.append(nodes[lower])
            for one, other in zip(path, path[1:]):
                one.below.append(other)
                other.above.append(one)
            self.arrows.append((arrow, path))

    def svg(self, title, comment, legend, sweeps=2000, gap=GAP):
        """legend: [(text, Arrow)], from left to right."""
        order_layers(self.layers)
        place_nodes(self.layers, sweeps, gap)
        height = 2 * MARGIN + (len(self.layers) - 1) * LAYER_HEIGHT + BOX_HEIGHT + LEGEND_HEIGHT
        width = max(node.x + node.width // 2 for layer in self.layers for node in layer) + MARGIN
        width = max(width, 2 * MARGIN + 3 * BOX_WIDTH)

        def top(node):
            return MARGIN + (len(self.layers) - 1 - node.layer) * LAYER_HEIGHT

        lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
                 'font-family="Helvetica, Arial, sans-serif" role="img" aria-labelledby="title">',
                 f'  <title id="title">{html.escape(title)}</title>',
                 f'  <!-- {comment} -->',
                 '  <defs>',
                 '    <marker id="head" viewBox="0 0 8 8" refX="7.2" refY="4" markerWidth="7" markerHeight="7" orient="auto">',
                 '      <path d="M0 0.8 L8 4 L0 7.2 Z" fill="#51606f"/>',
                 '    </marker>',
                 *(UPWARDS_HEAD if any(arrow.upwards for arrow, _ in self.arrows) else []),
                 '  </defs>',
                 f'  <rect width="{width}" height="{height}" fill="#ffffff"/>',
                 '  <g fill="none" stroke="#51606f" stroke-width="1.5">']
        leaving = {id(node): ports(node, node.below) for layer in self.layers for node in layer if node.name}
        arriving = {id(node): ports(node, node.above) for layer in self.layers for node in layer if node.name}
        for arrow, path in self.arrows:
            x, y = leaving[id(path[0])][id(path[1])], top(path[0]) + BOX_HEIGHT
            commands = [f"M{x:.0f} {y}"]
            for node in path[1:]:
                to_x = arriving[id(node)][id(path[-2])] if node.name else node.x
                to_y = top(node)
                middle = (y + to_y) / 2
                commands.append(f"C{x:.0f} {middle:.0f} {to_x:.0f} {middle:.0f} {to_x:.0f} {to_y}")
                x, y = to_x, to_y
                if not node.name:
                    y += BOX_HEIGHT
                    commands.append(f"L{x:.0f} {y}")
            lines.append(f'    <path d="{" ".join(commands)}"{style(arrow)}/>')
        lines.append('  </g>')
        for node in itertools.chain(*reversed(self.layers)):
            if not node.name:
                continue
            box = self.boxes[node.name]
            x, y = node.x - BOX_WIDTH // 2, top(node)
            lines.append(f'  <rect x="{x}" y="{y}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="6" fill="{box.fill}" '
                         f'stroke="{box.stroke}" stroke-width="1.2"/>')
            baseline = y + (20 if box.note else 28)
            lines.append(f'  <text x="{node.x}" y="{baseline}" text-anchor="middle" font-size="14" font-weight="bold" '
                         f'fill="#1d2733">{html.escape(box.label)}</text>')
            if box.note:
                lines.append(f'  <text x="{node.x}" y="{y + 36}" text-anchor="middle" font-size="11" '
                             f'fill="#5a6775">{html.escape(box.note)}</text>')
        y = height - MARGIN
        lines.append('  <g font-size="12" fill="#5a6775" stroke="#51606f" stroke-width="1.5">')
        for i, (text, arrow) in enumerate(legend):
            x = MARGIN + 252 * i
            lines += [f'    <path d="M{x} {y - 4} H{x + 44}"{style(arrow)}/>',
                      f'    <text x="{x + 52}" y="{y}" stroke="none">{html.escape(text)}</text>']
        return "\n".join(lines + ['  </g>', '</svg>']) + "\n"


def style(arrow):
    """An arrow that leads upwards was laid out from its end, and has its head there."""
    dashes = ' stroke-dasharray="5 4"' if arrow.dashed else ""
    if arrow.upwards:
        return f'{dashes} stroke="{UPWARDS}" marker-start="url(#upwards)"'
    return f'{dashes} marker-end="url(#head)"'


def crossings(upper, lower):
    """How often arrows between two layers cross, with the nodes in the order of the lists."""
    place = {id(node): i for i, node in enumerate(lower)}
    seen, count = [], 0
    for node in upper:
        ends = [place[id(end)] for end in node.below]
        count += sum(len(seen) - bisect.bisect_right(seen, end) for end in ends)
        for end in ends:
            bisect.insort(seen, end)
    return count


def order_layers(layers):
    """Orders the nodes of each layer by the mean place of their neighbors, and keeps the order with fewest crossings."""
    def total():
        return sum(crossings(layers[i + 1], layers[i]) for i in range(len(layers) - 1))

    best, fewest = [list(layer) for layer in layers], total()
    for sweep in range(24):
        down = sweep % 2 == 0
        for index in (range(len(layers) - 2, -1, -1) if down else range(1, len(layers))):
            other = layers[index + 1] if down else layers[index - 1]
            place = {id(node): (i + 0.5) / len(other) for i, node in enumerate(other)}
            here = {id(node): (i + 0.5) / len(layers[index]) for i, node in enumerate(layers[index])}

            def mean(node):
                ends = node.above if down else node.below
                return sum(place[id(end)] for end in ends) / len(ends) if ends else here[id(node)]

            layers[index].sort(key=mean)
        if total() < fewest:
            best, fewest = [list(layer) for layer in layers], total()
    layers[:] = best


def separation(left, right, gap):
    return (left.width + right.width) / 2 + gap


def place_nodes(layers, sweeps, gap):
    """Gives each node an x near the mean of its neighbors', with the order and the gaps of its layer kept."""
    for layer in layers:
        for left, right in zip(layer, layer[1:]):
            right.x = left.x + separation(left, right, gap)
        shift = (layer[0].x + layer[-1].x) / 2
        for node in layer:
            node.x -= shift
    for sweep in range(sweeps):
        for layer in (layers if sweep % 2 else reversed(layers)):
            # Blocks of nodes that touch move together (the pool of adjacent violators of isotonic regression).
            blocks = []
            for node in layer:
                ends = [(end.x, 4.0 if not node.name and not end.name else 1.0) for end in node.above + node.below]
                weight = sum(w for _, w in ends) or 1e-3
                wanted = sum(x * w for x, w in ends) / weight if ends else node.x
                blocks.append([[(node, 0.0)], wanted, weight])
                while len(blocks) > 1:
                    left, right = blocks[-2], blocks[-1]
                    last, last_offset = left[0][-1]
                    distance = last_offset + separation(last, right[0][0][0], gap)
                    if left[1] + distance <= right[1]:
                        break
                    weight = left[2] + right[2]
                    position = (left[1] * left[2] + (right[1] - distance) * right[2]) / weight
                    blocks[-2:] = [[left[0] + [(n, o + distance) for n, o in right[0]], position, weight]]
            for members, position, _ in blocks:
                for node, offset in members:
                    node.x = position + offset
    leftmost = min(node.x - node.width / 2 for layer in layers for node in layer)
    for node in itertools.chain(*layers):
        node.x = round(node.x - leftmost + MARGIN)


def ports(node, ends):
    """Where on the edge of a box its arrows begin or end: side by side, in the order of the other ends."""
    ends = sorted(ends, key=lambda end: end.x)
    step = min(22, (BOX_WIDTH - 30) / max(1, len(ends)))
    return {id(end): node.x + (i - (len(ends) - 1) / 2) * step for i, end in enumerate(ends)}
