import { errorMessage } from '../errors/errors.ts'
import type { Shape } from '../json/shape.ts'

/**
 * A request to a child process of volctl (own-child.ts), from its standard input.
 *
 * @param text JSON
 * @param who the child's name, for the message
 * @returns undefined if the input is not a request from this process's parent: then a message has been written, the exit
 * status is 1, and nothing may be touched
 */
export function requestOfParent<T extends { readonly parent: number }>(
  text: string,
  shape: Shape<T>,
  who: string,
): T | undefined {
  try {
    const request = shape(JSON.parse(text), '')
    if (request.parent !== process.ppid) throw new Error('the request is not from the parent process')
    return request
  } catch (error) {
    process.stderr.write(`volctl: not a request to the ${who}: ${errorMessage(error)}\n`)
    process.exitCode = 1
    return undefined
  }
}
