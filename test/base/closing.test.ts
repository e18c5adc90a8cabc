import { closeSync, fstatSync, openSync } from 'node:fs'
import { expect, it } from 'vitest'
import { closing, closingOnError } from '../../src/core/base/closing.ts'

const fails = (): never => {
  throw new Error('it fails')
}

it('what is worked with is closed, whatever becomes of that', () => {
  for (const work of [fstatSync, fails]) {
    const fd = openSync('/', 'r')
    const done = () => closing(fd, work)
    if (work === fails) expect(done).toThrow('it fails')
    else expect(done()).toMatchObject({ ino: expect.any(Number) })
    expect(() => fstatSync(fd)).toThrow('EBADF')
  }
})

it('what is handed on stays open, unless that fails', () => {
  const fd = openSync('/', 'r')
  expect(closingOnError(fd, (opened) => opened)).toBe(fd)
  closeSync(fd)
  const other = openSync('/', 'r')
  expect(() => closingOnError(other, fails)).toThrow('it fails')
  expect(() => fstatSync(other)).toThrow('EBADF')
})
