/** NFS, local, iSCSI, FC and flexVolume at the pod's side: unmount, by its driver where it has one, and remove when empty (R035, R514, P88). */

import type { PodVolume } from '../../actual/pod-volume.ts'
import { uniquePodVolumeName, uniqueVolumeName } from '../../names/volume-names.ts'
import type { Findings } from '../../plan/draft.ts'
import type { Step, VolumeRef } from '../../plan/plan.ts'
import { localVolume } from '../../plugins/local-volume.ts'
import { pluginNamed } from '../../plugins/registry.ts'
import { type PlanContext, waitToSettle } from '../context/context.ts'
import { umountSteps } from '../context/layers.ts'
import { leaveEmpty, podTimes, reasonOf } from '../context/pod-facts.ts'
import { callObstacle, reportDriverGone } from '../drivers/driver-call.ts'
import { type FlexCall, flexCall, isFlexPlugin } from '../drivers/flex-driver.ts'
import { describeDevice } from '../identity/volume-facts.ts'
import type { PodClass } from '../pods/pod-classes.ts'
import { subPathWork } from '../tear-down/sub-path-steps.ts'
import { targetsOf, tearDown } from '../tear-down/tear-down.ts'
import { reportKept } from './kept-files.ts'

export function unmountPlain(context: PlanContext, findings: Findings, pod: PodClass, volume: PodVolume): void {
  const work = subPathWork(context, volume.subPaths)
  const mounted = volume.layers.length > 0
  const call = isFlexPlugin(context, volume.plugin) ? flexCall(context, volume.plugin) : undefined
  const driver = driverToAsk(context, volume, call)
  if (!mounted && driver === undefined && work.mounts.length === 0 && volume.foreign.length === 0) {
    reportData(context, findings, volume)
    leaveEmpty(context, findings, volume)
    return
  }
  const kind = pluginNamed(volume.plugin).reconstructs || call?.kind === 'call' ? 'UnmountVolume' : 'CleanOrphanVolume'
  const wait = waitToSettle(context, pod, () => podTimes(context, pod))
  const subject = context.ledger.podVolume(volume)
  tearDown(context, findings, { kind, pod, volume: describe(pod, volume), subject, wait }, () => {
    const dir = context.inputs.absolute(volume.dir)
    const keepsFiles = !mounted && volume.content.some((entry) => entry.type !== 'dir')
    if (keepsFiles) reportData(context, findings, volume)
    if (mounted && call?.kind === 'gone') {
      reportDriverGone(findings, volume.plugin, 'unmount', { pod: pod.uid, volume: volume.name, path: dir, subject })
    }
    const steps: Step[] = [
      ...work.steps,
      ...ownSteps(context, dir, volume, driver?.executable),
      ...(keepsFiles ? [] : [{ op: 'rmdir' as const, target: dir }]),
    ]
    return {
      reason: kind === 'CleanOrphanVolume' ? 'NotReconstructable' : reasonOf(pod),
      rule: kind === 'CleanOrphanVolume' ? 'R514' : 'R440',
      message: `${volume.plugin.replace('kubernetes.io/', '')} volume ${volume.name} is ${mounted ? 'mounted' : 'not mounted, but not fully torn down'}`,
      subPaths: work,
      steps,
      paths: [...work.paths, dir, ...targetsOf(steps)],
      mounts: [{ path: dir, layers: volume.layers }],
      foreign: volume.foreign,
      obstacle: () => (mounted ? callObstacle(call) : undefined),
    }
  })
}

/**
 * A driver is called even if nothing is mounted: it may have set up something else (P88). It is not called if the directory
 * has files: they may be somebody's data, and it is unknown what the driver does to them (S13).
 */
function driverToAsk({ inputs }: PlanContext, { layers, content, dir }: PodVolume, call: FlexCall | undefined) {
  const isEmpty = content.every((entry) => entry.type === 'dir')
  return call?.kind === 'call' && (layers.length > 0 || (isEmpty && inputs.tree.has(dir))) ? call : undefined
}

function describe(pod: PodClass, { plugin, name, layers }: PodVolume): VolumeRef {
  return {
    name,
    uniqueName:
      plugin === localVolume.name ? uniqueVolumeName(plugin, name) : uniquePodVolumeName(plugin, pod.uid, name),
    plugin,
    mode: 'Filesystem',
    ...describeDevice(layers.at(-1)),
  }
}

/** The driver's call, or the kernel alone if there is no driver, or with --force-unmount and --lazy. */
function ownSteps(context: PlanContext, dir: string, volume: PodVolume, executable: string | undefined): Step[] {
  const umounts = umountSteps(context, dir, volume.layers)
  const isForced = umounts.some(({ detail }) => detail === 'force' || detail === 'lazy')
  return executable !== undefined && !isForced ? [{ op: 'flexUnmount', target: dir, detail: executable }] : umounts
}

/** O12: data in a directory without a mount is kept and reported. */
function reportData(context: PlanContext, findings: Findings, volume: PodVolume): void {
  const what = 'is in an unmounted volume directory of a deleted pod'
  for (const entry of volume.content) {
    if (entry.type !== 'dir') reportKept(context, findings, volume, entry, 'DataUnderMountPoint', what)
  }
}
