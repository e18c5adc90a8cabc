import { appendFileSync, linkSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { rememberLazy } from '../../src/core/apply/journal/write-journal.ts'
import { parseMountinfo } from '../../src/core/linux/parse-mountinfo.ts'
import { LAZY_FILE, type LazyRecord, readLazilyDetached } from '../../src/core/node/read-lazily-detached.ts'
import { giveAway, NOBODY, noOthersFiles, TRICKS } from '../helpers/others-files.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

const record: LazyRecord = { bootID: 'b1', path: '/r/pods/u/v', dev: '0:50', fsType: 'nfs', volume: 'nfs/x' }
const stillThere = '50 1 0:50 / /r/pods/u/v rw - nfs server:/x rw\n'
const anotherThere = '51 1 0:51 / /r/pods/u/v rw - nfs server:/x rw\n'

let directory: string
beforeEach(() => {
  directory = temporaryDirectory()
})

const read = ({ bootID = 'b1', mountinfo = '', gone = false } = {}) =>
  readLazilyDetached(directory, bootID, parseMountinfo(mountinfo), () => gone)

describe('what was detached lazily (S20)', () => {
  it.each([
    { name: 'is remembered', given: {}, want: [{ path: '/r/pods/u/v', dev: '0:50', volume: 'nfs/x' }] },
    { name: 'is over with its superblock', given: { gone: true }, want: [] },
    { name: 'is over with the boot', given: { bootID: 'b2' }, want: [] },
    { name: 'was not detached if it is still mounted', given: { mountinfo: stillThere }, want: [] },
    { name: 'counts beside a new mount on its place', given: { mountinfo: anotherThere }, want: [{ dev: '0:50' }] },
  ])('$name', ({ given, want }) => {
    rememberLazy(directory, record)
    expect(read(given)).toMatchObject({ detached: want })
    expect(read(given).detached).toHaveLength(want.length)
    expect(read(given).defect).toBeUndefined()
  })

  it('is not over with a boot that nobody knew: it may be this one (S3)', () => {
    rememberLazy(directory, { ...record, bootID: undefined })
    expect(read().detached).toHaveLength(1)
  })

  it('is read past a line that a crash cut off', () => {
    writeFileSync(join(directory, LAZY_FILE), '{"bootID":"b1","pa')
    rememberLazy(directory, record)
    expect(read()).toMatchObject({ detached: [record].map(({ path }) => ({ path })) })
  })

  it.each([
    { name: 'no such file', at: () => directory },
    { name: 'no such directory', at: () => join(directory, 'missing/volctl') },
  ])('is nothing where there is $name', ({ at }) => {
    expect(readLazilyDetached(at(), 'b1', parseMountinfo(''), () => false)).toEqual({ detached: [] })
  })
})

describe('what is there and cannot be believed is not "nothing" (S20, S33)', () => {
  const path = () => join(directory, LAZY_FILE)
  const defect = (why: string | RegExp) => ({
    detached: [],
    defect: { path: path(), why: typeof why === 'string' ? expect.stringContaining(why) : expect.stringMatching(why) },
  })

  it.for(TRICKS)('$name in its place, and nothing waits', ({ make, says, skip }, context) => {
    context.skip(skip !== undefined, skip)
    writeFileSync(join(directory, 'victim'), 'precious')
    make(path(), join(directory, 'victim'))
    expect(read()).toEqual(defect(says))
    expect(() => rememberLazy(directory, record)).toThrow(says)
    expect(readFileSync(join(directory, 'victim'), 'utf8')).toBe('precious')
  })

  it('a second name, which somebody may have made to have us write elsewhere', () => {
    rememberLazy(directory, record)
    linkSync(path(), join(directory, 'second'))
    expect(read()).toEqual(defect('a second name'))
    expect(() => rememberLazy(directory, record)).toThrow('a second name')
  })

  it.each(['{"bootID":"b1"}', '7'])('a line that is no record: %s', (line) => {
    rememberLazy(directory, record)
    appendFileSync(path(), `${line}\n`)
    expect(read()).toEqual(defect(`it has a line that is not a record: ${line}`))
  })

  it.skipIf(noOthersFiles !== undefined)('a directory of another user, with or without a file in it', () => {
    giveAway(directory, 'owner')
    const says = `belongs to uid ${NOBODY}`
    expect(read()).toEqual(defect(`${directory} ${says}`))
    expect(() => rememberLazy(directory, record)).toThrow(says)
  })
})
