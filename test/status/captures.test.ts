/** The status of every captured node says what its plan says, of every volume. A folder added later is picked up. */
import { expect, it } from 'vitest'
import { planNode } from '../../src/core/reconcile/plan-node.ts'
import { captureFiles, recorded } from '../helpers/captures.ts'
import { statusDefects } from '../helpers/closed-schema.ts'
import { explain, nodeStatus } from '../helpers/explaining.ts'
import { planOptions } from '../helpers/plan-options.ts'
import { disagreements } from './disagreements.ts'

it.each(captureFiles())(
  '%s: shows what the plan has, and nothing else; what it says to explain next can be explained',
  async (path) => {
    const state = await recorded(path)
    for (const options of [planOptions(), planOptions({ orphans: true, remount: true, expand: true })])
      expect(disagreements(planNode(state, options), nodeStatus(state, options))).toEqual([])
    const status = nodeStatus(state, planOptions())
    expect(statusDefects(status)).toEqual([])
    expect(status.rows.length).toBeGreaterThan(20)
    // What the kubelet reports in use is what volctl computes, once the kubelet has settled.
    expect(
      status.rows.filter(({ inUse, desired }) => desired === 'wanted' && inUse?.reported && !inUse.computed),
    ).toEqual([])
    for (const { command } of status.next ?? []) {
      const what = /^volctl explain (\S+)$/.exec(command)?.[1]
      if (what !== undefined) expect(explain(state, planOptions(), what).explanation.verdict.state).not.toBe('nothing')
    }
  },
)

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
