/** A CSI file system volume of a pod that is gone: the driver first, then what it left (R441, C76, S14, S16, O5, O6). */

import type { PodVolume } from '../../actual/pod-volume.ts'
import { csiUniqueName, uniquePodVolumeName } from '../../names/volume-names.ts'
import { expectedMount, type Findings, type Obstacle } from '../../plan/draft.ts'
import type { OperationKind, Step } from '../../plan/plan.ts'
import { type PlanContext, waitToSettle } from '../context/context.ts'
import { foreignObstacle, layerObstacle, umountSteps } from '../context/layers.ts'
import { gone, leaveEmpty, podTimes } from '../context/pod-facts.ts'
import { driverCall, reportDriverGone } from '../drivers/driver-call.ts'
import { identifyPodVolume, identityObstacle } from '../identity/csi-identity.ts'
import type { CsiIdentity } from '../identity/identified.ts'
import { describeCsiVolume } from '../identity/volume-facts.ts'
import type { PodClass } from '../pods/pod-classes.ts'
import { subPathWork } from './sub-path-steps.ts'

export function unmountCsiVolume(context: PlanContext, findings: Findings, pod: PodClass, volume: PodVolume): void {
  const { inputs } = context
  const work = subPathWork(context, volume.subPaths)
  const mounted = volume.layers.length > 0
  if (volume.stateFile === undefined && !mounted && work.removes.length === 0) {
    reportContent(context, findings, pod, volume)
    leaveEmpty(context, findings, volume)
    return
  }

  const identified = identifyPodVolume(context, volume)
  const identity = 'identity' in identified ? identified.identity : undefined
  const reconstructable = volume.stateFile?.data !== undefined
  const kind: OperationKind = reconstructable ? 'UnmountVolume' : 'CleanOrphanVolume'
  const ref = describeCsiVolume(context, {
    name: volume.name,
    mode: 'Filesystem',
    identity,
    uniqueName: uniqueNameOf(volume, identity),
    device: volume.layers.at(-1),
  })
  const wait = waitToSettle(context, pod, () => podTimes(context, pod))
  if (wait !== undefined) {
    findings.wait(kind, wait, 'S11', { pod: pod.ref, volume: ref })
    return
  }

  const target = inputs.absolute(volume.target)
  const dir = inputs.absolute(volume.dir)
  const call = identity === undefined ? undefined : driverCall(context, identity, volume.stateFile, mounted)
  const withoutDriver = call?.kind === 'gone' || call?.kind === 'absentSinceBoot'
  // A link, device or file that was published on the target itself is the driver's to take away (C17, C123).
  const strays = strayFiles(volume).filter((entry) => withoutDriver || entry.path !== volume.target)
  const steps: Step[] = [...work.steps]
  if (call?.kind === 'gone') steps.push(...umountSteps(context, target, volume.layers))
  else if (call?.kind !== 'absentSinceBoot') steps.push({ op: 'NodeUnpublishVolume', target })
  if (withoutDriver && inputs.tree.isDir(volume.target)) steps.push({ op: 'rmdir', target })
  if (volume.stateFile !== undefined) steps.push({ op: 'unlink', target: inputs.absolute(volume.stateFile.path) })
  if (strays.length === 0) steps.push({ op: 'rmdir', target: dir })
  const paths = [...new Set([...work.paths, target, ...steps.map((step) => step.target)])]
  const blocked =
    work.obstacle ??
    foreignObstacle(context, volume.foreign) ??
    layerObstacle(context, target, volume.layers) ??
    dataObstacle(context, volume) ??
    identityObstacle(identified) ??
    (call?.kind === 'blocked' ? call.blocked : undefined)
  if (call?.kind === 'gone') {
    const about = { pod: pod.uid, volume: volume.name, path: target }
    reportDriverGone(findings, identity?.driver, 'NodeUnpublishVolume', about)
  }
  for (const entry of strays) reportStray(context, findings, pod, volume, entry.path, entry.size)
  findings.add({
    kind,
    reason: reasonOf(pod, kind, call?.kind),
    message: messageOf(pod, volume, identity, call?.kind),
    pod: pod.ref,
    volume: ref,
    steps,
    paths,
    after: [],
    rule: kind === 'UnmountVolume' ? 'R441' : 'S17',
    expects: [...work.expects, ...(mounted ? [expectedMount(target, volume.layers)] : [])],
    removes: new Set([...work.removes, ...volume.layers.map((layer) => layer.id)]),
    ...(blocked === undefined ? {} : { blocked }),
    ...(kind === 'CleanOrphanVolume'
      ? { kubeletWould: 'try once, fail for lack of vol_data.json, and leave it for ever' }
      : {}),
    ...(call?.kind === 'absentSinceBoot' ? { kubeletWould: 'wait for the driver for ever' } : {}),
  })
}

