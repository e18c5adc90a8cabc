/** C102: what a node writes into a claim's status around an expansion. */
import { expect, it } from 'vitest'
import type { PersistentVolumeClaim } from '../../src/core/kube/api/objects.ts'
import { failedPatch, finishedPatch, inProgressPatch } from '../../src/core/volumes/expansion.ts'
import { strategicMerge } from '../helpers/strategic-merge.ts'

function claim(status: PersistentVolumeClaim['status'] = {}): PersistentVolumeClaim {
  return {
    metadata: { name: 'c', namespace: 'ns', uid: 'u', resourceVersion: '7' },
    spec: {},
    status: { capacity: { storage: '1Gi' }, allocatedResources: { storage: '2Gi' }, ...status },
  }
}

const ERROR = { type: 'NodeResizeError', status: 'True' }
const after = (of: PersistentVolumeClaim, patch: { status: object } | undefined) =>
  strategicMerge(of.status ?? {}, (patch?.status ?? {}) as Record<string, unknown>)

it('in progress: bound to the version that was read', () => {
  expect(inProgressPatch(claim())).toEqual({
    metadata: { resourceVersion: '7' },
    status: { allocatedResourceStatuses: { storage: 'NodeResizeInProgress' } },
  })
})

it.each<[string, PersistentVolumeClaim['status'], object]>([
  ['nothing else in it', { allocatedResourceStatuses: { storage: 'NodeResizeInProgress' } }, {}],
  [
    'another resource',
    { allocatedResourceStatuses: { storage: 'NodeResizeInProgress', iops: 'x' } },
    { allocatedResourceStatuses: { iops: 'x' } },
  ],
  [
    'conditions of a resize, and another',
    { conditions: [ERROR, { type: 'Resizing', status: 'True' }, { type: 'ModifyingVolume', status: 'True' }] },
    { conditions: [{ type: 'ModifyingVolume', status: 'True' }] },
  ],
])('finished: %s', (_name, status, want) => {
  const patch = finishedPatch(claim(status), '2Gi')
  expect(patch.metadata).toEqual({ resourceVersion: '7' })
  expect(after(claim(status), patch)).toEqual({
    capacity: { storage: '2Gi' },
    allocatedResources: { storage: '2Gi' },
    ...want,
  })
})

it('failed: a condition, without the version', () => {
  const patch = failedPatch(claim(), 'no space', { infeasible: false, now: 'T' })
  expect(patch).toEqual({ status: { conditions: [{ ...ERROR, lastTransitionTime: 'T', message: 'no space' }] } })
})

it('infeasible: the status as well; a condition that is there keeps its words', () => {
  const known = claim({ conditions: [ERROR] })
  expect(failedPatch(claim(), 'x', { infeasible: true, now: 'T' })?.status).toMatchObject({
    allocatedResourceStatuses: { storage: 'NodeResizeInfeasible' },
    conditions: [ERROR],
  })
  expect(failedPatch(known, 'x', { infeasible: true, now: 'T' })).toEqual({
    status: { allocatedResourceStatuses: { storage: 'NodeResizeInfeasible' } },
  })
  expect(failedPatch(known, 'x', { infeasible: false, now: 'T' })).toBeUndefined()
})
