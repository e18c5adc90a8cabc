/** Phase 2 of the pass: volumes that desired pods lack (R410, S22; O3, O21, O26, O31). */

import { commandLine } from '../../base/command.ts'
import { isGateOn, kubeletVersion } from '../../facts/actual/kubelet-version.ts'
import { bringBack, deadWords } from '../../linux/mount-words.ts'
import type { Obstacle, Wait } from '../../plan/draft.ts'
import { podName } from '../../plan/pod-name.ts'
import { causeOfUnresolved, type VolumeToMount, WAITING_FOR } from '../../volumes/desired-state.ts'
import { image } from '../../volumes/host-path.ts'
import { isMirrorPod } from '../../volumes/pods.ts'
import { evidenceOf, pluginNamed } from '../../volumes/registry.ts'
import type { OtherVolume } from '../../volumes/same-volume.ts'
import { aboutWanted, type PlanContext, podRefOf } from '../context/context.ts'
import { describeWanted, leaveWanted } from '../identity/volume-facts.ts'
import { bringUp, type Turns } from './bring-up.ts'
import { refreshVolume } from './refresh-volumes.ts'
import { reportLabel } from './selinux.ts'

export function mountOrAttachVolumes(context: PlanContext): void {
  const turns: Turns = { mounts: new Set(), stages: new Map() }
  const volumes = context.desired.volumes.filter((volume) => context.classes.of(volume.podUid)?.class === 'Desired')
  for (const volume of volumes) mountOne(context, volume, turns)
  for (const unresolved of context.desired.unresolved) {
    if (context.classes.of(unresolved.podUid)?.class !== 'Desired') continue
    const pod = podRefOf(context, unresolved.podUid)
    const { mayBe, cause, message } = unresolved
    const known = mayBe.of === 'itself' ? mayBe.volume : undefined
    const wait = { code: WAITING_FOR[cause], message, because: causeOfUnresolved(unresolved) }
    context.findings.wait('MountVolume', wait, 'S4', {
      subject: context.ledger.unresolved(unresolved),
      pod,
      volume: {
        name: unresolved.persistentVolumeName ?? unresolved.podVolumeName,
        podVolumeName: unresolved.podVolumeName,
        plugin: known?.plugin ?? 'unknown',
        mode: known?.mode ?? 'Filesystem',
      },
    })
  }
}

function mountOne(context: PlanContext, volume: VolumeToMount, turns: Turns): void {
  const { inputs } = context
  if (isMirrorPod(volume.pod) && !context.statics.isRead(volume.pod)) {
    leaveWanted(context, volume, 'its pod is a mirror pod whose manifest was not read on this node')
    return
  }
  if (
    isMirrorPod(volume.pod) &&
    refersToObjects(volume) &&
    isGateOn(inputs.snapshot, 'PreventStaticPodAPIReferences')
  ) {
    leaveWanted(context, volume, 'its pod is a static pod, which may not refer to objects of the API')
    return
  }
  const plugin = pluginNamed(volume.plugin)
  const device = volume.mode === 'Block' && !plugin.block ? blockUnsupported(volume) : undefined
  const evidence = evidenceOf(inputs, volume)
  const missing = missingPlugin(context, volume)
  if (missing !== undefined) {
    context.findings.wait('MountVolume', missing, 'O44', {
      subject: context.ledger.wanted(volume),
      pod: podRefOf(context, volume.podUid),
      volume: describeWanted(context, volume),
    })
    return
  }
  if (evidence.state === 'satisfied') {
    leaveWanted(context, volume, 'the kubelet mounts nothing for this volume')
    return
  }
  const target = plugin.podPath(volume)
  const dead = inputs.deadError(target)
  if (evidence.state === 'mounted' && dead !== undefined) {
    reportDead(context, volume, target, dead)
    return
  }
  if (evidence.state === 'mounted' && evidence.other !== undefined) {
    reportOther(context, volume, target, evidence.other)
    return
  }
  if (evidence.state === 'mounted' && evidence.stateFileLost === undefined) {
    reportLabel(context, volume)
    refreshVolume(context, volume)
    return
  }
  bringUp(context, { volume, evidence, device }, turns)
}