function uniqueNameOf(volume: PodVolume, identity: CsiIdentity | undefined): string | undefined {
  const data = volume.stateFile?.data
  if (data?.volumeLifecycleMode === 'Ephemeral') {
    return uniquePodVolumeName('kubernetes.io/csi', volume.podUid, data.specVolID ?? volume.name)
  }
  return identity === undefined ? undefined : csiUniqueName(identity.driver, identity.handle)
}

function reasonOf(pod: PodClass, kind: OperationKind, call: string | undefined) {
  if (call === 'absentSinceBoot') return 'DriverAbsentSinceBoot'
  if (kind === 'CleanOrphanVolume') return 'NotReconstructable'
  return pod.class === 'Finished' ? 'PodFinished' : 'PodGone'
}

function messageOf(
  pod: PodClass,
  volume: PodVolume,
  identity: CsiIdentity | undefined,
  call: string | undefined,
): string {
  if (call === 'absentSinceBoot')
    return `${gone(pod)}; driver ${identity?.driver} is gone and its state file is older than this boot`
  const state =
    volume.layers.length > 0
      ? `volume ${volume.name} is mounted`
      : `volume ${volume.name} is not mounted, its state file is left`
  return `${gone(pod)}; ${state}`
}

/** Files on or below a target that nothing is mounted on: a driver might delete them, so it is not even asked (O12). */
function dataObstacle(context: PlanContext, volume: PodVolume): Obstacle | undefined {
  if (volume.layers.length > 0) return undefined
  const data = volume.content.filter(
    ({ path, type, size }) =>
      (path.startsWith(`${volume.target}/`) && type !== 'dir') ||
      (path === volume.target && type === 'file' && size !== 0),
  )
  const [first] = data
  if (first === undefined) return undefined
  return {
    code: 'DataUnderMountPoint',
    message: `nothing is mounted on ${context.inputs.absolute(volume.target)}, and it holds ${data.length} file${data.length === 1 ? '' : 's'}, e.g. ${context.inputs.absolute(first.path)}`,
    hint: 'Move the files away or delete them yourself; volctl never does.',
  }
}

function strayFiles(volume: PodVolume) {
  return volume.content.filter((entry) => entry.type !== 'dir' && !entry.path.startsWith(`${volume.target}/`))
}

function reportContent(context: PlanContext, findings: Findings, pod: PodClass, volume: PodVolume): void {
  for (const entry of volume.content) {
    if (entry.type !== 'dir') reportStray(context, findings, pod, volume, entry.path, entry.size)
  }
}

function reportStray(
  context: PlanContext,
  findings: Findings,
  pod: PodClass,
  volume: PodVolume,
  path: string,
  size: number | undefined,
): void {
  const under = path.startsWith(`${volume.target}/`)
  findings.problem(
    'warning',
    under ? 'DataUnderMountPoint' : 'UnexpectedFile',
    `${context.inputs.absolute(path)} (${size ?? 'unknown'} bytes) lies in a volume directory of a pod that is gone and is kept`,
    { pod: pod.uid, volume: volume.name, path: context.inputs.absolute(path) },
    'Look at it; move it away or delete it yourself, then plan again.',
  )
}
