import { expect, it } from 'vitest'
import { podRecord } from '../../../src/core/cluster/read/records.ts'
import type { PodVolumeSource } from '../../../src/core/kube/api/objects.ts'

const iscsi = { targetPortal: 'portal', iqn: 'iqn', lun: 1 }
const metadata = { namespace: 'shop', name: 'web-0', uid: 'u' }
const CLAIMED = [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }]
const recordOf = (volumes: PodVolumeSource[], status?: object) =>
  podRecord({ metadata, spec: { nodeName: 'a', volumes }, status })

it.each<{ name: string; source: Omit<PodVolumeSource, 'name'>; volumes: object[] | undefined }>([
  {
    name: 'a claim',
    source: { persistentVolumeClaim: { claimName: 'data' } },
    volumes: [{ name: 'v', claim: 'data' }],
  },
  {
    name: 'an ephemeral volume, whose claim is named after the pod',
    source: { ephemeral: {} },
    volumes: [{ name: 'v', claim: 'web-0-v', ephemeral: true }],
  },
  {
    name: 'both, of which the controller takes the ephemeral one',
    source: { ephemeral: {}, persistentVolumeClaim: { claimName: 'data' } },
    volumes: [{ name: 'v', claim: 'web-0-v', ephemeral: true }],
  },
  {
    name: 'an in-tree source',
    source: { iscsi },
    volumes: [{ name: 'v', source: { name: 'v', iscsi } }],
  },
  { name: 'none', source: { emptyDir: {} }, volumes: undefined },
])('the volumes of a pod that could be attached: $name', ({ source, volumes }) => {
  expect(recordOf([{ name: 'v', ...source }])?.volumes).toEqual(volumes)
})

const ran = { name: 'main', state: {}, lastState: { terminated: {} } }
it.each([
  { name: 'not while its container is created', status: { state: {} }, is: false },
  { name: 'while its container runs', status: { state: { running: {} } }, is: true },
  { name: 'once its container ran, and waits to be started again', status: ran, is: true },
])('a pod has started: $name', ({ status, is }) => {
  expect(recordOf(CLAIMED, { containerStatuses: [{ name: 'main', ...status }] })?.started).toBe(is)
})

it('a pod without a node is none that anything is attached for (R706)', () =>
  expect(podRecord({ metadata, spec: { volumes: CLAIMED } })).toBeUndefined())
