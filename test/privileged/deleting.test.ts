/** S12, S13: the data of a pod that is gone is deleted by descriptors, never beyond its volume, and never under somebody's hands. */
import { existsSync, linkSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { describe, expect } from 'vitest'
import { deleteContent } from '../../src/core/linux/delete-content.ts'
import { containingMount } from '../../src/core/linux/location.ts'
import { statesOf } from '../helpers/apply-plan.ts'
import { it } from '../helpers/machine.ts'
import { noRoot, noSystemCalls } from '../helpers/namespace.ts'
import { sh } from '../helpers/scenario.ts'
import { inventory } from './inventory.ts'
import { race } from './swapping.ts'
import { apply, makeDir, operation, readMounts, volumeDir } from './workers/real-node.ts'

async function attempt(path: string, mountIds = 0): Promise<string> {
  const mountId = (containingMount(readMounts(), path)?.id ?? -1) + mountIds
  return deleteContent(path, { mountId }).then(
    ({ files }) => `deleted ${files}`,
    ({ code, message }) => (code === 'WriteFailed' ? message.split(': ').at(-1) : code),
  )
}

interface Place {
  readonly directory: string
  readonly volume: string
  /** Beside the volume, on the same device: nothing in it may change. */
  readonly outside: string
}

function bound({ volume, outside }: Place): void {
  makeDir(`${volume}/0-bind`)
  sh('mount', '--bind', outside, `${volume}/0-bind`)
}

describe('S12: deleting content', () => {
  it.for<{
    readonly what: string
    readonly plant: (place: Place) => void
    readonly remove?: (place: Place) => Promise<string>
    readonly outcome: string
    readonly left: readonly string[]
    readonly cannot?: string | undefined
  }>([
    {
      what: 'links, a pipe, and odd names',
      plant: ({ volume, outside }) => {
        symlinkSync(outside, `${volume}/dir-link`)
        symlinkSync('/', `${volume}/root-link`)
        makeDir(`${volume}/sub`)
        symlinkSync('../../outside/a', `${volume}/sub/up-link`)
        sh('mkfifo', `${volume}/fifo`)
        writeFileSync(Buffer.concat([Buffer.from(`${volume}/`), Buffer.from([0xff, 0xfe, 0x0a])]), 'x')
        for (const name of [' blank\\and\nnewline', '\u001b[2J\u0007', '\\040 $(id)', 'f'.repeat(255)])
          writeFileSync(`${volume}/${name}`, 'x')
        for (const name of ['-rf', 'd'.repeat(255)]) makeDir(`${volume}/${name}`)
      },
      outcome: 'deleted 9',
      left: [],
    },
    {
      what: 'deeper than descriptors are kept open for',
      plant: ({ volume }) => {
        process.chdir(volume)
        for (let depth = 0; depth < 1500; depth++) {
          writeFileSync('file', 'x')
          mkdirSync('directory')
          process.chdir('directory')
        }
        process.chdir('/')
      },
      outcome: 'deleted 1500',
      left: [],
    },
    {
      what: 'more names than are read of a directory at a time',
      plant: ({ volume }) => {
        for (let n = 0; n < 10_001; n++) writeFileSync(`${volume}/${n}`, '')
      },
      outcome: 'deleted 10001',
      left: [],
    },
    {
      what: 'a file that is not to be changed',
      plant: ({ volume }) => {
        for (const name of ['a', 'b']) writeFileSync(`${volume}/${name}`, 'x')
        sh('chattr', '+i', `${volume}/b`)
      },
      remove: ({ volume }) => attempt(volume).finally(() => sh('chattr', '-i', `${volume}/b`)),
      outcome: 'it, or its directory, is immutable or append-only (EPERM)',
      left: ['b'],
      cannot: noRoot,
    },
    // The same device, the same kind of directory: only the mount's id tells.
    { what: 'a bind mount', plant: bound, outcome: 'ForeignMount', left: ['0-bind'] },
    {
      what: 'a bind mount of a file',
      plant: ({ volume, outside }) => {
        writeFileSync(`${volume}/0-bind`, '')
        sh('mount', '--bind', `${outside}/a`, `${volume}/0-bind`)
      },
      outcome: 'ForeignMount',
      left: ['0-bind'],
    },
    {
      what: 'a link in place of the volume, or above it',
      plant: ({ directory, outside }) => symlinkSync(outside, `${directory}/link`),
      remove: async ({ directory }) =>
        `${await attempt(`${directory}/link`)}, ${await attempt(`${directory}/link/deep`)}`,
      outcome: 'ENOTDIR, Swapped',
      left: [],
    },
    {
      what: 'another mount in place of the volume',
      plant: ({ volume }) => writeFileSync(`${volume}/file`, 'x'),
      remove: ({ volume }) => attempt(volume, 1),
      outcome: 'ForeignMount',
      left: ['file'],
    },
  ])(
    '$what: $outcome, and nothing outside has changed',
    async ({ plant, remove, outcome, left, cannot }, { directory, skip }) => {
      skip(cannot !== undefined, cannot)
      const place: Place = {
        directory,
        volume: makeDir(`${directory}/volume`),
        outside: makeDir(`${directory}/outside/deep/er`).replace('/deep/er', ''),
      }
      for (const name of ['a', 'deep/er/c']) writeFileSync(`${place.outside}/${name}`, `precious ${name}`)
      const before = inventory(place.outside)
      plant(place)
      expect(await (remove?.(place) ?? attempt(place.volume))).toBe(outcome)
      expect(readdirSync(place.volume)).toEqual(left)
      expect(inventory(place.outside)).toEqual(before)
    },
  )

  it('a hard link to a file outside goes alone', async ({ directory }) => {
    const volume = makeDir(`${directory}/volume`)
    writeFileSync(`${directory}/outside`, 'precious')
    linkSync(`${directory}/outside`, `${volume}/hard-link`)
    expect(await attempt(volume)).toBe('deleted 1')
    expect(existsSync(`${directory}/outside`)).toBe(true)
  })

  it('S13: of an emptyDir in which the plan saw no file only directories are deleted', async ({ directory }) => {
    const root = makeDir(`${directory}/kubelet`)
    const volume = { name: 'v', plugin: 'kubernetes.io/empty-dir', mode: 'Filesystem' } as const
    const ends = async (pod: number, given: object): Promise<unknown> => {
      const dir = volumeDir(root, pod, 'v', 'kubernetes.io~empty-dir')
      makeDir(`${dir}/sub/empty`)
      writeFileSync(`${dir}/sub/file`, 'x')
      const steps = [
        { op: 'deleteContent', target: dir },
        { op: 'rmdir', target: dir },
      ] as const
      const { a } = statesOf(await apply(root, [operation('a', pod, steps, { volume, ...given })]))
      return [a, existsSync(`${dir}/sub/file`)]
    }
    expect(await ends(1, {})).toEqual(['failed UnexpectedFile', true])
    expect(await ends(2, { deletes: { files: 1, bytes: 1 } })).toEqual(['done', false])
  })

  it('while its directories are swapped for links, and for mounts', async ({ directory, skip }) => {
    skip(noSystemCalls !== undefined, noSystemCalls)
    for (const kind of ['links', 'traps'])
      expect(await race(makeDir(`${directory}/${kind}`), kind, 300)).toMatchObject({ untouched: true, left: [] })
  })
})
