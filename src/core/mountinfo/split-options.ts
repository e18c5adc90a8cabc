/**
 * Splits mount options at the commas outside double quotes (P108): SELinux contexts hold commas
 * (`context="u:r:t:s0:c1,c2"`). The quotes stay in the text; empty elements vanish.
 */
export function splitOptions(text: string): readonly string[] {
  if (!text.includes('"')) return text.split(',').filter((option) => option !== '')
  const options: string[] = []
  let quoted = false
  let option = ''
  for (const char of text) {
    if (char === '"') quoted = !quoted
    if (char === ',' && !quoted) {
      if (option !== '') options.push(option)
      option = ''
    } else option += char
  }
  if (option !== '') options.push(option)
  return options
}
