import { closeSync, fstatSync, openSync } from 'node:fs'
import { expect, it } from 'vitest'
import { closing, closingOnError } from '../../src/core/messages/findings.ts'

const fails = (): never => {
  throw new Error('it fails')
}

it.each([{ how: closing }, { how: closingOnError }])(
  '$how.name closes a file whatever becomes of it, but for one that is handed on',
  ({ how }) => {
    const [fd, other] = [openSync('/', 'r'), openSync('/', 'r')]
    expect(how(fd, () => 'it works')).toBe('it works')
    if (how === closingOnError) closeSync(fd)
    expect(() => how(other, fails)).toThrow('it fails')
    for (const closed of [fd, other]) expect(() => fstatSync(closed)).toThrow('EBADF')
  },
)
