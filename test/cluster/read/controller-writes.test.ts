import { describe, expect, it } from 'vitest'
import { ControllerWrites, newestWrites } from '../../../src/core/cluster/read/controller-writes.ts'

const AT = '2026-03-01T12:00:00Z'
const LATER = '2026-03-01T12:00:01Z'

type Seen = readonly [resource: string, manager: unknown, time?: unknown, status?: readonly string[]]

function found(seen: readonly Seen[], known?: readonly string[]): string[] {
  const writes = new ControllerWrites(known)
  for (const [index, [resource, manager, time = AT, status]] of seen.entries()) {
    const fieldsV1 = status && { 'f:status': Object.fromEntries(status.map((field) => [`f:${field}`, {}])) }
    const managedFields = [{ manager, time, operation: 'Update', fieldsV1 }]
    writes.see(resource, { metadata: { name: `x${index}`, uid: '', managedFields } } as never)
  }
  return writes.found().map(({ manager, object, time }) => `${manager} ${object} ${time}`)
}

describe('what a controller manager wrote last', () => {
  it.each<[name: string, seen: readonly Seen[], is: readonly string[], known?: readonly string[]]>([
    [
      'the latest',
      [
        ['pods', 'kube-controller-manager', LATER],
        ['pods', 'kube-controller-manager'],
      ],
      [`kube-controller-manager pods/x0 ${LATER}`],
    ],
    [
      'nothing that others write',
      [
        ['pods', 'kubelet'],
        ['volumeattachments', 'kubectl-create'],
        ['volumeattachments', 'csi-attacher'],
        ['nodes', 'cloud-controller-manager', AT, ['addresses']],
      ],
      [],
    ],
    [
      'of another name, which wrote volumesAttached of a Node; what it wrote before that is known, too',
      [
        ['pods', 'hosted-controllers', LATER],
        ['nodes', 'hosted-controllers', AT, ['volumesAttached']],
      ],
      [`hosted-controllers pods/x0 ${LATER}`],
    ],
    [
      'nothing of a program that is the kubelet as well',
      [
        ['nodes', 'k3s', AT, ['volumesAttached', 'nodeInfo']],
        ['nodes', 'k3s', AT, ['volumesAttached']],
        ['pods', 'k3s'],
      ],
      [],
    ],
    [
      'of a name that an earlier look has found',
      [['pods', 'hosted-controllers']],
      [`hosted-controllers pods/x0 ${AT}`],
      ['hosted-controllers'],
    ],
    [
      'nothing without a time, or of one that is no time',
      [
        ['pods', 'kube-controller-manager', null],
        ['pods', 'kube-controller-manager', 'zzzz'],
        ['pods', 7],
        ['pods', 'kube-controller-manager'],
      ],
      [`kube-controller-manager pods/x3 ${AT}`],
    ],
  ])('%s', (_, seen, is, known) => expect(found(seen, known)).toEqual(is))

  it('of two looks is the newer of each object, and the newest few', () => {
    const write = (object: string, time: string) => ({ manager: 'm', object, time })
    const writes = [write('a', AT), write('a', LATER), write('b', AT), write('c', AT), write('d', AT)]
    expect(newestWrites(writes)).toEqual([write('a', LATER), write('b', AT), write('c', AT)])
    const other = { ...write('a', AT), manager: 'other' }
    expect(newestWrites([write('a', AT), other])).toEqual([write('a', AT), other])
  })
})
