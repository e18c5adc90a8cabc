/** explain of the same claim, PersistentVolume and VolumeAttachment, asked of the node and of the cluster: the same words. */
import { expect, it } from 'vitest'
import type { ClusterState } from '../../src/core/cluster/model/cluster-state.ts'
import { attachmentRecord, claimRecord, volumeRecord } from '../../src/core/cluster/read/volume-records.ts'
import { apiLookup } from '../../src/core/desired/api-lookup.ts'
import { ago, cluster, node as clusterNode, pod } from '../helpers/cluster-builder.ts'
import { explainerOf } from '../helpers/cluster-plan.ts'
import { explain } from '../helpers/explaining.ts'
import { DRIVER, type NodeBuilder, node, uid } from '../helpers/node-builder.ts'
import { planOptions } from '../helpers/plan-options.ts'

const LIVING = uid(2)
const wanted = (): NodeBuilder =>
  node()
    .persistentVolume('pv-1')
    .livingPod(LIVING, 'web-0', [{ name: 'data', persistentVolumeClaim: { claimName: 'claim-pv-1' } }])
    .published(LIVING, 'pv-1', '7:1')
    .staged('pv-1', '7:1')

/** The same objects as the cluster's records. @param pods whether the pod is there */
function clusterOf(built: NodeBuilder, isWanted: boolean): ClusterState {
  const { api } = built.build().snapshot
  if (api === undefined) throw new Error('no API')
  const spec = { podUid: '', lookup: apiLookup(api), node: null }
  return cluster({
    nodes: [
      clusterNode('node-1', {
        csi: { state: 'known', drivers: [{ name: DRIVER, nodeID: 'n' }], migrated: [] },
        volumesAttached: built.attached,
        volumesInUse: built.inUse,
      }),
    ],
    pods: isWanted ? [pod('web-0', 'node-1', ['claim-pv-1'])] : [],
    claims: api.persistentVolumeClaims.map((each) => claimRecord(each)),
    volumes: api.persistentVolumes.map((each) => volumeRecord(each, spec)),
    attachments: api.volumeAttachments.map((each) => attachmentRecord(each)),
    drivers: [{ name: DRIVER, attachRequired: true }],
  })
}

/** Changes the first object of a list. */
function change(list: unknown[], part: Record<string, object>): void {
  const first = list[0] as Record<string, object>
  list[0] = {
    ...first,
    ...Object.fromEntries(Object.entries(part).map(([key, value]) => [key, { ...first[key], ...value }])),
  }
}

const GOING = { metadata: { deletionTimestamp: ago(5), finalizers: ['example.com/wait'] } }
const OBJECTS = ['PersistentVolumeClaim', 'PersistentVolume', 'VolumeAttachment']

it.each<{ name: string; of?: (built: NodeBuilder) => void; unwanted?: true; says?: string }>([
  { name: 'all is well', says: 'bound to pv-1' },
  { name: 'the claim is being deleted', of: ({ claims }) => change(claims, GOING), says: 'being deleted since' },
  { name: 'the claim is not bound', of: ({ claims }) => change(claims, { status: { phase: 'Lost' } }), says: 'Lost, ' },
  {
    name: 'the PersistentVolume has failed',
    of: ({ volumes }) => change(volumes, { status: { phase: 'Failed' } }),
    says: 'Failed; ',
  },
  { name: 'the PersistentVolume is being deleted', of: ({ volumes }) => change(volumes, GOING), says: 'being deleted' },
  {
    name: 'the attachment failed',
    of: ({ attachments }) => change(attachments, { status: { attached: false, attachError: { message: 'no disk' } } }),
    says: 'not attached; no disk',
  },
  { name: 'the Node does not list it', of: ({ attached }) => void attached.splice(0), says: 'does not list it' },
  { name: 'no pod wants it', unwanted: true, says: 'no pod there wants it' },
])('$name', ({ of, unwanted, says }) => {
  const built = unwanted ? node().persistentVolume('pv-1', { inUse: false }) : wanted()
  of?.(built)
  const attachment = built.attachments[0]?.metadata.name ?? ''
  const inCluster = explainerOf(clusterOf(built, !unwanted))
  for (const what of ['pvc/default/claim-pv-1', 'pv/pv-1', `va/${attachment}`]) {
    const here = explain(built.build(), planOptions(), what).explanation
    const there = inCluster.explain(what)
    const links = (chain: readonly { kind: string; name: string; state: string; says: string }[]) =>
      chain.flatMap(({ kind, name, state, says: words }) =>
        OBJECTS.includes(kind) ? [{ kind, name, state, words }] : [],
      )
    expect(links(here.chain)).toEqual(links(there.chains[0]?.links ?? []))
    expect(
      links(here.chain)
        .map(({ words }) => words)
        .join('\n'),
    ).toContain(says ?? '')
    // What only a node's answer has stands behind.
    const labels = new Set(there.identity.map(({ label }) => label))
    expect(here.identity.filter(({ label }) => labels.has(label))).toEqual(there.identity)
  }
})
