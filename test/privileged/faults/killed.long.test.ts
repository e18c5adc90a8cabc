import { beforeAll, describe, expect, it } from 'vitest'
import { inNamespace } from '../../helpers/in-namespace.ts'
import { noBlockDevices } from '../../helpers/namespace.ts'

const WORKER = new URL('./killed.worker.ts', import.meta.url)

interface Killed {
  readonly kills: number
  readonly kinds: readonly string[]
  /** In words. */
  readonly problems: readonly string[]
}

describe.skipIf(noBlockDevices !== undefined)(
  `an apply is killed${noBlockDevices === undefined ? '' : ` (${noBlockDevices})`}`,
  () => {
    let report: { refresh: Killed; undo: Killed; kept: string[]; violations: unknown[] }
    beforeAll(async () => {
      report = await inNamespace(WORKER, 'killed')
    })

    it('before any change of RemountVolume or ExpandVolume: the next one does the rest', () => {
      const { problems, kills, kinds } = report.refresh
      expect(problems).toEqual([])
      expect(kinds).toEqual(['RemountVolume', 'ExpandVolume'])
      expect(kills).toBeGreaterThan(10)
    })

    it('before any step of CleanOrphanVolume, UnmapVolume or UnmapDevice: the next one does the rest', () => {
      const { problems, kills, kinds } = report.undo
      expect(problems).toEqual([])
      expect(kinds).toEqual(expect.arrayContaining(['CleanOrphanVolume', 'UnmapVolume', 'UnmapDevice']))
      expect(kills).toBeGreaterThan(10)
    })

    it('again and again: the content is the same, and the driver was asked as the specification wants', () => {
      expect(report.kept).toEqual(['precious', 'precious'])
      expect(report.violations).toEqual([])
    })
  },
)
