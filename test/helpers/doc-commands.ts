/** The commands in a page of docs/, by the page's sections. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface DocSection {
  readonly title: string
  /** Of volctl, each without the comment at its end. */
  readonly commands: readonly string[]
  /** These, and what is typed between them. */
  readonly lines: readonly string[]
}

export function docSections(page: string): DocSection[] {
  const text = readFileSync(join(import.meta.dirname, '..', '..', 'docs', page), 'utf8')
  return text.split(/^## /m).map((section) => {
    const lines = [...section.matchAll(/^```sh\n(.*?)^```$/gms)].flatMap(([, block = '']) =>
      block
        .trimEnd()
        .split('\n')
        .map((line) => line.replace(/\s+#\s.*$/, '')),
    )
    return {
      title: section.split('\n', 1)[0] ?? '',
      commands: lines.filter((line) => line.startsWith('volctl ')),
      lines,
    }
  })
}
