/** What a manual page promises: flags, exit statuses, codes. The pages are made from the commands, and are in git. */

/** The flags under OPTIONS, such as --orphans. */
export function flagsOf(page: string): readonly string[] {
  return section(page, 'OPTIONS')
    .filter((_, at, lines) => lines[at - 1] === '.TP')
    .flatMap((line) => [...line.matchAll(/\\fB(--[a-z-]+)\\fR/g)].map(([, name = '']) => name))
}

/** What each exit status means, by its number. */
export function statusesOf(page: string): ReadonlyMap<string, string> {
  const table = section(page, 'EXIT STATUS').join('\n')
  const rows = table.matchAll(/^(\d+)\t(?:T\{\n([\s\S]*?)\nT\}|(.*))$/gm)
  return new Map(
    Array.from(rows, ([, number = '', lines, line]) => [number, (lines ?? line ?? '').replaceAll('\n', ' ')]),
  )
}

/** The names that the page of the codes explains. */
export function codesOf(page: string): readonly string[] {
  return [...plain(page).matchAll(/^\.TP\n\\fB([A-Z]\w+)\\fR \(/gm)].map(([, name = '']) => name)
}

function section(page: string, title: string): readonly string[] {
  const parts = plain(page).split(/^\.SH /m)
  const part = parts.find((each) => each.split('\n')[0]?.replaceAll('"', '') === title) ?? ''
  return part.split('\n').slice(1)
}

/** As it is read: without roff's escapes of minus and apostrophe. */
function plain(page: string): string {
  return page.replaceAll('\\-', '-').replaceAll('\\(aq', "'")
}
