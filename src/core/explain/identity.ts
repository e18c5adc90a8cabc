/** What a thing is, and where that was learned. Never what a secret, or an object's attributes or annotations, hold. */
import { csiSourceOf } from '../desired/csi-translation/csi-source.ts'
import type { VolumeRow } from '../ledger/row.ts'
import type { ObjectMeta, PersistentVolume, PersistentVolumeClaim } from '../model/objects.ts'
import { namespacedName } from '../plan/pod-name.ts'
import { PLUGINS } from '../plugins/registry.ts'
import type { PlanContext } from '../reconcile/context/context.ts'
import { identifyAttachment } from '../reconcile/identity/attachment-identity.ts'
import type { Target } from './candidates.ts'
import type { Fact } from './explanation.ts'

/** Facts of the object that was asked for; those of the volume behind it are the volume's (describe-volume.ts). */
export function identityOf(context: PlanContext, target: Target, volume: VolumeRow | undefined): Fact[] {
  switch (target.kind) {
    case 'Pod':
      return target.uids.flatMap((uid) => podFacts(context, uid))
    case 'PersistentVolumeClaim':
      return claimFacts(context, target)
    case 'PersistentVolume':
      return persistentVolumeFacts(context, target)
    case 'VolumeAttachment':
      return attachmentFacts(context, target.name)
    case 'Volume':
      return volume === undefined ? [] : volumeFacts(volume)
    case 'Driver':
      return driverFacts(context, target.name)
  }
}

function fact(label: string, value: string | null | undefined, from: string): Fact[] {
  return value == null || value === '' ? [] : [{ label, value, from }]
}

function podFacts({ classes, inputs }: PlanContext, uid: string): Fact[] {
  const found = classes.of(uid)
  const { pod, ref } = { ...found }
  const name = ref?.name === undefined ? undefined : namespacedName(ref)
  const directory = inputs.absolute(`pods/${uid}`)
  return [
    ...fact('Pod', name, pod === undefined ? 'container runtime' : 'API'),
    ...fact('UID', uid, pod === undefined ? 'disk, mount table or container runtime' : 'API'),
    ...fact('Created', pod?.metadata.creationTimestamp, 'API'),
    ...deletionFacts(pod?.metadata),
    ...fact('Directory', inputs.tree.has(`pods/${uid}`) ? directory : `${directory}: not there`, 'disk'),
  ]
}

function claimFacts({ inputs }: PlanContext, { namespace, name }: { namespace: string; name: string }): Fact[] {
  const claim = inputs.snapshot.api?.persistentVolumeClaims.find(
    ({ metadata }) => metadata.name === name && (metadata.namespace ?? 'default') === namespace,
  )
  if (claim === undefined)
    return [
      {
        label: 'Claim',
        value: `${namespace}/${name}: not in the API`,
        from: 'a pod or PersistentVolume that refers to it',
      },
    ]
  return [
    ...fact('Claim', `${namespace}/${name}, ${claim.status?.phase ?? 'no phase'}`, 'API'),
    ...deletionFacts(claim.metadata),
    ...fact('Bound to', claim.spec.volumeName, 'API'),
    ...sizeOf(claim),
  ]
}

/** Since when, and what the API waits for. */
function deletionFacts({ deletionTimestamp, finalizers = [] }: Partial<ObjectMeta> = {}): Fact[] {
  if (deletionTimestamp === undefined) return []
  return [
    ...fact('Being deleted', deletionTimestamp, 'API'),
    ...fact('Kept by', finalizers.map((each) => `finalizer ${each}`).join(', '), 'API'),
  ]
}

function sizeOf({ spec, status }: PersistentVolumeClaim): Fact[] {
  return [
    ...fact('Access modes', spec.accessModes?.join(', '), 'API'),
    ...fact('Capacity', status?.capacity?.storage, 'API'),
  ]
}

function persistentVolumeFacts({ inputs }: PlanContext, { name }: { name: string }): Fact[] {
  const object = inputs.snapshot.api?.persistentVolumes.find(({ metadata }) => metadata.name === name)
  if (object === undefined)
    return [{ label: 'PersistentVolume', value: `${name}: not in the API`, from: 'an object that refers to it' }]
  const { claimRef, accessModes, capacity, volumeMode } = object.spec
  return [
    ...fact('PersistentVolume', `${name}, ${object.status?.phase ?? 'no phase'}`, 'API'),
    ...deletionFacts(object.metadata),
    ...fact('Claim', claimRef?.name === undefined ? undefined : namespacedName(claimRef), 'API'),
    ...fact('Access modes', accessModes?.join(', '), 'API'),
    ...fact('Capacity', capacity?.storage, 'API'),
    ...fact('Mode', volumeMode, 'API'),
    ...fact('Source', sourceOf(object), 'API'),
  ]
}

/** In-tree disks as what they are translated to. */
function sourceOf(object: PersistentVolume): string | undefined {
  const csi = csiSourceOf(object)
  if (csi !== undefined) return `CSI driver ${csi.driver}, handle ${csi.volumeHandle}`
  return PLUGINS.map((plugin) => plugin.sourceText?.(object.spec)).find((text) => text !== undefined)
}

function attachmentFacts(context: PlanContext, name: string): Fact[] {
  const { api } = context.inputs.snapshot
  const found = api?.volumeAttachments.find(({ metadata }) => metadata.name === name)
  if (found === undefined) return []
  const { spec, status, metadata } = found
  const identity = spec.nodeName === context.inputs.snapshot.nodeName ? identifyAttachment(context, found) : undefined
  return [
    ...fact('VolumeAttachment', name, 'API'),
    ...fact('Node', spec.nodeName, 'API'),
    ...fact('Attacher', spec.attacher, 'API'),
    ...fact('PersistentVolume', spec.source.persistentVolumeName, 'API'),
    ...fact('Handle', identity?.handle, identity?.from ?? ''),
    ...fact('Attached', status?.attached === true ? 'yes' : 'no', 'API'),
    ...deletionFacts(metadata),
    ...fact('Attach error', status?.attachError?.message, 'API'),
    ...fact('Detach error', status?.detachError?.message, 'API'),
  ]
}

function driverFacts({ inputs }: PlanContext, name: string): Fact[] {
  const { api, csiSockets = [] } = inputs.snapshot
  const entry = api?.csiNode?.spec.drivers?.find((each) => each.name === name)
  const object = api?.csiDrivers.find(({ metadata }) => metadata.name === name)
  const modes = object?.spec.volumeLifecycleModes?.join(', ')
  return [
    ...fact('CSI driver', name, csiSockets.some(({ driver }) => driver === name) ? 'socket' : 'API and disk'),
    ...fact('Node ID', entry?.nodeID, 'CSINode'),
    ...fact('Lifecycle', modes, 'CSIDriver'),
    ...fact('fsGroup', object?.spec.fsGroupPolicy, 'CSIDriver'),
    ...fact('Created', object?.metadata.creationTimestamp, 'CSIDriver'),
  ]
}

function volumeFacts({ uniqueName, unidentified, names }: VolumeRow): Fact[] {
  return [
    ...fact('Unique name', uniqueName, "the kubelet's naming rule"),
    ...fact('Not identified', unidentified, 'disk'),
    ...fact('Also called', [...names].filter((name) => name !== uniqueName).join(', '), 'API and disk'),
  ]
}
