/** Text for man(7). Hand-written sections are in the little Markdown that this file understands. */

/** Plain text, safe anywhere in a line. In locale C, troff would leave out an ellipsis. */
export function escapeRoff(text: string): string {
  return text
    .replaceAll('…', '...')
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll("'", '\\(aq')
    .replaceAll('`', '\\`')
    .replace(/^\./gm, '\\&.')
}

/** `**bold**`, `*italic*` and `` `code` `` within a line. */
export function inline(text: string): string {
  return text
    .split(/(\*\*[^*]+\*\*|\*[^*]+\*|`[^`]+`)/)
    .map((part) => {
      if (part.startsWith('**')) return `\\fB${escapeRoff(part.slice(2, -2))}\\fR`
      if (part.startsWith('*') && part.length > 1) return `\\fI${escapeRoff(part.slice(1, -1))}\\fR`
      if (part.startsWith('`') && part.length > 1) return `\\fB${escapeRoff(part.slice(1, -1))}\\fR`
      return escapeRoff(part)
    })
    .join('')
}

export function section(title: string, body: string): string {
  return body === '' ? '' : `.SH ${title.includes(' ') ? `"${title}"` : title}\n${body}`
}

/** A page as it is written: no line longer than an editor's, no macro that does nothing (mandoc -T lint). */
export function tidied(page: string): string {
  const lines = page.trimEnd().split('\n')
  const kept = lines.filter((line, index) => line !== '.PP' || !isIdle(lines[index - 1], lines[index + 1]))
  let isAsTyped = false
  const wrapped = kept.flatMap((line) => {
    if (line === '.EX' || line === '.EE') isAsTyped = line === '.EX'
    return isAsTyped ? [line] : wrappedLine(line)
  })
  return `${wrapped.join('\n')}\n`
}

const WIDTH = 79

/** A paragraph that another macro begins, or ends, anyway. */
function isIdle(before = '', after = ''): boolean {
  return /^\.(SH|SS|PP)\b/.test(before) || /^\.(SH|SS|PP|TP|TS)\b/.test(after) || after === ''
}

/** Macros and comments stay whole, and so does a blank that begins a line. */
function wrappedLine(line: string): string[] {
  if (line.startsWith('.') || line.startsWith("'") || lengthOf(line) <= WIDTH) return [line]
  const [first = '', ...words] = line.split(' ')
  const lines: string[] = []
  let current = first
  for (const word of words) {
    if (lengthOf(`${current} ${word}`) > WIDTH) {
      lines.push(current)
      current = /^[.']/.test(word) ? `\\&${word}` : word
    } else current = `${current} ${word}`
  }
  return [...lines, current]
}

/** As formatters read it, which have only ASCII. */
function lengthOf(text: string): number {
  return text.replaceAll(/[^\p{ASCII}]/gu, '\\[u2026]').length
}

/** Rows of cells, the first of a row in bold, the last as wide as there is room (tbl(1)). */
export function table(rows: readonly (readonly string[])[]): string {
  const columns = rows[0]?.length ?? 0
  const format = ['lB', ...Array.from({ length: Math.max(0, columns - 2) }, () => 'l'), 'lx.'].join(' ')
  const lines = rows.map((row) => {
    const [last = '', ...others] = row.toReversed()
    return `${others.toReversed().join('\t')}\tT{\n${inline(last)}\nT}\n`
  })
  return `.TS\n${format}\n${lines.join('')}.TE\n`
}

export function definition(term: string, text: string): string {
  return `.TP\n${term}\n${inline(text)}\n`
}

export function example(description: string, command: string): string {
  return `.PP\n${inline(description)}\n.PP\n.EX\n    ${escapeRoff(command)}\n.EE\n`
}

/** Sections of a file, by title: `# TITLE` begins one. */
export function readSections(markdown: string): Map<string, string> {
  const sections = markdown.split(/^# /m).slice(1)
  return new Map(
    sections.map((text) => {
      const end = text.indexOf('\n')
      return [text.slice(0, end).trim(), body(text.slice(end + 1).trim())]
    }),
  )
}

/** Blocks are separated by empty lines: paragraphs, `## ` sub-sections, indented code, and `term:: text` definitions. */
function body(markdown: string): string {
  const blocks = markdown.split(/\n{2,}/).filter((block) => block.trim() !== '')
  return blocks.map(block).join('')
}

function block(text: string): string {
  if (text.startsWith('## ')) return `.SS ${escapeRoff(text.slice(3))}\n`
  // Macros as they are: references to other pages.
  if (text.startsWith('.')) return `${text}\n`
  if (text.startsWith('    ')) return `.PP\n.EX\n${escapeRoff(text)}\n.EE\n`
  const [term, ...rest] = text.split(':: ')
  const joined = (lines: string): string => lines.replaceAll(/\s*\n\s*/g, ' ').trim()
  if (rest.length > 0) return definition(inline(term ?? ''), joined(rest.join(':: ')))
  return `.PP\n${inline(joined(text))}\n`
}
