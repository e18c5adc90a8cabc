const NAMED: Readonly<Record<string, number>> = { '/dev/stdin': 0, '/dev/stdout': 1, '/dev/stderr': 2 }

/**
 * The descriptor of this process that a file name on the command line stands for: bash's `<(…)` and `>(…)` are /dev/fd/63.
 *
 * @param dash what "-" is
 */
export function ownDescriptor(text: string, dash: 0 | 1): number | undefined {
  if (text === '-') return dash
  const digits = /^\/(?:dev|proc\/self)\/fd\/(\d{1,9})$/.exec(text)?.[1]
  return digits === undefined ? NAMED[text] : Number(digits)
}
