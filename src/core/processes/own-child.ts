/**
 * Processes that volctl starts of its own program for what may hang: it can kill such a child, or leave it behind. Their
 * words are no commands, and nothing that anybody would type.
 */
const CHILDREN = ['ownership-walker', 'map-reader'] as const

export type OwnChild = (typeof CHILDREN)[number]

/** By the link of /proc: after a re-entry the program's own path may be none of this mount namespace (S6). */
export function ownCommand(child: OwnChild): readonly string[] {
  const [, script = ''] = process.argv
  return ['/proc/self/exe', ...process.execArgv, script, wordOf(child)]
}

/**
 * Which child this process is; undefined: none. Whoever types the word at a terminal is none.
 *
 * @param argv what follows the script
 */
export function askedChild([word, ...others]: readonly string[]): OwnChild | undefined {
  const child = others.length > 0 ? undefined : CHILDREN.find((each) => word === wordOf(each))
  // Standard input is looked at last: it is made when it is asked for.
  return child !== undefined && !process.stdin.isTTY ? child : undefined
}

function wordOf(child: OwnChild): string {
  return `--internal-${child}`
}
