/** Where a use is, by the mount that the kernel says it has. */
import { expect, it } from 'vitest'
import { parseMountinfo } from '../../src/core/linux/parse-mountinfo.ts'
import { type ByProcess, Uses } from '../../src/core/users/uses.ts'

const ours = parseMountinfo('1 1 8:1 / / rw - ext4 r rw\n2 1 8:2 / /v rw - ext4 a rw\n')
const theirs = parseMountinfo('11 11 0:50 / / rw - overlay o rw\n12 11 8:1 /data /v rw - ext4 r rw\n')

const PID = 2 ** 22 + 1
const use = (given: Partial<ByProcess>): ByProcess => ({
  pid: PID,
  what: 'file',
  path: '/v/a',
  dev: '8:1',
  inode: '7',
  ...given,
})
const usesOf = (given: Partial<ByProcess>, ofServers = false) => new Uses([use(given)], [ours, theirs], [], ofServers)

it.each([
  { name: 'in our namespace', given: { mount: 2 }, place: { dev: '8:2', path: '/a' } },
  { name: 'in another one, under the same path', given: { mount: 12 }, place: { dev: '8:1', path: '/data/a' } },
  { name: 'deleted', given: { mount: 2, path: '/v/a (deleted)', deleted: true }, place: { dev: '8:2', path: '/a' } },
  {
    name: 'with a name that ends so',
    given: { mount: 2, path: '/v/a (deleted)' },
    place: { dev: '8:2', path: '/a (deleted)' },
  },
])('is known by its mount: $name', ({ given, place }) => {
  const uses = usesOf(given)
  expect(uses.holdersIn(place)).toHaveLength(1)
  expect(uses.strays).toEqual([])
})

it.each([
  { name: 'by a mount that no table shows', given: { mount: 99 } },
  { name: 'with a path that is not in its mount', given: { mount: 2, path: '/elsewhere' } },
  { name: 'with a path too long to be told', given: { mount: 1, path: '/…' } },
])('is a stray $name', ({ given }) => {
  expect(usesOf(given).strays).toHaveLength(1)
})

it('a deleted file on a mount that is gone is lost, and keeps its file system', () => {
  const uses = usesOf({ mount: 99, deleted: true })
  expect(uses.strays).toEqual([])
  expect(uses.detached(['8:1'])).toHaveLength(1)
  expect(usesOf({ mount: 1 }).detached(['8:1'])).toEqual([])
})

it.each([
  { error: 'ENOTCONN', ofServers: false, known: true },
  { error: 'ENOTCONN', ofServers: true, known: false },
  { error: 'EIO', ofServers: false, known: false },
])(
  'what does not say which file it is may be in use, but for a server’s: $error, $ofServers',
  ({ error, ofServers, known }) => {
    const { unseen } = usesOf({ mount: 99, error }, ofServers)
    expect(unseen.map(({ hint }) => `${hint}`.includes(`ps -fp ${PID}`))).toEqual(known ? [] : [true])
  },
)
