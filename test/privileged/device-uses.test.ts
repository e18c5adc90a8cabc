/**
 * Every use of a disk by every operation that takes it away (S21, S24). Nobody's, and what is no use, let each of them be
 * done: the disk that the others are refused for was free.
 */
import { beforeAll, describe, expect, it } from 'vitest'
import { inNamespace, noBlockDevices } from '../helpers/namespace.ts'

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
      who: `${SLEEP}, which has DISKp1 open|globalmount, in the namespace of ${SLEEP}`,
    },
    { use: 'the other partition mounted', who: 'ext4 mount \\d+ of DISKp2 on /backup' },
    {
      use: 'the other partition mounted in a namespace',
      who: `ext4 mount \\d+ of DISKp2 on /away, in the namespace of ${SLEEP}|globalmount, in the namespace of ${SLEEP}`,
    },
    { use: 'the other partition detached lazily', who: 'a ext4 superblock' },
    { use: 'a loop device on the other partition', who: '/dev/loop\\d+, backed by DISKp2' },
  ])('S21: $use: nothing takes it away', ({ use, who }) => {
    for (const taking of TAKINGS) {
      expect(found[use]?.[taking], taking).toMatch(/^refused HeldBy: volume pv is still in use/)
      expect(found[use]?.[taking], taking).toMatch(new RegExp(who))
    }
  })
})
