/** How this program starts itself as the walker of ownership-walker.ts: no command, and no word that anybody would type. */
const WORD = '--internal-ownership-walker'

export function walkerCommand(): readonly string[] {
  return ownCommand(WORD)
}

/** By the link of /proc: after a re-entry the program's own path may be none of this mount namespace (S6). */
export function ownCommand(word: string): readonly string[] {
  const [, script = ''] = process.argv
  return ['/proc/self/exe', ...process.execArgv, script, word]
}

/** @param argv what follows the script; whoever types the word at a terminal does not get here */
export function isWalker(argv: readonly string[]): boolean {
  return argv.length === 1 && argv[0] === WORD && !process.stdin.isTTY
}
