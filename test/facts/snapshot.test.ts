import { expect, it } from 'vitest'
import { ShapeError } from '../../src/core/trust/shape.ts'
import { snapshotShape } from '../../src/core/volumes/snapshot.ts'
import { claimOf, node, uid } from '../helpers/node-builder.ts'

/** A healthy node's snapshot as JSON, with one part of it changed. */
function changed(path: string, value: unknown): object {
  const { snapshot } = node().persistentVolume('pv-1').livingPod(uid(2), 'app', [claimOf()]).build()
  const document = JSON.parse(JSON.stringify(snapshot))
  const keys = path.split('.')
  const last = keys.pop() as string
  const parent = keys.reduce((at, key) => at[key], document)
  parent[last] = value
  return JSON.parse(JSON.stringify(document))
}

/** In one line, or undefined. */
function snapshotDefect(document: object): string | undefined {
  try {
    expect(snapshotShape(document, '')).toBe(document)
    return undefined
  } catch (error) {
    if (error instanceof ShapeError) return error.message
    throw error
  }
}

it('a whole snapshot has no defect', () => expect(snapshotDefect(changed('bootID', 'x'))).toBeUndefined())

it.each<[path: string, value: unknown, says: string]>([
  ['rootDir', '/', 'rootDir is not a directory other than /'],
  ['runtime.pods.0.containers', undefined, 'runtime.pods[0].containers is missing'],
  ['runtime.pods.1.uid', undefined, 'runtime.pods[1].uid is missing'],

  ['tree.0.content', {}, 'tree[0].content is not text'],
  ['api.errors', 'none', 'api.errors is not a list'],

  ['kubelet', {}, 'kubelet.running is missing'],
  ['kubelet.mayReturn', 'no', 'kubelet.mayReturn is not true or false'],
  ['api.csiNode', { metadata: { name: 'node-1' } }, 'api.csiNode.spec is missing'],

  ['api.volumeAttachments.0.spec.source', undefined, 'api.volumeAttachments[0].spec.source is missing'],
  ['api.persistentVolumes.0.spec.csi.volumeHandle', 7, 'api.persistentVolumes[0].spec.csi.volumeHandle is not text'],
  ['api.pods.0.metadata.uid', undefined, 'api.pods[0].metadata.uid is missing'],
  ['api.pods.1.spec.volumes', {}, 'api.pods[1].spec.volumes is not a list'],
  [
    'api.pods.1.spec.containers.0.volumeMounts.0',
    null,
    'api.pods[1].spec.containers[0].volumeMounts[0] is not an object',
  ],
  ['hostPaths', [{ path: '/x', type: 7 }], 'hostPaths[0].type is not text'],

  ['lazyMemory', { path: '/x' }, 'lazyMemory.why is missing'],
  ['notBelieved', [{ what: '/x', why: 'x' }], 'notBelieved[0].hint is missing'],
  ['api.pods.0.metadata.labels', { app: 7 }, 'api.pods[0].metadata.labels.app is not text'],
  ['tree.0.mtime', '7', 'tree[0].mtime is not a number'],

  ['api.pods.0.status.containerStatuses', {}, 'api.pods[0].status.containerStatuses is not a list'],
])('what the planner relies on: %s = %j: %s', (path, value, says) =>
  expect(snapshotDefect(changed(path, value))).toBe(says),
)

it.each<[path: string, value: unknown]>([
  ['api.node', null],
  ['api.csiNode.spec.drivers', null],
  ['api.node.status.volumesInUse', null],
  ['api.pods.1.spec.volumes', [{ name: 'v', projected: { sources: null } }]],
  ['api.pods.0.status.conditions', [{ type: 'Ready', status: 'True', lastTransitionTime: null }]],
  ['api.pods.0.unknown', { of: [null, 7] }],
  ['api.errors', ['pods could not be read']],
  // Of any form: what nobody understands makes everything unknown.
  ['api.errors', [null, 7, ['x'], { code: 403 }]],
  ['api.pods.0.status', undefined],
  ['runtime', undefined],
  ['kubelet', undefined],
])('what a source may leave out: %s = %j', (path, value) =>
  expect(snapshotDefect(changed(path, value))).toBeUndefined(),
)
