import { text as readAll } from 'node:stream/consumers'
import { errorMessage } from '../errors/errors.ts'
import type { Shape } from '../json/shape.ts'

/**
 * What a child of volctl's own (own-child.ts) is to do: one JSON document on its standard input.
 *
 * @param who the child, in words
 * @returns undefined where it is no such request, or not of this process's parent: that is said, the exit status is 1, and
 * nothing may be touched
 */
export async function requestOfParent<T extends { readonly parent: number }>(
  shape: Shape<T>,
  who: string,
): Promise<T | undefined> {
  try {
    const request = shape(JSON.parse(await readAll(process.stdin)), '')
    if (request.parent !== process.ppid) throw new Error('it is not asked by its parent')
    return request
  } catch (error) {
    process.stderr.write(`volctl: not a request to the ${who}: ${errorMessage(error)}\n`)
    process.exitCode = 1
    return undefined
  }
}
