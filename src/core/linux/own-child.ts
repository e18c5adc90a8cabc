/**
 * Child processes of volctl's own program, for work that may hang: volctl can kill such a child, or abandon it. The argument
 * that starts one is not a command, and nothing that a user would type.
 */
import { text } from 'node:stream/consumers'
import { present } from '../base/text.ts'
import { errorMessage } from '../messages/findings.ts'
import { ownOptions, ownScript, SELF } from '../trust/own-program.ts'
import type { Shape } from '../trust/shape.ts'

const CHILDREN = ['ownership-walker', 'process-reader'] as const

export type OwnChild = (typeof CHILDREN)[number]

/** The command line, by the link in /proc: after a re-entry the program's path may not exist in this mount namespace (S6). */
export function ownCommand(child: OwnChild): readonly string[] {
  const script = ownScript()
  return [SELF, ...ownOptions(), ...present(script), argumentOf(child)]
}

/** Which child this process is; undefined: none. @param argv what follows the script */
export function askedChild([argument, ...others]: readonly string[]): OwnChild | undefined {
  return others.length > 0 ? undefined : CHILDREN.find((each) => argument === argumentOf(each))
}

/** The launcher knows a child by the beginning of this word (scripts/load-bundle.cjs). */
function argumentOf(child: OwnChild): string {
  return `--internal-child-${child}`
}

/**
 * A request to such a child, from its standard input.
 *
 * @param who the child's name, for the message
 * @returns undefined if the input is not a request from this process's parent: then a message has been written, the exit
 * status is 1, and nothing may be touched
 */
export async function requestOfParent<T extends { readonly parent: number }>(
  shape: Shape<T>,
  who: string,
): Promise<T | undefined> {
  try {
    const request = shape(JSON.parse(await text(process.stdin)), '')
    if (request.parent !== process.ppid) throw new Error('the request is not from the parent process')
    return request
  } catch (error) {
    process.stderr.write(`volctl: not a request to the ${who}: ${errorMessage(error)}\n`)
    process.exitCode = 1
    return undefined
  }
}
