/**
 * Every use of a disk by every operation that takes it away (S21, S24). Nobody's, and what is no use, let each of them be
 * done: the disk that the others are refused for was free.
 */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { inNamespace } from '../helpers/in-namespace.ts'
import { noBlockDevices, noSystemCalls } from '../helpers/namespace.ts'

process.env.BTRFS_IMAGE = fileURLToPath(new URL('../fixtures/btrfs/empty.img.br', import.meta.url))
const noBtrfs = /\tbtrfs$/m.test(readFileSync('/proc/filesystems', 'utf8')) ? undefined : ': this kernel has none'

const WORKER = new URL('./device-uses.worker.ts', import.meta.url)
const TAKINGS = ['UnmountDevice', 'DetachVolume', 'UnmapVolume', 'UnmapDevice'] as const

type Outcomes = Record<(typeof TAKINGS)[number], string>

const SLEEP = /(?:sleep|sh) \(pid \d+\)/.source

describe.skipIf(noBlockDevices !== undefined)(`who uses the disk of a volume${noBlockDevices ?? ''}`, () => {
  let found: Record<string, Outcomes>
  beforeAll(async () => {
    found = await inNamespace(WORKER, 'everybody')
  })

  it.each(['nobody', 'only the place of its device file'])('S21: %s: it is taken away', (use) => {
    expect(found[use]).toEqual(Object.fromEntries(TAKINGS.map((taking) => [taking, 'done'])))
  })

  it.each([
    { use: 'its device file open for reading', who: `${SLEEP}, which has DISKp1 open` },
    { use: 'its device file open for writing', who: `${SLEEP}, which has DISKp1 open` },
    { use: 'the disk open', who: `${SLEEP}, which has DISK open` },
    { use: 'the other partition open', who: `${SLEEP}, which has DISKp2 open` },
    {
      use: 'its number open in a namespace, under a name of its own',
      // What is staged has a second mount in a namespace that is a copy: also a use (S24).
      who: `${SLEEP}, which has DISKp1 open|globalmount, in the mount namespace of ${SLEEP}`,
    },
    { use: 'the other partition mounted', who: 'ext4 mount \\d+ of DISKp2 on /backup' },
    {
      use: 'the other partition mounted in a namespace',
      who: `ext4 mount \\d+ of DISKp2 on /away, in the mount namespace of ${SLEEP}|globalmount, in the mount namespace of ${SLEEP}`,
    },
    {
      use: 'the other partition detached lazily',
      who: 'the ext4 file system on DISKp2, which is still mounted or has open files',
    },
    { use: 'a loop device on the other partition', who: '/dev/loop\\d+, backed by DISKp2' },
  ])('S21: $use: nothing takes it away', ({ use, who }) => {
    for (const taking of TAKINGS) {
      expect(found[use]?.[taking], taking).toMatch(/^refused HeldBy: volume pv is still in use/)
      expect(found[use]?.[taking], taking).toMatch(new RegExp(who))
    }
  })
})

describe.skipIf((noBlockDevices ?? noSystemCalls) !== undefined)(
  `who has the disk of a volume mapped${noBlockDevices ?? noSystemCalls ?? ''}`,
  () => {
    it('S21: a device that is mapped, with no descriptor of it, is not taken away', async () => {
      const found = await inNamespace<Record<string, Outcomes>>(WORKER, 'everybody', ['its memory mapped'])
      const ends = found['its memory mapped']
      for (const taking of TAKINGS)
        expect(ends?.[taking]).toMatch(/^refused HeldBy: .* \(pid \d+\), which has \S*DISKp1 mapped/)
    })
  },
)

describe.skipIf(noBlockDevices !== undefined)(`a volume that is no disk of its own${noBlockDevices ?? ''}`, () => {
  describe('a directory of a file system that is kept by somebody else (O36)', () => {
    let found: Record<'own' | 'kept', Record<string, string>> & { since: string }
    beforeAll(async () => {
      found = await inNamespace(WORKER, 'directories')
    })

    it.each(['nobody', 'another directory of the file system open', 'another directory of it mounted'])(
      'S21: %s: it is detached, whatever else the file system is used for',
      (use) => {
        expect([found.own[use], found.kept[use]]).toEqual(['done', 'done'])
      },
    )

    it.each([
      { use: 'a file of it open', who: /sleep|sh/ },
      { use: 'a process in it', who: /sleep|sh/ },
      { use: 'a directory of it mounted', who: /mount \d+ of .* on \/second/ },
      { use: 'it mounted in a namespace', who: /mount \d+ of .* on \/away, in the mount namespace of/ },
      { use: 'a loop device on a file of it', who: /\/dev\/loop\d+, backed by .*\/vol-1\/image/ },
    ])('S21: $use: it is not detached', ({ use, who }) => {
      for (const end of [found.own[use], found.kept[use]]) {
        expect(end).toMatch(/^refused HeldBy/)
        expect(end).toMatch(who)
      }
    })

    it('S21: the whole of it was mounted elsewhere only after the volume: it is the disk of the volume', () => {
      expect(found.since).toMatch(/^refused HeldBy: .*ext4 mount \d+ of .* on \/since/)
    })
  })

  describe('a file system with a number of its own, detached lazily with a file open', () => {
    let found: Record<'inMemory' | 'btrfs', Record<'free' | 'held' | 'mounted' | 'open', string>>
    beforeAll(async () => {
      found = await inNamespace(WORKER, 'lazily')
    })

    it('S20, S21: one without a disk holds the detach by whoever has the file open', () => {
      expect(found.inMemory.free).toBe('done')
      expect(found.inMemory.held).toMatch(/^refused HeldBy: .*(sleep|sh) \(pid \d+\), which has \/file open/)
    })

    it.skipIf(noBtrfs !== undefined)(`S20, S21: btrfs holds it by its source device${noBtrfs ?? ''}`, () => {
      expect(found.btrfs.free).toBe('done')
      expect(found.btrfs.held).toMatch(/^refused HeldBy: .*a process or a device that has \/dev\/loop\d+ open/)
      expect(found.btrfs.mounted).toMatch(/^refused HeldBy: .*btrfs mount \d+ of \/dev\/loop\d+ on \/btrfs/)
      expect(found.btrfs.open).toMatch(/^refused HeldBy: .*(sleep|sh) \(pid \d+\), which has \/dev\/loop\d+ open/)
    })
  })
})
