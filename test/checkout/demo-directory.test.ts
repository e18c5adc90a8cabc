import { closeSync, existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, expect, it } from 'vitest'
import { lockedDirectory, sweepUnlocked } from '../helpers/demo-directory.ts'
import { sweep, temporary } from '../helpers/left-behind.ts'

const { TMPDIR: before } = process.env
const place = temporary('volctl-demo-directory-')
beforeEach(() => {
  process.env.TMPDIR = place
})
afterEach(() => {
  if (before === undefined) delete process.env.TMPDIR
  else process.env.TMPDIR = before
})
afterAll(() => sweep(place))

it('what no process has locked is swept, and nothing else', () => {
  const living = lockedDirectory('demo-')
  const dead = lockedDirectory('demo-')
  closeSync(dead.lock)
  mkdirSync(join(dead.path, 'kubelet/pods'), { recursive: true })
  mkdirSync(join(place, 'other'))
  symlinkSync(join(place, 'other'), join(place, 'demo-link'))
  expect(sweepUnlocked('demo-')).toEqual([dead.path])
  expect(
    [dead.path, living.path, join(place, 'demo-link'), join(place, 'other')].map((path) => existsSync(path)),
  ).toEqual([false, true, true, true])
  closeSync(living.lock)
  expect(sweepUnlocked('demo-')).toEqual([living.path])
})