/** N70. */
function refersToObjects({ source, persistentVolume }: VolumeToMount): boolean {
  const sources = source?.projected?.sources ?? []
  return (
    (persistentVolume ?? source?.secret ?? source?.configMap ?? source?.csi?.nodePublishSecretRef) != null ||
    sources.some(({ downwardAPI }) => downwardAPI == null)
  )
}

/** The kubelet finds no block mapper for the volume, and tries for ever (R010). */
function blockUnsupported({ specName, plugin }: VolumeToMount): Obstacle {
  return {
    code: 'PluginUnsupported',
    message: `PersistentVolume ${specName} has volumeMode Block, but ${plugin} does not support block volumes`,
    hint: 'Create the PersistentVolume and its claim again, with volumeMode Filesystem.',
  }
}

/**
 * S5, S38: the pod keeps what it has. Its driver is not asked to expand or republish a volume that is not the one at this target, and
 * the record that names the one there stays (S14).
 */
function reportOther(
  context: PlanContext,
  volume: VolumeToMount,
  target: string,
  { name, expected, isRecord }: OtherVolume,
): void {
  const { podUid, specName, driver, handle } = volume
  const at = context.inputs.absolute(target)
  const wants = expected ?? (driver === undefined ? undefined : `${driver}^${handle}`)
  context.findings.problem(
    isRecord ? 'warning' : 'error',
    'OtherVolume',
    `pod ${podName(podRefOf(context, podUid))} has ${name} mounted as ${specName}${wants === undefined ? ', and not the volume' : `, but wants ${wants}`}; volctl leaves the volume as long as the pod exists`,
    aboutWanted(context, volume, at),
    isRecord
      ? `PersistentVolume ${specName} was created again, or its source has changed. A kubelet that starts replaces the volume under the running pod: delete the pod before; the new pod gets the right one.`
      : `Stop the pod: what it writes is not in its volume. Save what it has written, see ${driver === undefined ? `who mounted this (${commandLine('findmnt', at)})` : `the log of CSI driver ${driver}`}, and delete the pod.`,
  )
}

/** O21: the driver would report the volume as mounted; only a restart of the containers, or a remount, helps. */
function reportDead(context: PlanContext, volume: VolumeToMount, target: string, error: string): void {
  const pod = podRefOf(context, volume.podUid)
  const running = context.witnesses.isAlive(volume.podUid)
  const at = context.inputs.absolute(target)
  context.findings.problem(
    'error',
    'DeadMount',
    `${at} does not answer: ${deadWords(error)}${running ? ', and running containers use it' : ''}`,
    aboutWanted(context, volume, at),
    running
      ? `${bringBack(context.inputs.top(target), error, podName(pod))}.`
      : `${bringBack(context.inputs.top(target), error)}; the kubelet then mounts the volume again.`,
  )
}

/**
 * Why this kubelet, which lacks the plugin by its version and feature gates (O44), never sets the volume up, and starts no
 * container of the pod; undefined: nothing shows that. A pod that runs
 * shows that it could.
 */
function missingPlugin({ inputs, witnesses }: PlanContext, volume: VolumeToMount): Wait | undefined {
  if (pluginNamed(volume.plugin) !== image || witnesses.isAlive(volume.podUid)) return undefined
  const { snapshot } = inputs
  if (isGateOn(snapshot, 'ImageVolume')) return undefined
  return {
    code: 'PluginMissing',
    message: `the kubelet (${kubeletVersion(snapshot.api?.node)?.text}) has no plugin for image volumes: its feature gate ImageVolume is off`,
    hint: "Set ImageVolume: true in featureGates of the kubelet's configuration and restart the kubelet, or run the pod on a node with Kubernetes 1.35 or newer.",
  }
}
