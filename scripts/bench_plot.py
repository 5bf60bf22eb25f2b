# SPDX-License-Identifier: Apache-2.0
"""The picture of what scripts/bench.py measured: bars, readable on light and dark paper."""
import math


STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #1f2328 }
  .title { font-weight: 600; font-size: 15px } .small { font-size: 11px; fill: #59636e }
  .value { stroke: #ffffff; stroke-width: 3px; paint-order: stroke }
  .paper { fill: #ffffff } .line { stroke: #d1d9e0 }
  .limit { stroke: #cf222e; stroke-dasharray: 4 3 } .own { fill: #0969da } .other { fill: #9aa4ae }
  .own.faint { fill: #80b4ee } .other.faint { fill: #cdd3d9 }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc } .small { fill: #9198a1 } .paper { fill: #0d1117 }
    .line { stroke: #3d444d }
    .value { stroke: #0d1117 }
    .limit { stroke: #ff7b72 } .own { fill: #4493f8 } .other { fill: #7d8590 }
    .own.faint { fill: #1f4f8f } .other.faint { fill: #444c56 }
  }"""


class Plot:
    LEFT, WIDTH, RIGHT, BAR = 170, 460, 70, 13

    def __init__(self):
        self.y, self.out = 0, []

    def text(self, x, y, words, kind="", anchor="start"):
        self.out.append(f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">'
                        f"{words}</text>")

    def line(self, x, top, bottom, kind):
        self.out.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{bottom}" '
                        f'class="{kind}"/>')

    def panel(self, title, legend, groups, scale, ticks, limit):
        """groups: (name, [(value, class of its bar)])."""
        self.y += 26
        self.text(16, self.y, title, "title")
        self.text(16, self.y + 18, legend + "; dashed: the limit for bawn", "small")
        self.y += 30
        end = self.y + sum(len(bars) * (self.BAR + 2) + 9 for _, bars in groups)
        for tick in ticks:
            self.line(self.LEFT + scale(tick), self.y, end, "line")
            self.text(self.LEFT + scale(tick), end + 15, f"{tick:g}", "small", "middle")
        labels = []
        top = self.y
        for name, bars in groups:
            self.text(self.LEFT - 8, self.y + len(bars) * (self.BAR + 2) / 2 + 4, name, "", "end")
            for value, kind in bars:
                self.out.append(f'<rect x="{self.LEFT}" y="{self.y}" height="{self.BAR}" rx="2" '
                                f'width="{max(1, scale(value)):.1f}" class="{kind}"/>')
                labels.append((self.LEFT + max(1, scale(value)) + 5, self.y + self.BAR - 2,
                               f"{value:.2f}" if value < 10 else f"{value:.0f}", "small value"))
                self.y += self.BAR + 2
            self.y += 9
        self.line(self.LEFT + scale(limit), top - 4, end, "limit")
        for label in labels:
            self.text(*label)
        self.y = end + 26

    def svg(self):
        width = self.LEFT + self.WIDTH + self.RIGHT
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {self.y}" '
                f'width="{width}" height="{self.y}" role="img">\n'
                f"<title>What bawn costs beside other tools</title>\n<style>{STYLE}\n</style>\n"
                f'<rect class="paper" width="100%" height="100%" rx="6"/>\n' +
                "\n".join(self.out) + "\n</svg>\n")


def draw(result, limits):
    plot = Plot()
    first = [start for start in result["start"] if start["user"] == result["start"][0]["user"]]
    names = sorted(first[0]["tools"], key=lambda name: first[0]["tools"][name][0])
    groups = [(name, [(start["tools"][name][0],
                       ("own" if name.startswith("bawn") else "other") + (" faint" if i else ""))
                      for i, start in enumerate(first) if name in start["tools"]])
              for name in names]
    most = max(value for _, bars in groups for value, _ in bars)
    ticks = [tick for tick in (1, 2, 5, 10, 20, 50, 100, 200, 500) if tick <= most * 1.1]
    wide = plot.WIDTH / math.log(most * 2)
    legend = f"times a bare vfork and exec, log scale; {first[0]['mounts']} mounts on the host"
    if len(first) > 1:
        legend += f", in the second bars {first[1]['mounts']}"
    plot.panel("Start of /bin/true", legend, groups, lambda value: wide * math.log(value * 2),
               ticks, limits["bare"])
    if result["work"]:
        plot.panel("Work inside", "times the same work outside; grey: outside measured again",
                   [(row["name"], [(row["bawn"][0], "own"), (row["noise"][0], "other faint")])
                    for row in result["work"]],
                   lambda value: plot.WIDTH * value / 1.6, [0, 0.5, 1, 1.5], limits["work"])
    return plot.svg()
