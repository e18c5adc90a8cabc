/** The commands of volctl in a page of docs/, by the page's sections. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface DocSection {
  readonly title: string
  /** Each without the comment at its end. */
  readonly commands: readonly string[]
}

export function docSections(page: string): DocSection[] {
  const text = readFileSync(join(import.meta.dirname, '..', '..', 'docs', page), 'utf8')
  return text.split(/^## /m).map((section) => ({
    title: section.split('\n', 1)[0] ?? '',
    commands: [...section.matchAll(/^```sh\n(.*?)^```$/gms)].flatMap(([, block = '']) =>
      block
        .split('\n')
        .filter((line) => line.startsWith('volctl '))
        .map((line) => line.replace(/\s+#\s.*$/, '')),
    ),
  }))
}
