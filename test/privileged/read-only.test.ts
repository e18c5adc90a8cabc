/** A real ext4 that turns read-only under a pod that writes: everything else of the volume is as it was. */
import { beforeAll, describe, expect, it } from 'vitest'
import { inNamespace } from '../helpers/in-namespace.ts'
import { noBlockDevices } from '../helpers/namespace.ts'
import type { ReadOnlyReport } from './workers/read-only.ts'

const WORKER = new URL('./workers/read-only.ts', import.meta.url)
const AS_IT_SHOULD_BE = 'Nothing to do: every volume on this node is as it should be.'

describe.skipIf(noBlockDevices !== undefined)(
  `a file system that turns read-only${noBlockDevices === undefined ? '' : ` (${noBlockDevices})`}`,
  () => {
    let report: ReadOnlyReport
    beforeAll(async () => {
      report = await inNamespace<ReadOnlyReport>(WORKER, 'turned')
    })

    it('control: the pod writes, and every volume is as it should be', () => {
      expect(report.before).toMatchObject({ status: 0, operations: 0, problems: [], bottomLine: AS_IT_SHOULD_BE })
      expect(report.before.write).toBeUndefined()
    })

    it.each(['remounted', 'broken'] as const)('S31: %s: the write fails, and plan and explain say so', (how) => {
      const { write, status, operations, verdict, bottomLine, problems } = report[how]
      expect({ write, status, operations }).toEqual({ write: 'EROFS', status: 1, operations: 0 })
      // One for each pod that writes to it.
      expect(new Set(problems)).toEqual(new Set(['error ReadOnlyFileSystem pv-common']))
      expect(verdict).toBe('problem ReadOnlyFileSystem')
      expect(bottomLine).not.toBe(AS_IT_SHOULD_BE)
    })

    it('each in its own words: newer kernels keep "rw" after an error', () => {
      expect(report.remounted.options).toContain('ro')
      expect(report.broken.options.filter((each) => each === 'ro' || each === 'emergency_ro')).toHaveLength(1)
    })

    it('of pods that only read nothing is said', () => {
      expect(report.reader).toMatchObject({ write: 'EROFS', status: 0, problems: [], bottomLine: AS_IT_SHOULD_BE })
    })
  },
)
