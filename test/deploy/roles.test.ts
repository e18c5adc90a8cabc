/** deploy/clusterrole-plan.yaml grants what a plan asks for, nothing else, and what it leaves out by choice is no note. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { V1ClusterRole } from '@kubernetes/client-node'
import { load } from 'js-yaml'
import { expect, it } from 'vitest'
import type { Plan } from '../../src/core/plan/plan.ts'
import { CAPTURES } from '../helpers/captures.ts'
import { volctl } from '../helpers/run-main.ts'
import { startWarmNode } from '../helpers/warm-node.ts'

const ROLE = join(import.meta.dirname, '../../deploy/clusterrole-plan.yaml')
const NODE = 'pg-node'

/** `list pods`; a review, which every user may make, is none. */
function right(method: string, path: string): string[] {
  const [, group = '', rest = ''] =
    /^\/api(?:s\/([^/]+))?\/v1\w*\/(?:namespaces\/[^/]+\/(?=[^/?]+))?([^?]+)/.exec(path) ?? []
  const [resource = '', name] = rest.split('/')
  if (method !== 'GET') return resource.startsWith('selfsubject') ? [] : [`${method} ${resource}.${group}`]
  return [`${name === undefined ? 'list' : 'get'} ${resource}.${group}`]
}

function granted(): string[] {
  const { rules = [] } = load(readFileSync(ROLE, 'utf8')) as V1ClusterRole
  return rules.flatMap(({ apiGroups = [], resources = [], verbs }) =>
    apiGroups.flatMap((group) => resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}.${group}`))),
  )
}

const bound = (name: string, volumeName: string): object => ({
  kind: 'PersistentVolumeClaim',
  metadata: { name, namespace: 'pg', uid: `uid-${name}` },
  spec: { volumeName, volumeMode: 'Filesystem', accessModes: ['ReadWriteOnce'] },
  status: { phase: 'Bound' },
})
const volume = (name: string, claim: string, source: object): object => ({
  kind: 'PersistentVolume',
  metadata: { name, uid: `uid-${name}` },
  spec: {
    volumeMode: 'Filesystem',
    accessModes: ['ReadWriteOnce'],
    claimRef: { namespace: 'pg', name: claim, uid: `uid-${claim}` },
    ...source,
  },
  status: { phase: 'Bound' },
})
/** What lists lack and is asked for by name: a claim, a PersistentVolume, a driver; and a volume without a VolumeAttachment. */
const POD = {
  kind: 'Pod',
  metadata: { name: 'asks', namespace: 'pg', uid: '00000000-0000-4000-8000-0000000000aa' },
  spec: {
    nodeName: NODE,
    containers: [{ name: 'c', volumeMounts: ['a', 'b', 'c', 'd'].map((name) => ({ name, mountPath: `/${name}` })) }],
    volumes: ['a', 'b', 'c', 'd'].map((name) => ({ name, persistentVolumeClaim: { claimName: `asks-${name}` } })),
  },
  status: { phase: 'Pending' },
}
const OBJECTS = [
  POD,
  bound('asks-b', 'pv-not-there'),
  bound('asks-c', 'pv-c'),
  volume('pv-c', 'asks-c', { csi: { driver: 'not-there.test', volumeHandle: 'c' } }),
  bound('asks-d', 'pv-d'),
  volume('pv-d', 'asks-d', { iscsi: { targetPortal: '10.0.0.1:3260', iqn: 'iqn.2026-11.test:d', lun: 0 } }),
]

it('has every verb that a plan needs, and none that a plan never needs', async () => {
  await using node = await startWarmNode(join(CAPTURES, 'healthy', 'node.json'))
  const plan = async (): Promise<Plan> =>
    JSON.parse((await volctl(['plan', '-o', 'json'], { env: node.env })).stdout) as Plan
  // Of a healthy node nothing is said of what the role leaves out: the content of config maps and secrets.
  // That its pods run without their mounts is true of this copy of it.
  const codes = new Set((await plan()).problems.map(({ code }) => code))
  expect([...codes].toSorted()).toEqual(['PodStillRunning', 'RunsWithoutVolume'])
  node.api.put(...OBJECTS)
  await plan()
  const asked = node.api.requests()
  const rights = (refused: boolean): string[] =>
    [
      ...new Set(
        asked.filter(({ status }) => (status === 403) === refused).flatMap(({ method, path }) => right(method, path)),
      ),
    ].toSorted()
  expect(rights(true)).toEqual(['get configmaps.', 'get secrets.'])
  expect(rights(false)).toEqual(granted().toSorted())
})
