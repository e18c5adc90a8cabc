import { describe, expect, it } from 'vitest'
import type { Pod } from '../../src/core/kube/api/objects.ts'
import { type OwnershipRules, ownershipOf } from '../../src/core/volumes/mount-options.ts'

type Security = NonNullable<Pod['spec']['securityContext']>

const stepsOf = (securityContext: Security | undefined, rules: OwnershipRules = {}) => {
  const pod: Pod = {
    metadata: { name: 'a', uid: 'u' },
    spec: securityContext === undefined ? {} : { securityContext },
  }
  return ownershipOf({ pod }, '/volume', rules)
}

describe('the fsGroup of a pod', () => {
  it.each<[string, Security | undefined, OwnershipRules, object | undefined]>([
    ['null, as Go writes it', { fsGroup: null as unknown as number }, {}, undefined],
    ['root is a group as well', { fsGroup: 0 }, {}, { gid: 0, policy: 'Always', readOnly: false, ignoreErrors: false }],
    [
      'OnRootMismatch',
      { fsGroup: 2000, fsGroupChangePolicy: 'OnRootMismatch' },
      {},
      { gid: 2000, policy: 'OnRootMismatch', readOnly: false, ignoreErrors: false },
    ],
    [
      'OnRootMismatch of a plugin that passes no policy (P32)',
      { fsGroup: 2000, fsGroupChangePolicy: 'OnRootMismatch' },
      { ignorePolicy: true, ignoreErrors: true },
      { gid: 2000, policy: 'Always', readOnly: false, ignoreErrors: true },
    ],
    [
      'a policy that nobody knows',
      { fsGroup: 2000, fsGroupChangePolicy: 'Sometimes' },
      { readOnly: true },
      { gid: 2000, policy: 'Always', readOnly: true, ignoreErrors: false },
    ],
  ])('%s', (_, securityContext, rules, ownership) => {
    const expected = ownership === undefined ? [] : [{ op: 'setOwnership', target: '/volume', ownership }]
    expect(stepsOf(securityContext, rules)).toEqual(expected)
  })
})
