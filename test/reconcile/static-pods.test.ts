/** S10: whose directory a static pod's may be, and what is left of one that has ended. */
import { describe, expect, it } from 'vitest'
import { type NodeBuilder, node, uid } from '../helpers/node-builder.ts'
import { kinds, mirrorPod, oneManifest, plan } from './planned.ts'

const OLD = '0123456789abcdef0123456789abcdef'
const NEW = 'fedcba9876543210fedcba9876543210'

/** A manifest that its mirror pod and the directory of the same hash match, and the directory of another one. */
const beside = (directory: string, manifest: Parameters<typeof oneManifest>[1] = {}): NodeBuilder => {
  const own = manifest.uid ?? OLD
  const built = node().dir(`pods/${own}`).file(`pods/${directory}/volumes/kubernetes.io~empty-dir/e/data`, 'precious')
  built.file(`pods/${directory}/plugins/kubernetes.io~empty-dir/e/ready`)
  built.pods.push(mirrorPod('etcd-node-1', own, {}, 'kube-system'))
  return built.with(oneManifest('etcd', { namespace: 'kube-system', ...manifest }))
}

describe('S10 a manifest whose hash nobody can tell', () => {
  it('may have been edited: the directory of another hash is frozen (R227, R230)', () => {
    const made = plan(beside(NEW), { orphans: true })
    expect(made.operations).toEqual([])
    expect(made.problems.map((each) => [each.code, each.about.pod])).toContainEqual(['MayBeStatic', NEW])
  })
  it.each([
    { name: 'a UUID is nobody’s hash', built: beside(uid(9)) },
    { name: 'a manifest that names its UID has no hash', built: beside(NEW, { uid: uid(4) }) },
  ])('$name', ({ built }) => {
    expect(kinds(plan(built, { orphans: true }))).toEqual(['UnmountVolume', 'RemoveOrphanPodDir'])
  })
})

describe('R230 a static pod that runs, its mirror pod missing', () => {
  const sandbox = (name: string, namespace = 'kube-system') => ({
    uid: OLD,
    namespace,
    name,
    state: 'SANDBOX_READY',
    containers: [{ name: 'c', state: 'CONTAINER_RUNNING' }],
  })
  const unmirrored = (runs = sandbox('etcd-node-1'), manifest: Parameters<typeof beside>[1] = {}): NodeBuilder => {
    const built = beside(NEW, manifest)
    built.pods.splice(
      built.pods.findIndex(({ metadata }) => metadata.name === 'etcd-node-1'),
      1,
    )
    built.sandboxes.push(runs)
    return built
  }
  const said = (built: NodeBuilder) =>
    plan(built, { orphans: true }).problems.flatMap(({ severity, code, about }) =>
      about.pod === OLD ? [[severity, code]] : [],
    )
  it('is the one of its manifest: nobody deleted it, and nobody is told to stop it', () =>
    expect(said(unmirrored())).toEqual([['warning', 'MayBeStatic']]))

  it.each([
    { name: 'of another name', built: unmirrored(sandbox('api-node-1')) },
    { name: 'of another namespace', built: unmirrored(sandbox('etcd-node-1', 'default')) },
  ])('one $name is of no manifest', ({ built }) => {
    expect(said(built)).toEqual([['error', 'PodGoneButRunning']])
  })
  it('where the manifests could not be read it may be any', () => {
    const built = unmirrored(sandbox('api-node-1'))
    built.with({ staticPods: { path: '/m', readable: false, manifests: [] } })
    expect(said(built)).toEqual([['warning', 'MayBeStatic']])
  })
})

describe('R220 a static pod that has run to its end', () => {
  const completed = (status: object = { phase: 'Succeeded' }): NodeBuilder => {
    const built = node().dir(`pods/${OLD}`)
    const spec = {
      volumes: [{ name: 's', secret: { secretName: 'x', optional: true } }],
      containers: [{ name: 'c', volumeMounts: [{ name: 's', mountPath: '/s' }] }],
    }
    built.pods.push(mirrorPod('job-node-1', OLD, { spec, status }))
    return built.with(oneManifest('job'))
  }
  const secret = `pods/${OLD}/volumes/kubernetes.io~secret/s`

  it('loses its volumes and keeps its directory', () => {
    const made = plan(completed().mount(secret), { orphans: true })
    expect(made.operations.map((each) => [each.kind, each.reason])).toEqual([['UnmountVolume', 'PodFinished']])
  })
  it('is left alone while anything of it lives, or nobody can tell', () => {
    expect(plan(completed().mount(secret).running(OLD)).operations).toEqual([])
    const blind = completed().mount(secret)
    blind.sandboxes = []
    expect(plan(blind).operations).toEqual([])
  })
  it('a mirror pod that is deleted says nothing of the pod behind it', () => {
    const built = completed({ phase: 'Running' }).secret(OLD, 's', {})
    Object.assign(built.pods.at(-1)?.metadata ?? {}, { deletionTimestamp: '2026-11-21T10:30:00Z' })
    expect(plan(built, { orphans: true }).operations).toEqual([])
  })
})
