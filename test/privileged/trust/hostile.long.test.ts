/**
 * S34: whole runs beside processes of another user that have too much of something: they end in time and in bounds, Ctrl-C is
 * answered within a second, and what could not be read is in use and named (S3).
 */
import { describe, expect, it, onTestFailed } from 'vitest'
import { inNamespace } from '../../helpers/in-namespace.ts'
import { noRoot } from '../../helpers/namespace.ts'
import type { HostileReport } from './hostile.worker.ts'
import { LIMIT_MIB } from './limits.ts'

const WORKER = new URL('./hostile.worker.ts', import.meta.url)

const ANSWER_MS = 1000

async function beside(hostile: string): Promise<HostileReport> {
  const report = await inNamespace<HostileReport>(WORKER, 'beside', [hostile])
  if (process.env.VOLCTL_HOSTILE_TABLE === '1') console.log(hostile, JSON.stringify(report, undefined, 1))
  onTestFailed(() => console.error(JSON.stringify(report, undefined, 1)))
  const late = Object.entries(report.interrupted).filter(([, ms = 0]) => ms > ANSWER_MS)
  expect(late).toEqual([])
  for (const [command, { ended, peakMiB }] of Object.entries(report.runs)) {
    expect(ended, command).toBe('itself')
    expect(peakMiB, command).toBeLessThan(LIMIT_MIB)
  }
  return report
}

describe.skipIf(noRoot !== undefined)(
  `beside processes of another user${noRoot === undefined ? '' : ` (${noRoot})`}`,
  () => {
    it('control: beside none all of it goes', async () => {
      const { kept, left, runs } = await beside('nothing')
      expect({ kept, left, status: runs.apply?.status }).toEqual({ kept: false, left: [], status: 0 })
    })

    it.each([
      { hostile: 'mappings of three processes', codes: ['UsersUnknown'] },
      { hostile: 'descriptors and threads', codes: ['UsersUnknown'] },
      // They have copies of what is mounted.
      { hostile: 'mounts on one path', codes: ['HeldBy', 'UsersUnknown'] },
      { hostile: 'mounts and mount namespaces', codes: ['HeldBy', 'UsersUnknown'] },
    ])('S3, S34: $hostile: what is not done names one of them', async ({ hostile, codes }) => {
      const { left, kept, deleted } = await beside(hostile)
      // Either it was seen that nobody uses the data, or it is still there.
      expect(kept).toBe(!deleted)
      if (kept) expect(left).not.toEqual([])
      for (const each of left) expect(each).toMatch(new RegExp(`^(?:${codes.join('|')}): .*\\(pid \\d+\\)`, 's'))
    })
  },
)
