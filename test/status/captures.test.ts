/** The status of every captured node says what its plan says, of every volume. A folder added later is picked up. */
import { describe, expect, it } from 'vitest'
import type { NodeState } from '../../src/core/facts/actual/snapshot.ts'
import { planNode } from '../../src/core/reconcile/plan-node.ts'
import { captureFiles, recorded } from '../helpers/captures.ts'
import { statusDefects } from '../helpers/closed-schema.ts'
import { explain, nodeStatus } from '../helpers/explaining.ts'
import { planOptions } from '../helpers/plan-options.ts'
import { disagreements } from './disagreements.ts'

const files = captureFiles()

describe.each(files)('%s', (path) => {
  const load = (): Promise<NodeState> => recorded(path)

  it('shows every operation, wait and problem of the plan, and nothing else', async () => {
    const state = await load()
    for (const options of [planOptions(), planOptions({ orphans: true, remount: true, expand: true })])
      expect(disagreements(planNode(state, options), nodeStatus(state, options))).toEqual([])
  })

  it('has the shape of its schema', async () => {
    const status = nodeStatus(await load(), planOptions())
    expect(statusDefects(status)).toEqual([])
    expect(status.rows.length).toBeGreaterThan(20)
  })

  it('what it says to explain next can be explained', async () => {
    const state = await load()
    const { next = [] } = nodeStatus(state, planOptions())
    for (const { command } of next) {
      const what = /^volctl explain (\S+)$/.exec(command)?.[1]
      if (what !== undefined) expect(explain(state, planOptions(), what).explanation.verdict.state).not.toBe('nothing')
    }
  })

  it('what the kubelet of the capture reports in use is what volctl computes, once the kubelet has settled', async () => {
    const { rows } = nodeStatus(await load(), planOptions())
    const wrong = rows.filter(({ inUse, desired }) => desired === 'wanted' && inUse?.reported && !inUse.computed)
    expect(wrong).toEqual([])
  })
})

it('a healthy node is good, every volume', async () => {
  for (const folder of ['healthy', 'shared-root']) {
    const { rows, summary, next } = nodeStatus(await recorded(`${folder}/node.json`), planOptions())
    expect(rows.filter(({ verdict }) => verdict.state !== 'good')).toEqual([])
    expect(rows.filter(({ mounted, staged }) => /Uncertain/.test(`${mounted}${staged}`))).toEqual([])
    expect(rows.filter(({ inUse }) => inUse?.computed !== inUse?.reported)).toEqual([])
    expect(summary.verdicts).toEqual({ good: rows.length })
    expect(next).toBeUndefined()
  }
})

it('after a reboot every CSI volume is uncertain: its state file is there, and its mount is not (R806)', async () => {
  const { rows } = nodeStatus(await recorded('reboot/before.json'), planOptions())
  const csi = rows.filter(
    ({ pod, volume, desired }) => pod !== undefined && volume.driver !== undefined && desired !== 'ended',
  )
  expect(csi.length).toBeGreaterThan(5)
  expect([...new Set(csi.map(({ mounted }) => mounted))]).toEqual(['VolumeMountUncertain'])
})
