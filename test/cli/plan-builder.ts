import { withCauses } from '../../src/core/plan/name-causes.ts'
import type { Operation, Plan } from '../../src/core/plan/plan.ts'

/** A plan made by hand, for views: nothing in it but what a test gives. */
export function aPlan(given: Partial<Plan> = {}): Plan {
  const named = withCauses({ operations: [], waiting: [], problems: [], ...given }, 0)
  return {
    apiVersion: 'volctl.io/v1',
    kind: 'Plan',
    scope: 'node',
    node: 'node-1',
    rootDir: '/var/lib/kubelet',
    bootID: 'boot-1',
    createdAt: '2026-11-01T12:00:00Z',
    volctlVersion: '0.0.0-test',
    inputs: {
      api: { server: 'https://10.0.0.1:6443', user: 'system:node:node-1', resourceVersion: '4711' },
      kubelet: { state: 'stopped', note: 'kubelet.service inactive; masked' },
      actual: { mounts: 118, podDirs: 16 },
      runtime: { source: 'cri', pods: 14 },
      machine: { matches: true, bootID: 'boot-1' },
      pods: { listed: 14, onDisk: 16, gone: 2 },
      unjudged: [],
    },
    complete: true,
    ...given,
    ...named,
    summary: { ...named.summary, ...given.summary },
  }
}

const podState = 'was deleted from the API; no sandbox, container or process is left'
const podMessage = `pod shop/web-0 ${podState}`
const ownMessage = 'volume pv-a is mounted'

const target = '/var/lib/kubelet/pods/uid-1/volumes/kubernetes.io~csi/pv-a/mount'

export function anOperation(given: Partial<Operation> = {}): Operation {
  return {
    id: 'op-1',
    kind: 'UnmountVolume',
    reason: 'PodGone',
    message: `${podMessage}; ${ownMessage}`,
    ...{ podMessage, ownMessage, podState },
    pod: { namespace: 'shop', name: 'web-0', uid: 'uid-1' },
    volume: {
      name: 'pv-a',
      uniqueName: 'kubernetes.io/csi/disk.example.com^vol-a',
      plugin: 'kubernetes.io/csi',
      driver: 'disk.example.com',
      handle: 'vol-a',
      handleFrom: 'vol_data.json',
      mode: 'Filesystem',
      claim: 'shop/data-web-0',
      persistentVolume: 'pv-a',
      accessModes: ['ReadWriteOnce'],
      attached: true,
      inUse: true,
    },
    paths: [target],
    steps: [{ op: 'NodeUnpublishVolume', target }],
    after: [],
    rule: 'R404',
    ...given,
  }
}
