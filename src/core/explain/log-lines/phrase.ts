/**
 * A phrase of a log line as a pattern, in any case, from word edge to word edge: `*` is the rest of a word, `…` some text, `{a|b}` one or
 * the other, and ` | ` stands between phrases that mean the same. It takes time in proportion to the line.
 */
export function phrase(words: string): RegExp {
  const alternatives = words.split(' | ').map((each) => {
    const pattern = each.replaceAll(/[.+?^$()[\]\\*…{}|]/g, (mark) => OWN[mark] ?? `\\${mark}`)
    return `${/^[\w{]/.test(each) ? '(?<!\\w)' : ''}(?:${pattern})${/[\w}]$/.test(each) ? '(?!\\w)' : ''}`
  })
  return new RegExp(alternatives.join('|'), 'gi')
}

const OWN: Readonly<Record<string, string>> = { '*': '\\S*', '…': '[^]{0,800}?', '{': '(?:', '|': '|', '}': ')' }
