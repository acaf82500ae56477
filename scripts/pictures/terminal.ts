// Draws the screen of a terminal as an SVG picture: text that a browser can select, in the colours of the terminal.

const CELL = { width: 8.4, height: 18 };
const MARGIN = 20;
const BAR = 34;
const FONT = 'ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace';
const COLOURS = {
  background: '#161b22',
  text: '#d1d7e0',
  dim: '#8b949e',
  selected: '#2f3b4d',
  31: '#ff7b72',
  32: '#7ee787',
  33: '#e3b341',
  36: '#76e3ea',
} as const;

export interface Picture {
  /** With the escape sequences of its colours. */
  readonly lines: readonly string[];
  readonly columns: number;
  readonly title: string;
  readonly label: string;
}

export function drawn({ lines: screen, columns, title, label }: Picture): string {
  const width = Math.ceil(columns * CELL.width + 2 * MARGIN);
  const height = screen.length * CELL.height + BAR + MARGIN;
  const dots = ['#ff5f57', '#febc2e', '#28c840'].map(
    (colour, index) => `<circle cx="${MARGIN + index * 18}" cy="17" r="5.5" fill="${colour}"/>`,
  );
  const rows = screen.map((line, row) => drawnLine(line, BAR + (row + 0.8) * CELL.height));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${attribute(label)}">`,
    `<rect width="${width}" height="${height}" rx="8" fill="${COLOURS.background}"/>`,
    ...dots,
    `<text x="${width / 2}" y="22" text-anchor="middle" font-family="${attribute(FONT)}" font-size="13" fill="${COLOURS.dim}">${content(title)}</text>`,
    `<g font-family="${attribute(FONT)}" font-size="14" fill="${COLOURS.text}" xml:space="preserve">`,
    ...rows.filter((row) => row !== ''),
    '</g>',
    '</svg>',
    '',
  ].join('\n');
}

/** Each piece is put where its first column is: fonts differ in how wide they draw the arrows. */
function drawnLine(line: string, y: number): string {
  const pieces: string[] = [];
  const marked: string[] = [];
  let column = 0;
  let style: Style = { isBold: false, isInverse: false, fill: '' };
  for (const [, codes, text] of line.matchAll(/\u001b\[([\d;]*)m|([^\u001b]+)/g)) {
    if (codes !== undefined) {
      for (const code of codes.split(';')) style = styled(style, Number(code));
      continue;
    }
    if (style.isInverse) marked.push(rectangle(column, (text ?? '').length, y));
    // Spaces move on and are not drawn.
    for (const { 0: words, index } of (text ?? '').matchAll(/\S+(?: \S+)*/g)) {
      const x = (MARGIN + (column + index) * CELL.width).toFixed(1);
      const fill = style.fill === '' ? '' : ` fill="${style.fill}"`;
      const weight = style.isBold ? ' font-weight="bold"' : '';
      pieces.push(`<tspan x="${x}"${fill}${weight}>${content(words)}</tspan>`);
    }
    column += (text ?? '').length;
  }
  return pieces.length === 0 ? '' : `${marked.join('')}<text y="${y.toFixed(1)}">${pieces.join('')}</text>`;
}

/** Behind the text of a selected line. */
function rectangle(column: number, width: number, y: number): string {
  const x = (MARGIN + column * CELL.width).toFixed(1);
  const top = (y - 0.8 * CELL.height).toFixed(1);
  return `<rect x="${x}" y="${top}" width="${(width * CELL.width).toFixed(1)}" height="${CELL.height}" fill="${COLOURS.selected}"/>`;
}

interface Style {
  readonly isBold: boolean;
  readonly isInverse: boolean;
  readonly fill: string;
}

function styled(style: Style, code: number): Style {
  switch (code) {
    case 0:
      return { isBold: false, isInverse: false, fill: '' };
    case 1:
      return { ...style, isBold: true };
    case 2:
      return { ...style, fill: COLOURS.dim };
    case 7:
      return { ...style, isInverse: true };
    case 27:
      return { ...style, isInverse: false };
    case 22:
      return { ...style, isBold: false, fill: style.fill === COLOURS.dim ? '' : style.fill };
    case 31:
    case 32:
    case 33:
    case 36:
      return { ...style, fill: COLOURS[code] };
    case 39:
      return { ...style, fill: '' };
    default:
      return style;
  }
}

function content(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function attribute(text: string): string {
  return content(text).replaceAll('"', '&quot;');
}
