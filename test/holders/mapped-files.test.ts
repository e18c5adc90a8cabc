import { describe, expect, it } from 'vitest'
import { type KnownMaps, mappedFiles } from '../../src/core/holders/mapped-files.ts'
import { Places } from '../../src/core/holders/searched-places.ts'
import { parseMountinfo } from '../../src/core/mountinfo/parse-mountinfo.ts'

const table = parseMountinfo('1 0 8:1 / / rw - ext4 r rw\n2 1 0:7 / /k rw - tmpfs a rw\n')
const OWN = process.pid
const PARENT = process.ppid
/** More than the kernel gives. */
const ENDED = 2 ** 22 + 1

/** Says of each process that it is asked about that it has /k/asked mapped. */
const ASKED = `let text = ''
process.stdin.on('data', (piece) => { text += piece }).on('end', () => {
  for (const pid of JSON.parse(text).pids) console.log(JSON.stringify({ pid, paths: ['/k/asked'] }))
})`

describe('mappedFiles, with maps that another search has read', () => {
  const known = (devices: readonly string[], pids: readonly number[]): KnownMaps => ({
    devices,
    pids,
    answers: pids.map((pid) => ({ pid, paths: ['/k/known', '/elsewhere'] })),
  })

  it.each([
    {
      name: 'starts no child where every process is known',
      maps: known(['0:7'], [OWN, PARENT]),
      want: ['known', 'known'],
    },
    {
      name: 'asks about the processes that are not known',
      maps: known(['0:7', '8:1'], [OWN]),
      want: ['known', 'asked'],
    },
    {
      name: 'asks about all where other file systems were looked for',
      maps: known(['8:1'], [OWN, PARENT]),
      want: ['asked', 'asked'],
    },
    { name: 'asks about all where nothing is known', maps: undefined, want: ['asked', 'asked'] },
  ])('$name, and not about one that has ended', async ({ maps, want }) => {
    const suspects = [OWN, PARENT, ENDED].map((pid) => ({ pid, holds: (path: string) => path.startsWith('/k/') }))
    const allKnown = maps !== undefined && want.every((each) => each === 'known')
    const command = allKnown ? ['/nothing/starts/this'] : [process.execPath, '-e', ASKED]
    const { holders, unread } = await mappedFiles(
      new Places(table, ['/k']),
      suspects,
      { command, deadlineMs: 60_000 },
      maps,
    )
    expect(holders.map(({ pid, what, path }) => `${pid} ${what} ${path}`)).toEqual(
      [OWN, PARENT].map((pid, index) => `${pid} map /k/${want[index]}`),
    )
    expect(unread).toEqual([])
  })
})
