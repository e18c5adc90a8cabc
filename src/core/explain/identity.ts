/** What a thing is, and where that was learned. Never what a secret, or an object's attributes or annotations, hold. */
import { attachmentRecord, claimRecord } from '../cluster/read/volume-records.ts'
import { type Lookup, mapFound } from '../desired/api-lookup.ts'
import type { VolumeRow } from '../ledger/row.ts'
import { namespacedName } from '../plan/pod-name.ts'
import { PLUGINS } from '../plugins/registry.ts'
import type { PlanContext } from '../reconcile/context/context.ts'
import { identifyAttachment } from '../reconcile/identity/attachment-identity.ts'
import type { Target } from './candidates.ts'
import { apiObjects } from './chain-objects.ts'
import type { Fact } from './explanation.ts'
import { attachmentRows, claimRows, deletionRows, factsOf, type Row, volumeRows } from './objects.ts'

/** Facts of the object that was asked for; those of the volume behind it are the volume's (describe-volume.ts). */
export function identityOf(context: PlanContext, target: Target, volume: VolumeRow | undefined): Fact[] {
  return factsOf(rowsOf(context, target, volume))
}

function rowsOf(context: PlanContext, target: Target, volume: VolumeRow | undefined): readonly Row[] {
  const api = apiObjects(context)
  switch (target.kind) {
    case 'Pod':
      return target.uids.flatMap((uid) => podRows(context, uid))
    case 'PersistentVolumeClaim': {
      const found = api.claim(target.namespace, target.name)
      const { spec, status } = { ...objectOf(found) }
      return [
        ...claimRows(namespacedName(target), mapFound(found, claimRecord)),
        ['Access modes', spec?.accessModes?.join(', ')],
        ['Capacity', status?.capacity?.storage],
      ]
    }
    case 'PersistentVolume': {
      const spec = objectOf(api.volume(target.name))?.spec
      const source = PLUGINS.map((plugin) => spec && plugin.sourceText?.(spec)).find((text) => text !== undefined)
      return [
        ...volumeRows(target.name, api.volumeRecord(target.name), source),
        ['Capacity', spec?.capacity?.storage],
        ['Mode', spec?.volumeMode],
      ]
    }
    case 'VolumeAttachment':
      return attachmentFacts(context, target.name)
    case 'Volume':
      return volume === undefined ? [] : nameRows(volume)
    case 'Driver':
      return driverRows(context, target.name)
  }
}

function objectOf<T>(found: Lookup<T>): T | undefined {
  return found.state === 'Found' ? found.object : undefined
}

function podRows({ classes, inputs }: PlanContext, uid: string): readonly Row[] {
  const found = classes.of(uid)
  const { pod, ref } = { ...found }
  const name = ref?.name === undefined ? undefined : namespacedName(ref)
  const directory = inputs.absolute(`pods/${uid}`)
  return [
    ['Pod', name, pod === undefined ? 'container runtime' : 'API'],
    ['UID', uid, pod === undefined ? 'disk, mount table or container runtime' : 'API'],
    ['Created', pod?.metadata.creationTimestamp],
    ...deletionRows(pod?.metadata.deletionTimestamp, pod?.metadata.finalizers),
    ['Directory', inputs.tree.has(`pods/${uid}`) ? directory : `${directory}: not there`, 'disk'],
  ]
}

function attachmentFacts(context: PlanContext, name: string): readonly Row[] {
  const { api, nodeName } = context.inputs.snapshot
  const found = api?.volumeAttachments.find(({ metadata }) => metadata.name === name)
  if (found === undefined) return []
  const identity = found.spec.nodeName === nodeName ? identifyAttachment(context, found) : undefined
  return [...attachmentRows(attachmentRecord(found)), ['Handle', identity?.handle, identity?.from ?? '']]
}

function driverRows({ inputs }: PlanContext, name: string): readonly Row[] {
  const { api, csiSockets = [] } = inputs.snapshot
  const entry = api?.csiNode?.spec.drivers?.find((each) => each.name === name)
  const object = api?.csiDrivers.find(({ metadata }) => metadata.name === name)
  return [
    ['CSI driver', name, csiSockets.some(({ driver }) => driver === name) ? 'socket' : 'API and disk'],
    ['Node ID', entry?.nodeID, 'CSINode'],
    ['Lifecycle', object?.spec.volumeLifecycleModes?.join(', '), 'CSIDriver'],
    ['fsGroup', object?.spec.fsGroupPolicy, 'CSIDriver'],
    ['Created', object?.metadata.creationTimestamp, 'CSIDriver'],
  ]
}

function nameRows({ uniqueName, unidentified, names }: VolumeRow): readonly Row[] {
  return [
    ['Unique name', uniqueName, "the kubelet's naming rule"],
    ['Not identified', unidentified, 'disk'],
    ['Also called', [...names].filter((name) => name !== uniqueName).join(', '), 'API and disk'],
  ]
}
