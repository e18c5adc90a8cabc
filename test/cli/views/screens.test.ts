/**
 * What a person reads of every recorded node: plan and plan --orphans on terminals of two sizes and in a pipe, a node whose kubelet runs,
 * and what apply shows before it asks. A few are kept whole in test/screens: `vitest -u` writes them again; look at the difference.
 */
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { withAdvice } from '../../../src/core/plan/next-steps.ts'
import type { Plan } from '../../../src/core/plan/plan.ts'
import { planNode } from '../../../src/core/reconcile/plan-node.ts'
import { countsText } from '../../../src/core/views/answer/needs.ts'
import { renderPlan } from '../../../src/core/views/plan-view.ts'
import { PLAIN_SCREEN, type Screen, UNICODE_SYMBOLS } from '../../../src/core/views/screen.ts'
import type { KubeletSnapshot, NodeState } from '../../../src/core/volumes/snapshot.ts'
import { captureFiles, recorded } from '../../helpers/captures.ts'
import { type NodeBuilder, node, uid } from '../../helpers/node-builder.ts'
import { planOptions } from '../../helpers/plan-options.ts'
import { buildNode, randomNode } from '../../helpers/random-node.ts'
import { SCREENS, saidTwice, tooWide } from '../../helpers/screens.ts'
import { anOperation, aPlan } from '../plan-builder.ts'

const KEPT_IN = join(import.meta.dirname, '..', '..', 'screens')
const TERMINAL: Screen = { ...SCREENS['80x24'], symbols: UNICODE_SYMBOLS }
const SIZES: Readonly<Record<string, Screen>> = { ...SCREENS, '80x24': TERMINAL }

/** Of these the screens are compared with what they were. */
const KEPT: ReadonlySet<string> = new Set(['healthy/node.json', 'recreate/before.json', 'stuck/before.json'])

function planned(state: NodeState, orphans = false): Plan {
  const plan = planNode(state, planOptions({ orphans }))
  return withAdvice(plan, { applyFlags: orphans ? ['--orphans'] : [], settleMs: 120_000 })
}

const withKubelet = (state: NodeState, kubelet: KubeletSnapshot): NodeState => ({
  ...state,
  snapshot: { ...state.snapshot, kubelet },
})

/** The verdict as a person reads it who sees the last lines only. */
function lastLines(text: string, rows: number): string {
  return text.split('\n').slice(-rows).join(' ').replace(/\s+/g, ' ')
}

/** Errors stand on the first screen, the counts and the next command last. */
function expectReadable(plan: Plan, text: string, { width, rows }: Screen): void {
  expect(tooWide(text, width)).toEqual([])
  const seen = lastLines(text, Math.min(rows ?? 24, 24))
  expect(seen).toContain(countsText(plan))
  const [next] = plan.summary.next ?? []
  if (next !== undefined) expect(seen).toContain(`Next: ${next.command} `)
}

describe('every recorded node', () => {
  const lengths: number[] = []

  it.each(captureFiles())('%s', async (path) => {
    const state = await recorded(path)
    const sections: string[] = []
    const seen = new Map<string, string>()
    for (const [command, orphans] of [
      ['plan', false],
      ['plan --orphans', true],
    ] as const) {
      const plan = planned(state, orphans)
      for (const [size, screen] of Object.entries(SIZES)) {
        const text = renderPlan(plan, screen)
        expectReadable(plan, text, screen)
        expect(saidTwice(text)).toEqual([])
        if (size === '80x24') lengths.push(text.split('\n').length - 1)
        const title = `${command}, ${size}`
        const same = seen.get(text)
        seen.set(text, same ?? title)
        sections.push(`##### ${title}\n${same === undefined ? text : `as ${same}\n`}`)
      }
    }
    const file = join(KEPT_IN, path.replace('/', '-').replace('.json', '.txt'))
    if (KEPT.has(path)) await expect(sections.join('\n')).toMatchFileSnapshot(file)
  })

  it('fits on a screen of 24 lines, four of five do; 40 are enough for all', () => {
    expect(lengths.length).toBeGreaterThan(20)
    expect(Math.max(...lengths)).toBeLessThanOrEqual(40)
    expect(lengths.filter((each) => each <= 24).length / lengths.length).toBeGreaterThanOrEqual(0.8)
  })

  it('before apply asks, with every volume (S31)', async () => {
    const plan = planned(await recorded('recreate/before.json'))
    const text = renderPlan(plan, TERMINAL, { confirm: true })
    expect(tooWide(text, 80)).toEqual([])
    expect(lastLines(text, 22)).toContain(countsText(plan))
    await expect(text).toMatchFileSnapshot(join(KEPT_IN, 'recreate-before-apply.txt'))
  })
})

