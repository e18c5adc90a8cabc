import { describe, expect, it } from 'vitest'
import { snapshotDefect } from '../../src/core/snapshot/snapshot-defect.ts'
import { node, uid } from '../helpers/node-builder.ts'

/** A healthy node's snapshot as JSON, with one part of it changed. */
function changed(path: string, value: unknown): object {
  const { snapshot } = node()
    .persistentVolume('pv-1')
    .livingPod(uid(2), 'app', [{ name: 'v', persistentVolumeClaim: { claimName: 'claim-pv-1' } }])
    .build()
  const document = JSON.parse(JSON.stringify(snapshot))
  const keys = path.split('.')
  const last = keys.pop() as string
  const parent = keys.reduce((at, key) => at[key], document)
  parent[last] = value
  return JSON.parse(JSON.stringify(document))
}

it('a whole snapshot has no defect', () => expect(snapshotDefect(changed('bootID', 'x'))).toBeUndefined())

describe('what the planner relies on', () => {
  it.each<[path: string, value: unknown, says: string]>([
    ['rootDir', '/', 'rootDir is no directory of its own'],
    ['runtime.pods.0.containers', undefined, 'runtime.pods[0].containers is missing'],
    ['runtime.pods.0.containers', { c: 1 }, 'runtime.pods[0].containers is no list'],
    ['runtime.pods.0.containers.0', null, 'runtime.pods[0].containers[0] is missing'],
    ['runtime.pods.0.state', undefined, 'runtime.pods[0].state is missing'],
    ['runtime.pods.1.uid', undefined, 'runtime.pods[1].uid is missing'],
    ['runtime.pods.0', 'x', 'runtime.pods[0] is no object'],
    ['tree.0.content', {}, 'tree[0].content is no text'],
    ['tree.0.error', null, 'tree[0].error is no text'],
    ['api.errors', [null], 'api.errors[0] tells nothing'],
    ['processes.0', 7, 'processes[0] is no text'],
    ['kubelet', {}, 'kubelet.running is missing'],
    ['kubelet.mayReturn', 'no', 'kubelet.mayReturn is no flag'],
    ['staticPods', { manifests: [] }, 'staticPods.readable is missing'],
    ['api.node', 'node-1', 'api.node is no object'],
    ['api.node.metadata', undefined, 'api.node.metadata is missing'],
    ['api.node.status', null, 'api.node.status is missing'],
    ['api.csiNode', { metadata: { name: 'node-1' } }, 'api.csiNode.spec is missing'],
    ['api.volumeAttachments.0.spec', undefined, 'api.volumeAttachments[0].spec is missing'],
    ['api.volumeAttachments.0.spec.source', undefined, 'api.volumeAttachments[0].spec.source is missing'],
    ['api.persistentVolumes.0.spec.csi.volumeHandle', 7, 'api.persistentVolumes[0].spec.csi.volumeHandle is no text'],
    ['api.pods.0.metadata.uid', undefined, 'api.pods[0].metadata.uid is missing'],
    ['api.pods.1.spec.volumes', {}, 'api.pods[1].spec.volumes is no list'],
    ['api.pods.1.spec.initContainers', 'x', 'api.pods[1].spec.initContainers is no list'],
    ['api.pods.1.spec.containers.0.volumeMounts.0', null, 'api.pods[1].spec.containers[0].volumeMounts[0] is missing'],
    ['hostPaths', {}, 'hostPaths is no list'],
    ['hostPaths', [null], 'hostPaths[0] is missing'],
    ['hostPaths', [{ type: 'dir' }], 'hostPaths[0].path is missing'],
    ['hostPaths', [{ path: '/x', type: 7 }], 'hostPaths[0].type is no text'],
    ['lazyMemory', 'x', 'lazyMemory is no object'],
    ['lazyMemory', { path: '/x' }, 'lazyMemory.why is missing'],
    ['lazyMemory', { path: 7, why: 'x' }, 'lazyMemory.path is no text'],
    ['api.pods.0.status.containerStatuses', {}, 'api.pods[0].status.containerStatuses is no list'],
  ])('%s = %j: %s', (path, value, says) => expect(snapshotDefect(changed(path, value))).toBe(says))
})

describe('what a source may leave out', () => {
  it.each<[path: string, value: unknown]>([
    ['api.node', null],
    ['api.node', undefined],
    ['api.csiNode', undefined],
    ['api.csiNode.spec.drivers', null],
    ['api.node.status.volumesInUse', null],
    ['api.pods.0.status', undefined],
    ['runtime', undefined],
    ['runtime.pods.0.containers', []],
    ['kubelet', undefined],
  ])('%s = %j', (path, value) => expect(snapshotDefect(changed(path, value))).toBeUndefined())
})
