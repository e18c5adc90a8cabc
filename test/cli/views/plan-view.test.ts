import { stripVTControlCharacters } from 'node:util'
import { expect, it } from 'vitest'
import { advice, volctl } from '../../../src/core/messages/command.ts'
import { withAdvice } from '../../../src/core/plan/next-steps.ts'
import type { Plan } from '../../../src/core/plan/plan.ts'
import { planNode } from '../../../src/core/reconcile/plan-node.ts'
import { type PlanDetail, renderPlan } from '../../../src/core/views/plan-view.ts'
import { PLAIN_SCREEN, palette, type Screen } from '../../../src/core/views/screen.ts'
import { recorded } from '../../helpers/captures.ts'
import { planOptions } from '../../helpers/plan-options.ts'
import { anOperation, aPlan } from '../plan-builder.ts'

const shown = (plan: Plan, screen: Partial<Screen> = {}, detail: PlanDetail = {}): string =>
  renderPlan(withAdvice(plan, { applyFlags: [], settleMs: 120_000 }), { ...PLAIN_SCREEN, ...screen }, detail)

/** A recorded node, of which all is known. */
const known = async (): Promise<Plan> => {
  const { inputs } = aPlan()
  return { ...planNode(await recorded('recreate/before.json'), planOptions()), inputs }
}

it('wide: everything that is known, before anyone says yes (S31)', async () =>
  await expect(shown(await known(), { wide: true })).toMatchFileSnapshot('../../screens/recreate-before-wide.txt'))

it.each([
  [{ insecure: 'TlsNotVerified' }, 'its certificate is not verified: anyone on the network path could answer'],
  [{ insecure: 'PlainHttp' }, 'plain http: anyone on the network path could read the credential, and answer'],
  [
    { secondLookInsecure: 'TlsNotVerified' },
    "with the kubelet's credential: its certificate is not verified: anyone on the network path could answer",
  ],
] as const)('S34: the header says that the API server is not verified: %j', (api, says) => {
  const { inputs } = aPlan()
  const plan = aPlan({ inputs: { ...inputs, api: { ...inputs.api, ...api } } })
  for (const text of [shown(plan), shown(plan, {}, { confirm: true }), shown(plan, { wide: true })])
    expect(text).toContain(says)
})

it('what makes a plan doubtful is said: another machine, a kubelet that may return, unjudged guards, incompleteness', () => {
  const { inputs } = aPlan()
  const plan = aPlan({
    inputs: {
      ...inputs,
      machine: { matches: false },
      kubelet: { state: 'mayReturn', note: 'kubelet.service restarts' },
      unjudged: [{ rule: 'S30', message: 'attachments elsewhere' }],
    },
    complete: false,
  })
  const text = shown(plan)
  expect(text).toContain('Nothing proves that this machine is the node')
  expect(text).toContain('down, but may come back (kubelet.service restarts)')
  expect(shown(plan, { wide: true })).toContain('Not judged: attachments elsewhere')
  expect(shown(plan, { wide: true })).toContain('NOT proven to be the machine of this Node object')
  expect(text).toContain('Not complete')
})

it('of more needs than five the last ones are a line each', () => {
  const problems = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((path) => ({
    ...{ severity: 'error' as const, code: 'NodeUnreadable' as const, message: `${path} cannot be read`, hint: path },
    ...{ about: { path }, because: { subject: { path } } },
  }))
  expect(shown(aPlan({ problems })).match(/^ {4}-> \w$/gm)).toHaveLength(5)
})

it('where there is little room, what stops something has it', () => {
  const problems = ['warning', 'warning', 'warning', 'error'].map((severity, index) => ({
    ...{ severity: severity as 'error' | 'warning', code: 'ReadFailed' as const, about: {} },
    message: `finding ${index}`,
    because: { subject: { list: `${index}` } },
  }))
  const text = shown(aPlan({ problems }), { width: 80, rows: 6 })
  expect(text).toContain('x finding 3')
  expect(text).toContain('  and 3 more (-v shows all)')
})

it('colour paints, and changes no letter', async () => {
  const plan = await known()
  const painted = shown(plan, { wide: true, paint: await palette(true) })
  expect(painted).toContain('\u001b[')
  expect(stripVTControlCharacters(painted)).toBe(shown(plan, { wide: true }))
})

it('problems that differ only in their volume are one; -v and -o wide list each', () => {
  const problems = ['pv-a', 'pv-b', 'pv-c'].map((volume) => ({
    severity: 'error' as const,
    code: 'MountedButNotAttached' as const,
    message: `${volume} is staged but not attached`,
    hint: advice`To see how to unstage it: ${volctl('plan', '--volume', volume)}`.alike(),
    about: { volume },
  }))
  const plan = aPlan({ problems })
  const text = shown(plan)
  expect(text).toContain(
    '\n  x 3 mounted volumes count as detached: another node may write to them\n      pv-a, pv-b, pv-c\n',
  )
  expect(text.match(/->/g)).toHaveLength(1)
  for (const all of [shown(plan, { wide: true }), shown(plan, {}, { unfolded: true })])
    expect(all.match(/ x MountedButNotAttached: pv-[abc] is staged but not attached\n/g)).toHaveLength(3)
})

it('what comes after something blocked has its cause, and the counts add up', () => {
  const { pod: _, ...ofVolume } = anOperation({ kind: 'UnmountDevice' })
  const volume = { name: 'pv-b', plugin: 'kubernetes.io/csi', mode: 'Filesystem' as const }
  const plan = aPlan({
    operations: [
      anOperation({ blocked: { code: 'ForeignMount', message: 'a tmpfs is mounted below' } }),
      anOperation({ id: 'op-2', volume }),
      { ...ofVolume, id: 'op-3', after: ['op-1', 'op-2'], blocked: { code: 'Predecessor', message: 'not yet' } },
      { ...ofVolume, id: 'op-4', kind: 'DetachVolume', after: ['op-2', 'op-3'] },
      { ...ofVolume, id: 'op-5', kind: 'DetachVolume', volume, after: ['op-3'] },
    ],
  })
  const text = shown(plan, {}, { unfolded: true })
  expect(text).toMatch(/^3 {2}UnmountDevice .* blocked/m)
  expect(text).toMatch(/^4 {2}DetachVolume .* after 2-3 /m)
  expect(text).toMatch(/^5 {2}DetachVolume .* after 3 /m)
  expect(text).toContain('5 operations: 1 ready, 2 need you first, 2 wait for another')
  expect(plan.summary.causes).toHaveLength(1)
  expect(plan.summary.causes?.[0]?.affects.operations).toEqual(['op-1', 'op-3'])
})
