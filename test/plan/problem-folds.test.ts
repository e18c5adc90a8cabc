import { describe, expect, it } from 'vitest'
import type { Problem } from '../../src/core/plan/plan.ts'
import { foldProblems } from '../../src/core/plan/problem-folds.ts'

const staged = (volume: string, more: Partial<Problem> = {}): Problem => ({
  severity: 'error',
  code: 'MountedButNotAttached',
  message: `kubernetes.io/csi/disk^vol-${volume} is mounted on /global/${volume} but not attached to this node`,
  hint: `The kubelet is to unstage it, or volctl apply --volume ${volume}.`,
  about: { volume, path: `/global/${volume}` },
  ...more,
})
const names = (volume: string): Set<string> =>
  new Set([`kubernetes.io/csi/disk^vol-${volume}`, volume, `vol-${volume}`])
const folded = (problems: readonly Problem[]): string[] =>
  foldProblems(problems.map((problem) => ({ problems: [problem], names: names(problem.about.volume ?? '') }))).map(
    ({ problem, others }) => [problem, ...others].map(({ about }) => about.volume).join('+'),
  )

describe('problems are put together', () => {
  it('if they differ in nothing but the names of what they are about', () =>
    expect(folded([staged('pv-y3'), staged('pv-y1'), staged('pv')])).toEqual(['pv-y3+pv-y1+pv']))

  it.each<[string, Partial<Problem>]>([
    ['the message', { message: 'kubernetes.io/csi/disk^vol-pv-y1 is mounted on /global/pv-y1, and another thing' }],
    ['the hint', { hint: 'Something else is to be done for pv-y1.' }],
    ['the code', { code: 'MountedButNotInUse' }],
    ['the severity', { severity: 'warning' }],
    ['what they are about', { about: { volume: 'pv-y1' } }],
  ])('not if %s differs', (_, more) =>
    expect(folded([staged('pv-y3'), staged('pv-y1', more)])).toEqual(['pv-y3', 'pv-y1']),
  )

  it('a name inside a longer word is not taken for the name', () => {
    const short = (volume: string, message: string): Problem => staged(volume, { message, about: { volume } })
    expect(folded([short('e', 'we see e'), short('m', 'wm smm m')])).toEqual(['e', 'm'])
  })
})
