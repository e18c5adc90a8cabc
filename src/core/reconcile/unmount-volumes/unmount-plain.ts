/** NFS, local, iSCSI, FC and flexVolume at the pod's side: unmount, by its driver where it has one, and remove when empty (R035, R514, P88). */

import type { PodVolume } from '../../actual/pod-volume.ts'
import { uniquePodVolumeName, uniqueVolumeName } from '../../names/volume-names.ts'
import { expectedMount, type Findings } from '../../plan/draft.ts'
import type { Step, VolumeRef } from '../../plan/plan.ts'
import { pluginNamed } from '../../plugins/registry.ts'
import { type PlanContext, waitToSettle } from '../context/context.ts'
import { foreignObstacle, layerObstacle, umountSteps } from '../context/layers.ts'
import { gone, leaveEmpty, podTimes } from '../context/pod-facts.ts'
import { reportDriverGone } from '../drivers/driver-call.ts'
import { flexCall, isFlexPlugin } from '../drivers/flex-driver.ts'
import { describeDevice } from '../identity/volume-facts.ts'
import type { PodClass } from '../pods/pod-classes.ts'
import { subPathWork } from './sub-path-steps.ts'

export function unmountPlain(context: PlanContext, findings: Findings, pod: PodClass, volume: PodVolume): void {
  const { inputs } = context
  const work = subPathWork(context, volume.subPaths)
  const mounted = volume.layers.length > 0
  const call = isFlexPlugin(context, volume.plugin) ? flexCall(context, volume.plugin) : undefined
  // A driver is asked also where nothing is mounted: what it set up may be no mount (P88). Not where files lie in the
  // directory: they may be somebody's data, and nobody knows what it does to them (S13).
  const isEmpty = volume.content.every((entry) => entry.type === 'dir')
  const driver = call?.kind === 'call' && (mounted || (isEmpty && inputs.tree.has(volume.dir))) ? call : undefined
  if (!mounted && driver === undefined && work.removes.length === 0 && volume.foreign.length === 0) {
    reportData(context, findings, pod, volume)
    leaveEmpty(context, findings, volume)
    return
  }
  const kind = pluginNamed(volume.plugin).reconstructs || call?.kind === 'call' ? 'UnmountVolume' : 'CleanOrphanVolume'
  const ref: VolumeRef = {
    name: volume.name,
    uniqueName:
      volume.plugin === 'kubernetes.io/local-volume'
        ? uniqueVolumeName(volume.plugin, volume.name)
        : uniquePodVolumeName(volume.plugin, pod.uid, volume.name),
    plugin: volume.plugin,
    mode: 'Filesystem',
    ...describeDevice(volume.layers.at(-1)),
  }
  const wait = waitToSettle(context, pod, () => podTimes(context, pod))
  if (wait !== undefined) {
    findings.wait(kind, wait, 'S11', { pod: pod.ref, volume: ref })
    return
  }
  const dir = inputs.absolute(volume.dir)
  const keepsFiles = !mounted && volume.content.some((entry) => entry.type !== 'dir')
  if (keepsFiles) reportData(context, findings, pod, volume)
  const steps: Step[] = [
    ...work.steps,
    ...ownSteps(context, dir, volume, driver?.executable),
    ...(keepsFiles ? [] : [{ op: 'rmdir' as const, target: dir }]),
  ]
  const blocked =
    work.obstacle ??
    foreignObstacle(context, volume.foreign) ??
    layerObstacle(context, dir, volume.layers) ??
    (mounted && call?.kind === 'blocked' ? call.blocked : undefined)
  if (mounted && call?.kind === 'gone') {
    reportDriverGone(findings, volume.plugin, 'unmount', { pod: pod.uid, volume: volume.name, path: dir })
  }
  findings.add({
    kind,
    reason: kind === 'CleanOrphanVolume' ? 'NotReconstructable' : pod.class === 'Finished' ? 'PodFinished' : 'PodGone',
    message: `${gone(pod)}; ${volume.plugin.replace('kubernetes.io/', '')} volume ${volume.name} is ${mounted ? 'mounted' : 'not mounted, and something of it is left'}`,
    pod: pod.ref,
    volume: ref,
    steps,
    paths: [...new Set([...work.paths, dir, ...steps.map((step) => step.target)])],
    after: [],
    rule: kind === 'CleanOrphanVolume' ? 'R514' : 'R440',
    expects: [...work.expects, ...(mounted ? [expectedMount(dir, volume.layers)] : [])],
    removes: new Set([...work.removes, ...volume.layers.map((layer) => layer.id)]),
    ...(blocked === undefined ? {} : { blocked }),
  })
}

/** The driver's call, or the kernel alone where there is none or the person said how (--force-unmount, --lazy). */
function ownSteps(context: PlanContext, dir: string, volume: PodVolume, executable: string | undefined): Step[] {
  const umounts = umountSteps(context, dir, volume.layers)
  const told = umounts.some(({ detail }) => detail === 'force' || detail === 'lazy')
  return executable !== undefined && !told ? [{ op: 'flexUnmount', target: dir, detail: executable }] : umounts
}

/** O12: data in a directory that nothing is mounted on is kept and named. */
function reportData(context: PlanContext, findings: Findings, pod: PodClass, volume: PodVolume): void {
  for (const entry of volume.content) {
    if (entry.type === 'dir') continue
    const path = context.inputs.absolute(entry.path)
    findings.problem(
      'warning',
      'DataUnderMountPoint',
      `${path} (${entry.size ?? 'unknown'} bytes) lies in an unmounted volume directory of a pod that is gone and is kept`,
      { pod: pod.uid, volume: volume.name, path },
      'Look at it; move it away or delete it yourself, then plan again.',
    )
  }
}
