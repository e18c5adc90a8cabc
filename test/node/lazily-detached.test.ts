import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { LAZY_FILE, type LazyRecord, rememberLazy } from '../../src/core/apply/lazy-memory.ts'
import { parseMountinfo } from '../../src/core/mountinfo/parse-mountinfo.ts'
import { readLazilyDetached } from '../../src/core/node/lazily-detached.ts'

const record: LazyRecord = { bootID: 'b1', path: '/r/pods/u/v', dev: '0:50', fsType: 'nfs', volume: 'nfs/x' }
const stillThere = '50 1 0:50 / /r/pods/u/v rw - nfs server:/x rw\n'
const anotherThere = '51 1 0:51 / /r/pods/u/v rw - nfs server:/x rw\n'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'volctl-lazy-'))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

const read = ({ bootID = 'b1', mountinfo = '', gone = false } = {}) =>
  readLazilyDetached({ directory, bootID, mounts: parseMountinfo(mountinfo), isSuperblockGone: () => gone })

describe('what was detached lazily (S20)', () => {
  it.each([
    { name: 'is remembered', given: {}, want: [{ path: '/r/pods/u/v', dev: '0:50', volume: 'nfs/x' }] },
    { name: 'is over with its superblock', given: { gone: true }, want: [] },
    { name: 'is over with the boot', given: { bootID: 'b2' }, want: [] },
    { name: 'was not detached if it is still mounted', given: { mountinfo: stillThere }, want: [] },
    { name: 'counts beside a new mount on its place', given: { mountinfo: anotherThere }, want: [{ dev: '0:50' }] },
  ])('$name', ({ given, want }) => {
    rememberLazy(directory, record)
    expect(read(given)).toMatchObject(want)
    expect(read(given)).toHaveLength(want.length)
  })

  it('is read past a line that a crash cut off', () => {
    writeFileSync(join(directory, LAZY_FILE), '{"bootID":"b1","pa')
    rememberLazy(directory, record)
    expect(read()).toHaveLength(1)
  })

  it('is nothing where there is no such file', () => {
    expect(read()).toEqual([])
  })
})
