/** The text of a terminal as an SVG picture: the few colours that volctl uses, letters of one width. */

const LETTER = { width: 8.4, height: 18, size: 14 }
const MARGIN = 14

/** SGR codes that chalk writes for volctl's palette. */
const STYLES: Readonly<Record<string, string>> = {
  '1': 'font-weight="bold" fill="#ffffff"',
  '2': 'fill="#8b949e"',
  '31': 'fill="#ff7b72"',
  '32': 'fill="#7ee787"',
  '33': 'fill="#e3b341"',
}

/**
 * @param text lines with SGR escapes
 * @param columns width of the terminal
 * @param title what the picture shows, for those who do not see it
 */
export function terminalSvg(text: string, columns: number, title: string): string {
  const lines = text
    .trimEnd()
    .split('\n')
    .flatMap((line) => wrapped(line, columns))
  const width = Math.ceil(columns * LETTER.width + 2 * MARGIN)
  const height = Math.ceil(lines.length * LETTER.height + 2 * MARGIN)
  const rows = lines.map((line, index) => {
    const y = MARGIN + (index + 1) * LETTER.height - 5
    return `<text x="${MARGIN}" y="${y}" xml:space="preserve">${spans(line)}</text>`
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="100%" height="100%" rx="8" fill="#0d1117"/>`,
    `<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="${LETTER.size}" fill="#c9d1d9">`,
    ...rows,
    '</g>',
    '</svg>',
    '',
  ].join('\n')
}

/** As a terminal breaks a line that is too long; only paths are, and they have no colour of their own. */
function wrapped(line: string, columns: number): string[] {
  if (line.includes('\u001b') || line.length <= columns) return [line]
  return [line.slice(0, columns), ...wrapped(line.slice(columns), columns)]
}

/** Each run of letters of one style begins at its own column, so that another font's widths shift nothing. */
function spans(line: string): string {
  let column = 0
  let style: string | undefined
  let out = ''
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the escapes are what is drawn.
  for (const [, code, plain = ''] of line.matchAll(/\u001b\[(\d+)m|([^\u001b]+)/g)) {
    if (code !== undefined) {
      style = STYLES[code]
      continue
    }
    const x = (MARGIN + column * LETTER.width).toFixed(1)
    out += `<tspan x="${x}"${style === undefined ? '' : ` ${style}`}>${escaped(plain)}</tspan>`
    column += [...plain].length
  }
  return out
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