describe('a kubelet that runs', () => {
  it.each<{
    capture: string
    unit: string
    kept?: string
    says?: string
    unstoppable?: KubeletSnapshot['unstoppable']
  }>([
    { capture: 'stuck/after.json', unit: 'k3s-agent.service', kept: 'stuck-running.txt' },
    { capture: 'recreate/before.json', unit: 'kubelet.service' },
    {
      ...{
        capture: 'stuck/after.json',
        unit: 'kubelet.service',
        says: '→ No pod here wants the volume, and the kubelet never unstages it.',
      },
      unstoppable: { why: 'a.timer may start it', remedy: 'End that', command: ['systemctl', 'stop', 'a.timer'] },
    },
  ])(
    '$unit of $capture: what it does, never does, and what to type',
    async ({ capture, unit, kept, says = '', unstoppable }) => {
      const state = withKubelet(await recorded(capture), {
        running: true,
        mayReturn: true,
        unit,
        ...(unstoppable && { unstoppable }),
      })
      const plan = planned(state)
      const text = renderPlan(plan, TERMINAL)
      expectReadable(plan, text, TERMINAL)
      expect(text).toContain(`kubelet running (${unit})`)
      expect(text).not.toContain('the kubelet is running, and volctl leaves the volume to the kubelet')
      const words = text.replaceAll(/\s+/g, ' ')
      expect(words).toContain(says)
      // Where volctl may not stop it, the cause and the next step advise the same instead.
      if (unstoppable !== undefined)
        expect(words.match(/apply --stop-kubelet|a.timer may start it|systemctl stop a.timer/g)).toEqual([
          ...['a.timer may start it', 'systemctl stop a.timer', 'systemctl stop a.timer', 'a.timer may start it'],
        ])
      if (kept !== undefined) await expect(text).toMatchFileSnapshot(join(KEPT_IN, kept))
    },
  )
})

it('a kubelet that stopped a moment ago: all that waits for that is said once, and when to go on', async () => {
  const state = await recorded('stuck/before.json')
  const { capturedAt, kubelet } = state.snapshot
  const stoppedAt = new Date(Date.parse(capturedAt) - 19_000).toISOString()
  const stopped = { mayReturn: false, ...kubelet, running: false, unit: 'kubelet.service', stoppedAt }
  const plan = planned(withKubelet(state, stopped), true)
  const text = renderPlan(plan, TERMINAL)
  expectReadable(plan, text, TERMINAL)
  expect(text.match(/the kubelet stopped/g)).toHaveLength(1)
})

describe('a dead mount is told in the words that people search for', () => {
  const [POD, MOUNT] = [uid(7), 'volumes/kubernetes.io~csi/pv-1/mount']
  const shown = (built: NodeBuilder, error?: string): string =>
    renderPlan(planned(built.dead(`pods/${POD}/${MOUNT}`, error).build()), PLAIN_SCREEN)

  it('of an orphaned pod: at the operation that takes it off', () =>
    expect(shown(node().left(POD))).toMatch(
      /\n {2}dead mount +pv-1: transport endpoint is not connected \(ENOTCONN\)\n/,
    ))

  it('of a pod that wants the volume: as a problem of the pod', () =>
    expect(shown(node().served(POD, 'web'), 'ESTALE')).toMatch(
      /\n {2}x \S+ does not answer: stale file handle \(ESTALE\)/,
    ))
})

const parameters = { numRuns: 200, seed: 1515 }

describe('of any node', () => {
  it('no line is too wide, the counts stand last and add up, and nothing is said twice', () =>
    fc.assert(
      fc.property(randomNode, fc.boolean(), fc.constantFrom(72, 80, 132), (random, orphans, width) => {
        const plan = planned(buildNode(random), orphans)
        const screen: Screen = { ...PLAIN_SCREEN, width, rows: 24 }
        const text = renderPlan(plan, screen)
        expectReadable(plan, text, { ...screen, rows: 24 })
        expect(saidTwice(text)).toEqual([])
        const counts = /^\d+ operations?: (.*)$/.exec(countsText(plan))?.[1]?.split(', ') ?? []
        expect(counts.reduce((sum, each) => sum + Number.parseInt(each, 10), 0)).toBe(plan.operations.length)
      }),
      parameters,
    ))

  it('very many operations are folded, and drawn one by one where that is asked for', () => {
    const operations = Array.from({ length: 20_000 }, (_, n) => {
      const pod = { uid: `${n}`.padStart(8, '0') }
      return anOperation({ id: `op-${n}`, pod })
    })
    const plan = aPlan({ operations })
    const folded = renderPlan(plan, { ...PLAIN_SCREEN, width: 80, rows: 24 })
    const wide = renderPlan(plan, { ...PLAIN_SCREEN, wide: true })
    expect(folded.split('\n').length).toBeLessThan(24)
    expect(folded).toContain('and 19995 more (-v shows all)')
    expect(wide.split('\n').length).toBeGreaterThan(60_000)
  })
})
