import { describe, expect, it } from 'vitest'
import type { PlanOptions } from '../../../src/core/plan/plan.ts'
import { node } from '../../helpers/node-builder.ts'
import { codes, plan } from '../planned.ts'

const A = 'aaaa1111-0000-4000-8000-000000000001'
const B = 'aaaa2222-0000-4000-8000-000000000002'
const WEB = 'bbbb3333-0000-4000-8000-000000000003'

/** Two gone pods share a staged volume, one has another alone, and a third is staged for nobody. */
const built = () =>
  node()
    .published(A, 'pv-shared', '7:1', { handle: 'vol-shared' })
    .published(B, 'pv-shared', '7:1', { handle: 'vol-shared' })
    .staged('vol-shared', '7:1')
    .published(B, 'pv-own', '7:2', { handle: 'vol-own' })
    .staged('vol-own', '7:2')
    .attach('vol-own')
    .staged('vol-idle', '7:3')

const chosen = (options: Partial<PlanOptions>) =>
  plan(built(), options).operations.map(
    ({ kind, pod, volume }) => `${kind} ${pod?.uid.slice(0, 5) ?? '-'} ${volume?.handle}`,
  )

describe('--pod', () => {
  it('has the devices and attachments that its pods are the last to use', () => {
    expect(chosen({ pods: [B] })).toEqual([
      'UnmountVolume aaaa2 vol-own',
      'UnmountVolume aaaa2 vol-shared',
      'UnmountDevice - vol-own',
      'DetachVolume - vol-own',
    ])
  })

  it('has a shared device only with all pods that leave it', () => {
    expect(chosen({ pods: [A] })).toEqual(['UnmountVolume aaaa1 vol-shared'])
    expect(chosen({ pods: [A, B] })).toContain('UnmountDevice - vol-shared')
  })
})

describe('what --pod means', () => {
  const named = () => built().livingPod(WEB, 'web')
  const said = (options: Partial<PlanOptions>) =>
    codes(plan(named(), options)).filter((code) => code === 'NothingNamed' || code === 'AmbiguousName')

  it.each<[string, string, readonly string[]]>([
    ['a UID', A, []],
    ['its unique beginning', 'aaaa1', []],
    ['a name', 'web', []],
    ['with its namespace', 'default/web', []],
    ['the beginning of two', 'aaaa', ['AmbiguousName']],
    ['a beginning that is too short', 'bbb', ['NothingNamed']],
    ['the beginning of a name', 'we', ['NothingNamed']],
    ['a name in another namespace', 'shop/web', ['NothingNamed']],
  ])('%s', (_what, name, want) => expect(said({ pods: [name] })).toEqual(want))

  it('is nobody where it fits several', () => {
    expect(chosen({ pods: ['aaaa'] })).toEqual([])
  })
})
