/** Text for man(7). Hand-written sections are in the little Markdown that this file understands. */

/** Plain text, safe anywhere in a line. */
export function escapeRoff(text: string): string {
  return text
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

export function definition(term: string, text: string): string {
  return `.TP\n${term}\n${inline(text)}\n`
}

export function example(description: string, command: string): string {
  return `${inline(description)}\n.PP\n.EX\n    ${escapeRoff(command)}\n.EE\n.PP\n`
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
