import { text as readAll } from 'node:stream/consumers'
import { errorMessage } from '../errors/errors.ts'
import type { Shape } from '../json/shape.ts'

/**
 * What a child of volctl's own (own-child.ts) is to do: one JSON document on its standard input.
 *
 * @param who the child's name, for the message
 * @returns undefined where the input is not such a request of this process's parent: then a message is written, the exit
 * status is 1, and nothing may be touched
 */
export async function requestOfParent<T extends { readonly parent: number }>(
  shape: Shape<T>,
  who: string,
): Promise<T | undefined> {
  try {
    const request = shape(JSON.parse(await readAll(process.stdin)), '')
    if (request.parent !== process.ppid) throw new Error('the request is not from the parent process')
    return request
  } catch (error) {
    process.stderr.write(`volctl: not a request to the ${who}: ${errorMessage(error)}\n`)
    process.exitCode = 1
    return undefined
  }
}
