/**
 * Child processes of volctl's own program, for work that may hang: volctl can kill such a child, or abandon it. The argument
 * that starts one is not a command, and nothing that a user would type.
 */
import { ownOptions, ownScript, SELF } from '../trust/own-program.ts'

const CHILDREN = ['ownership-walker', 'process-reader'] as const

export type OwnChild = (typeof CHILDREN)[number]

/** The command line, by the link in /proc: after a re-entry the program's path may not exist in this mount namespace (S6). */
export function ownCommand(child: OwnChild): readonly string[] {
  const script = ownScript()
  return [SELF, ...ownOptions(), ...(script === undefined ? [] : [script]), argumentOf(child)]
}

/** Which child this process is; undefined: none. @param argv what follows the script */
export function askedChild([argument, ...others]: readonly string[]): OwnChild | undefined {
  return others.length > 0 ? undefined : CHILDREN.find((each) => argument === argumentOf(each))
}

/** The launcher knows a child by the beginning of this word (scripts/load-bundle.cjs). */
function argumentOf(child: OwnChild): string {
  return `--internal-child-${child}`
}
