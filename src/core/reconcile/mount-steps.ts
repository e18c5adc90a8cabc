/** What bringing a volume up would do, path by path (R430, C133, C134). Planned in full; carried out by a later version. */
import { parentOf } from '../actual/tree.ts'
import type { VolumeToMount } from '../desired/desired-state.ts'
import { csiGlobalDir, escapeQualifiedName } from '../names.ts'
import type { Step } from '../plan/plan.ts'
import { type PlanContext, registeredDriver, stages } from './context.ts'
import { targetOf } from './mount-evidence.ts'

/** @param withStage whether this operation carries the staging of the volume (the first of several pods does) */
export function mountSteps(context: PlanContext, volume: VolumeToMount, withStage: boolean): Step[] {
  if (volume.mode === 'Block') return blockSteps(context, volume, withStage)
  const target = context.inputs.absolute(targetOf(volume))
  switch (volume.plugin) {
    case 'kubernetes.io/csi':
      return csiSteps(context, volume, target, withStage)
    case 'kubernetes.io/empty-dir':
    case 'kubernetes.io/secret':
    case 'kubernetes.io/configmap':
    case 'kubernetes.io/downward-api':
    case 'kubernetes.io/projected':
      return emptyDirSteps(context, volume, target)
    default:
      return [
        { op: 'mkdir', target },
        { op: 'mount', target },
      ]
  }
}

function csiSteps(context: PlanContext, volume: VolumeToMount, target: string, withStage: boolean): Step[] {
  const dir = parentOf(target)
  const publish: Step[] = [
    { op: 'mkdir', target: dir },
    { op: 'write', target: `${dir}/vol_data.json` },
    { op: 'NodePublishVolume', target },
  ]
  if (!withStage || volume.driver === undefined || volume.handle === undefined || volume.persistentVolume === undefined)
    return publish
  const global = context.inputs.absolute(csiGlobalDir(volume.driver, volume.handle))
  if (!stages(registeredDriver(context, volume.driver)))
    return [{ op: 'mkdir', target: `${global}/globalmount` }, ...publish]
  return [
    { op: 'mkdir', target: `${global}/globalmount` },
    { op: 'write', target: `${global}/vol_data.json` },
    { op: 'NodeStageVolume', target: `${global}/globalmount` },
    ...publish,
  ]
}

function blockSteps(context: PlanContext, volume: VolumeToMount, withStage: boolean): Step[] {
  const link = context.inputs.absolute(targetOf(volume))
  if (volume.plugin !== 'kubernetes.io/csi') return [{ op: 'symlink', target: link }]
  const base = context.inputs.absolute('plugins/kubernetes.io/csi/volumeDevices')
  const name = escapeQualifiedName(volume.specName)
  const staging = `${base}/staging/${volume.specName}`
  const publish = `${base}/publish/${volume.specName}/${volume.podUid}`
  const map = `${base}/${name}/dev/${volume.podUid}`
  const stage: Step[] =
    withStage && stages(registeredDriver(context, volume.driver ?? ''))
      ? [
          { op: 'mkdir', target: staging },
          { op: 'NodeStageVolume', target: staging },
        ]
      : []
  return [
    { op: 'write', target: `${base}/${name}/data/vol_data.json` },
    ...stage,
    { op: 'NodePublishVolume', target: publish },
    { op: 'mount', target: map },
    { op: 'symlink', target: link },
    { op: 'losetup -f', target: map },
  ]
}

function emptyDirSteps(context: PlanContext, volume: VolumeToMount, target: string): Step[] {
  const own = volume.plugin === 'kubernetes.io/empty-dir'
  const medium = own
    ? (volume.source?.emptyDir?.medium ?? '')
    : volume.plugin === 'kubernetes.io/configmap'
      ? ''
      : 'Memory'
  const meta = `pods/${volume.podUid}/plugins/kubernetes.io~empty-dir/${own ? '' : 'wrapped_'}${volume.specName}`
  return [
    { op: 'mkdir', target },
    ...(medium === '' ? [] : [{ op: 'mount' as const, target, detail: medium }]),
    ...(own ? [] : [{ op: 'write' as const, target: `${target}/..data` }]),
    { op: 'write', target: context.inputs.absolute(`${meta}/ready`) },
  ]
}
