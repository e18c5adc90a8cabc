/** How this program starts itself as the reader of map-reader.ts: no command, and no word that anybody would type. */
import { ownCommand } from '../apply/walker-command.ts'

const WORD = '--internal-map-reader'

export function mapReaderCommand(): readonly string[] {
  return ownCommand(WORD)
}

/** @param argv what follows the script; whoever types the word at a terminal does not get here */
export function isMapReader(argv: readonly string[]): boolean {
  return argv.length === 1 && argv[0] === WORD && !process.stdin.isTTY
}
