/** A node on which every field of the API's objects is there, so that every one can be swapped: made from their shapes. */

import { type ApiSnapshot, type NodeSnapshot, snapshotShape } from '../../src/core/facts/actual/snapshot.ts'
import { csiUniqueName } from '../../src/core/facts/actual/volume-names.ts'
import type { ObjectMeta, PersistentVolume, PersistentVolumeClaim, Pod } from '../../src/core/kube/api/objects.ts'
import { type JsonSchema, schemaOf } from '../../src/core/trust/shape.ts'
import { DRIVER, NOW, node, uid } from '../helpers/node-builder.ts'
import { MACHINE } from '../helpers/objects.ts'

/** Of fields that mean something; any other text is `some`. */
const TEXTS: Readonly<Record<string, string>> = {
  ...MACHINE,
  ...Object.fromEntries(
    ['creationTimestamp', 'startTime', 'finishedAt', 'lastTransitionTime', 'time'].map((key) => [key, NOW]),
  ),
  ...{ lastHeartbeatTime: '2026-11-21T11:58:00Z', deletionTimestamp: NOW, kubeletVersion: 'v1.36.2' },
  ...{ namespace: 'default', nodeName: 'node-1', phase: 'Running', medium: 'Memory', operator: 'In' },
  ...{ fieldPath: "metadata.labels['app']", resource: 'limits.memory', containerName: 'c', divisor: '1Mi' },
  ...{
    sizeLimit: '1Mi',
    volumeID: 'aws://a/vol-1',
    diskURI: '/d',
    kind: 'Managed',
    claimName: 'claim-csi',
    volumePath: '[d] v',
    path: '/srv',
  },
  ...{ targetPortal: '10.0.0.1', iqn: 'iqn.2026-01.test:disk', targetWWNs: '50060e801049cfd1', fsType: 'ext4' },
  ...{ volumeMode: 'Filesystem', accessModes: 'ReadWriteOnce', fsGroupPolicy: 'File', attacher: DRIVER },
  ...{
    driver: DRIVER,
    volumeHandle: 'pv-csi',
    data: 'x',
    binaryData: 'eA==',
    volumesInUse: csiUniqueName(DRIVER, 'pv-csi'),
  },
  ...{ capacity: '1Gi', allocatable: '4', limits: '1', requests: '1', allocatedResources: '2Gi' },
}

const defs = new Map<string, JsonSchema>()
const { properties } = schemaOf(snapshotShape, defs) as { readonly properties: { readonly api: Schema } }

interface Schema extends JsonSchema {
  readonly $ref?: string
  readonly anyOf?: readonly Schema[]
  readonly type?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly additionalProperties?: Schema
}

/** A value with nothing left out, at any depth. @param key of the field whose value it is */
function whole(schema: Schema, key = ''): unknown {
  const { $ref, anyOf, type, properties: fields, items, additionalProperties } = schema
  if ($ref !== undefined) return whole(defs.get($ref.slice('#/$defs/'.length)) ?? {}, key)
  if (anyOf !== undefined) return whole(anyOf.at(-1) ?? {}, key)
  if (items !== undefined) return [whole(items, key)]
  if (fields !== undefined)
    return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, whole(field, name)]))
  if (additionalProperties !== undefined) return { memory: whole(additionalProperties, key) }
  if (type === 'string') return TEXTS[key] ?? 'some'
  return type === 'boolean' ? true : type === undefined ? {} : 1
}

const api = whole(properties.api) as ApiSnapshot
const [pod, claim, volume] = [api.pods[0], api.persistentVolumeClaims[0], api.persistentVolumes[0]] as [
  Pod,
  PersistentVolumeClaim,
  PersistentVolume,
]

/** Not being deleted. */
function living(name: string, id = `uid-${name}`): ObjectMeta {
  const { deletionTimestamp: _, ...rest } = pod.metadata
  return { ...rest, name, uid: id, annotations: { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' } }
}

/** In no namespace. */
function ofCluster(name: string): ObjectMeta {
  const { namespace: _, ...rest } = living(name)
  return rest
}

/** Each source is that of a volume of its own. */
function podOf(metadata: ObjectMeta, sources: Readonly<Record<string, object>>): Pod {
  const volumes = Object.entries(sources).map(([name, source]) => ({ name: name.toLowerCase(), ...source }))
  const containers = pod.spec.containers?.map((each) => ({
    ...each,
    volumeMounts: volumes.map(({ name }) => ({ ...each.volumeMounts?.[0], name })),
  }))
  return { ...pod, metadata: metadata as Pod['metadata'], spec: { ...pod.spec, containers, volumes } as Pod['spec'] }
}

const { name: _, ...podSources } = pod.spec.volumes?.[0] ?? {}
const { accessModes, capacity, claimRef, volumeMode, mountOptions, nodeAffinity, ...volumeSources } = volume.spec
const common = { accessModes, capacity, volumeMode, mountOptions, nodeAffinity }
const fields = (sources: object): [string, object][] => Object.entries(sources)

/** A pod with every kind of volume that pods have, one with a claim of every kind that there is, and one that is gone. */
export function everyKind(): NodeSnapshot {
  const sources = fields(volumeSources)
  const built = node()
    .running(uid(2), 'every')
    .dir(`pods/${uid(2)}`)
    .dir(`pods/${uid(3)}`)
    .staged('pv-csi', '7:1')
    .published(uid(3), 'pv-csi', '7:1', { handle: 'pv-csi' })
    .published(uid(9), 'pv-gone', '7:2')
    .attach('pv-csi')
  const claims = sources.map(([key]) => [key, { persistentVolumeClaim: { claimName: `claim-${key}` } }])
  built.overrideApi = {
    node: { ...api.node, metadata: ofCluster('node-1') },
    pods: [
      ...built.pods,
      podOf(living('every', uid(2)), Object.fromEntries(fields(podSources).map(([key, of]) => [key, { [key]: of }]))),
      podOf({ ...pod.metadata, name: 'claims', uid: uid(3) }, Object.fromEntries(claims)),
    ],
    persistentVolumeClaims: sources.map(([key]) => ({
      ...claim,
      metadata: living(`claim-${key}`),
      spec: { ...claim.spec, volumeName: `pv-${key}` },
      status: { ...claim.status, phase: 'Bound' },
    })),
    persistentVolumes: sources.map(([key, of]) => ({
      ...volume,
      metadata: ofCluster(`pv-${key}`),
      spec: { ...common, claimRef: { ...claimRef, name: `claim-${key}`, uid: `uid-claim-${key}` }, [key]: of },
    })) as readonly PersistentVolume[],
    volumeAttachments: built.attachments.map((of) => ({
      ...of,
      status: api.volumeAttachments[0]?.status ?? {},
      spec: { ...of.spec, source: { ...of.spec.source, inlineVolumeSpec: { ...common, csi: volumeSources.csi } } },
    })) as ApiSnapshot['volumeAttachments'],
    csiDrivers: api.csiDrivers.map((each) => ({ ...each, metadata: ofCluster(DRIVER) })),
    csiNode: { metadata: ofCluster('node-1'), spec: { drivers: [{ name: DRIVER, nodeID: 'node-1' }] } },
    configMaps: api.configMaps.map((each) => ({ ...each, metadata: living('some') })),
    secrets: api.secrets.map((each) => ({ ...each, metadata: living('some') })),
  }
  return structuredClone(built.build().snapshot)
}
