/** Draws plots as plain SVG: panels side by side, with lines over the number of workers and a legend. */

export interface PlotLine {
  readonly name: string;
  readonly color: string;
  readonly points: readonly (readonly [x: number, y: number])[];
  /** True: dots instead of a line. */
  readonly dots?: boolean;
  /** True for the reference line. */
  readonly dashed?: boolean;
}

export interface Panel {
  readonly title: string;
  readonly yTitle: string;
  readonly yMax: number;
  readonly yStep: number;
  readonly lines: readonly PlotLine[];
}

const WIDTH = 330;
const HEIGHT = 250;
const MARGIN = { left: 46, right: 14, top: 38, bottom: 40 };
const [INK, FAINT, GRID] = ['#1f2328', '#59636e', '#d9dee3'];
const X_MAX = 64;
const X_TICKS = [1, 8, 16, 32, 48, 64];

/** @returns the text of an SVG file */
export function plot(panels: readonly Panel[]): string {
  const width = panels.length * WIDTH;
  const drawn = panels.map(
    (panel, n) => `<g transform="translate(${n * WIDTH},0)">\n${draw(panel)}\n</g>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${HEIGHT}" width="${width}" height="${HEIGHT}" font-family="system-ui, sans-serif" font-size="11">
<title>${panels.map(({ title }) => title).join('; ')}</title>
<rect width="${width}" height="${HEIGHT}" fill="#ffffff"/>
${drawn.join('\n')}
</svg>
`;
}

function draw(panel: Panel): string {
  const { title, yTitle, lines } = panel;
  return [
    text(MARGIN.left, 16, title, { color: INK, bold: true }),
    text(MARGIN.left, 30, yTitle, { color: FAINT }),
    ...axes(panel),
    text(MARGIN.left + plotWidth / 2, HEIGHT - 8, 'workers', { color: FAINT, anchor: 'middle' }),
    ...lines.map((line) => drawLine(line, panel)),
    ...legend(lines),
  ].join('\n');
}

const plotWidth = WIDTH - MARGIN.left - MARGIN.right;
const plotHeight = HEIGHT - MARGIN.top - MARGIN.bottom;
const xOf = (x: number) => MARGIN.left + (plotWidth * x) / X_MAX;
const yOf = (y: number, { yMax }: Panel) => MARGIN.top + plotHeight * (1 - y / yMax);
const short = (value: number) => String(Math.round(value * 10) / 10);

function axes(panel: Panel): string[] {
  const { yMax, yStep } = panel;
  const steps = Array.from({ length: Math.floor(yMax / yStep) + 1 }, (_, n) => n * yStep);
  return [
    ...steps.flatMap((value) => {
      const y = short(yOf(value, panel));
      const to = short(WIDTH - MARGIN.right);
      return [
        `<line x1="${MARGIN.left}" y1="${y}" x2="${to}" y2="${y}" stroke="${GRID}"/>`,
        text(MARGIN.left - 6, Number(y) + 4, short(value), { color: FAINT, anchor: 'end' }),
      ];
    }),
    ...X_TICKS.map((value) =>
      text(xOf(value), HEIGHT - MARGIN.bottom + 15, String(value), {
        color: FAINT,
        anchor: 'middle',
      }),
    ),
  ];
}

function drawLine({ points, color, dots = false, dashed = false }: PlotLine, panel: Panel): string {
  const places = points.map(([x, y]) => [short(xOf(x)), short(yOf(y, panel))] as const);
  if (dots) {
    const circles = places.map(([x, y]) => `<circle cx="${x}" cy="${y}" r="3" fill="${color}"/>`);
    return circles.join('\n');
  }
  const dash = dashed ? ' stroke-dasharray="5 4"' : '';
  const path = places.map(([x, y]) => `${x},${y}`).join(' ');
  return `<polyline points="${path}" fill="none" stroke="${color}" stroke-width="1.8"${dash}/>`;
}

/** The legend, in the upper left corner, which the lines of these plots do not reach. */
function legend(lines: readonly PlotLine[]): string[] {
  return lines.flatMap(({ name, color, dashed, dots }, n) => {
    const y = MARGIN.top + 14 + n * 15;
    const x = MARGIN.left + 8;
    const dash = dashed ? ' stroke-dasharray="5 4"' : '';
    const mark = dots
      ? `<circle cx="${x + 9}" cy="${y - 4}" r="3" fill="${color}"/>`
      : `<line x1="${x}" y1="${y - 4}" x2="${x + 18}" y2="${y - 4}" stroke="${color}" stroke-width="1.8"${dash}/>`;
    return [mark, text(x + 24, y, name, { color: INK })];
  });
}

interface TextStyle {
  readonly color: string;
  readonly anchor?: 'start' | 'middle' | 'end';
  readonly bold?: boolean;
}

function text(x: number, y: number, content: string, style: TextStyle): string {
  const { color, anchor = 'start', bold = false } = style;
  const weight = bold ? ' font-weight="600"' : '';
  return `<text x="${short(x)}" y="${short(y)}" fill="${color}" text-anchor="${anchor}"${weight}>${content}</text>`;
}
