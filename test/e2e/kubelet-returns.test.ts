import { describe, expect, it } from 'vitest'
import { noMounts } from '../helpers/namespace.ts'
import { runScenario } from './run-scenario.ts'
import type { KubeletReturnsReport } from './scenarios/kubelet-returns.ts'

describe.skipIf(noMounts !== undefined)('the kubelet starts while apply waits for the API server', () => {
  it('S11: nothing is done on the answer, which is older than the kubelet', async () => {
    const { status, ends, unchanged } = await runScenario<KubeletReturnsReport>('kubelet-returns')
    expect(unchanged).toBe(true)
    expect(ends.length).toBeGreaterThan(10)
    expect(ends.filter((end) => !/: (?:refused|skipped) KubeletRunning$/.test(end))).toEqual([])
    expect(status).toBe(4)
  })
})
