import { describe, expect, it } from 'vitest'
import { ControllerWrites, newestWrites } from '../../../src/core/cluster/read/controller-writes.ts'

const AT = '2026-03-01T12:00:00Z'
const LATER = '2026-03-01T12:00:01Z'

interface Seen {
  readonly resource: string
  readonly manager: unknown
  readonly time?: unknown
  readonly status?: readonly string[]
}

function found(seen: readonly Seen[], known?: readonly string[]): string[] {
  const writes = new ControllerWrites(known)
  for (const [index, { resource, manager, time = AT, status }] of seen.entries()) {
    const fieldsV1 = status && { 'f:status': Object.fromEntries(status.map((field) => [`f:${field}`, {}])) }
    const managedFields = [{ manager, time, operation: 'Update', fieldsV1 }]
    writes.see(resource, { metadata: { name: `x${index}`, uid: '', managedFields } } as never)
  }
  return writes.found().map(({ manager, object, time }) => `${manager} ${object} ${time}`)
}

describe('what a controller manager wrote last', () => {
  it.each<{ name: string; seen: readonly Seen[]; known?: readonly string[]; is: readonly string[] }>([
    {
      name: 'the latest',
      seen: [
        { resource: 'pods', manager: 'kube-controller-manager', time: LATER },
        { resource: 'pods', manager: 'kube-controller-manager' },
      ],
      is: [`kube-controller-manager pods/x0 ${LATER}`],
    },
    {
      name: 'nothing that others write',
      seen: [
        { resource: 'pods', manager: 'kubelet' },
        { resource: 'volumeattachments', manager: 'kubectl-create' },
        { resource: 'volumeattachments', manager: 'csi-attacher' },
        { resource: 'nodes', manager: 'cloud-controller-manager', status: ['addresses'] },
      ],
      is: [],
    },
    {
      name: 'of another name, which wrote volumesAttached of a Node; what it wrote before that is known, too',
      seen: [
        { resource: 'pods', manager: 'hosted-controllers', time: LATER },
        { resource: 'nodes', manager: 'hosted-controllers', status: ['volumesAttached'] },
      ],
      is: [`hosted-controllers pods/x0 ${LATER}`],
    },
    {
      name: 'nothing of a program that is the kubelet as well',
      seen: [
        { resource: 'nodes', manager: 'k3s', status: ['volumesAttached', 'nodeInfo'] },
        { resource: 'nodes', manager: 'k3s', status: ['volumesAttached'] },
        { resource: 'pods', manager: 'k3s' },
      ],
      is: [],
    },
    {
      name: 'of a name that an earlier look has found',
      seen: [{ resource: 'pods', manager: 'hosted-controllers' }],
      known: ['hosted-controllers'],
      is: [`hosted-controllers pods/x0 ${AT}`],
    },
    {
      name: 'nothing without a time, or of one that is no time',
      seen: [
        { resource: 'pods', manager: 'kube-controller-manager', time: null },
        { resource: 'pods', manager: 'kube-controller-manager', time: 'zzzz' },
        { resource: 'pods', manager: 7 },
        { resource: 'pods', manager: 'kube-controller-manager' },
      ],
      is: [`kube-controller-manager pods/x3 ${AT}`],
    },
  ])('$name', ({ seen, known, is }) => expect(found(seen, known)).toEqual(is))

  it('of two looks is the newer of each object, and the newest few', () => {
    const write = (object: string, time: string) => ({ manager: 'm', object, time })
    const writes = [write('a', AT), write('a', LATER), write('b', AT), write('c', AT), write('d', AT)]
    expect(newestWrites(writes)).toEqual([write('a', LATER), write('b', AT), write('c', AT)])
    const other = { ...write('a', AT), manager: 'other' }
    expect(newestWrites([write('a', AT), other])).toEqual([write('a', AT), other])
  })
})
