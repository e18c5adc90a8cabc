/** Set-up, its verifying and its taking back on every propagation layout of the root directory (S8, S18, O35). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inNamespace, inSameNamespace } from '../../helpers/in-namespace.ts'
import { noBlockDevices, noMounts } from '../../helpers/namespace.ts'
import { LAYOUT } from '../../helpers/scenario.ts'
import { type Layout, layouts, timesInTable } from '../../helpers/scene/layouts.ts'

const WORKER = new URL('./half-way.worker.ts', import.meta.url)
/** A whole node, broken, and the built volctl. */
const RULES = new URL('../safety/rules.worker.ts', import.meta.url)
const run = <T>(scenario: string): Promise<T> => inSameNamespace<T>(WORKER, scenario)

function standOn(layout: Layout): void {
  beforeAll(() => {
    process.env[LAYOUT] = layout
  })
  afterAll(() => {
    delete process.env[LAYOUT]
  })
}

/** By kind of volume: how often the set-up mounts before it breaks. */
const KINDS = [
  { kind: 'secret', mounts: 1, devices: false },
  { kind: 'memory', mounts: 1, devices: false },
  { kind: 'bind', mounts: 1, devices: false },
  { kind: 'device', mounts: 2, devices: true },
  { kind: 'block', mounts: 1, devices: true },
] as const
// A second binding is made when volumes are there; here none are yet.
const LAYOUTS = layouts.filter((layout) => layout !== 'bound-later')

describe.skipIf(noMounts !== undefined)(`set-up on layouts${noMounts === undefined ? '' : `: ${noMounts}`}`, () => {
  describe.each(LAYOUTS)('the root directory: %s', (layout) => {
    standOn(layout)
    const times = timesInTable(layout)

    it.for(KINDS)(
      'S8, S18: $kind that fails half-way leaves nothing, and is brought up and down by the next',
      async ({ kind, mounts, devices }, { skip }) => {
        skip(devices && noBlockDevices !== undefined, noBlockDevices)
        const isBlock = kind === 'block'
        expect(await run(kind)).toEqual({
          failed: [`${isBlock ? 'MapVolume' : 'MountVolume'} failed`],
          saysLeft: false,
          mounted: mounts * times,
          left: 0,
          up: [`${isBlock ? 'MapVolume' : 'MountVolume'} done`],
          after: 0,
          down: [],
          leftAtLast: 0,
          exists: false,
        })
      },
    )

    it.for(KINDS)(
      'S18: what somebody has mounted over $kind meanwhile stays, and is named',
      async ({ kind, devices }, { skip }) => {
        skip(devices && noBlockDevices !== undefined, noBlockDevices)
        expect(await run(`${kind}Over`)).toEqual({ says: true, put: true, kept: 0, content: 'kept' })
      },
    )

    it('S18: what somebody mounts right before volctl does is foreign, and stays', async () => {
      expect(await run('secretUnder')).toEqual({ ends: ['MountVolume failed ForeignMount'], put: true, kept: 0 })
    })

    it('S23: changed content is written where the pod sees it, and nothing is mounted anew', async () => {
      expect(await run('remount')).toEqual({
        up: ['MountVolume done'],
        asked: [['RemountVolume', 'NotAsked']],
        applied: ['RemountVolume done'],
        text: 'another',
        after: 0,
        lines: 0,
      })
    })
  })

  describe('the root directory: shared-self-bind', () => {
    standOn('shared-self-bind')

    it('S24: somebody else who has a staged volume mounted keeps it staged; its copy is nobody', async () => {
      const found = await inNamespace<{ blocked: string[]; saw: string }>(RULES, 'S24')
      expect(found.blocked).toEqual(['DetachVolume vol-old: Predecessor', 'UnmountDevice vol-old: HeldBy'])
      expect(found.saw).not.toBe('')
      expect((await inNamespace<{ blocked: string[] }>(RULES, 'control')).blocked).toEqual([])
    })

    it('S18: a foreign mount over a volume blocks it and stays', async () => {
      const found = await inNamespace<{ blocked: string[]; saw: string }>(RULES, 'S18')
      expect(found.blocked).toEqual(['UnmountVolume pv-common: ForeignMount'])
      expect(found.saw).toBe('x')
    })

    it('S18: a copy that stays when its mount has gone is named', async () => {
      expect(await run('copyStays')).toEqual({
        says: expect.stringMatching(
          /left as it is: the mount on \S+ \(a copy of the mount remains, the tmpfs mount \d+ of \S+ on \S+: tmpfs mount \d+ of foreign on \S+\/sub is mounted on it\)/,
        ),
        stays: 1,
        seen: false,
      })
    })
  })

  describe.each<Layout>(['private', 'shared'])('the root directory: %s, and bound over itself later', (layout) => {
    standOn(layout)

    it('S18: what no path leads to any more is no mounted volume, and is not mounted over; all else goes on', async () => {
      expect(await run('boundLate')).toEqual({
        up: ['MountVolume done'],
        blocked: [['MountVolume', 'ForeignMount']],
        applied: expect.arrayContaining(['MountVolume done', 'MountVolume done', 'MountVolume blocked ForeignMount']),
        there: ['tmpfs', 'tmpfs'],
        down: expect.arrayContaining(['UnmountVolume done', 'UnmountVolume done', 'RemoveOrphanPodDir done']),
        kept: 0,
        after: 0,
      })
    })
  })
})
