/** Phase 2 of the pass: volumes that desired pods lack (R410, S22; O3, O21, O26, O31). */

import { bringBack, deadWords } from '../../linux/mount-table.ts'
import type { Reason } from '../../messages/codes.ts'
import { advice, commandLine } from '../../messages/command.ts'
import { type Finding, said } from '../../messages/findings.ts'
import type { Draft, Wait } from '../../plan/draft.ts'
import { aboutWanted, type PlanContext, podNameOf, podRefOf, waitForKubelet } from '../../rules/context.ts'
import type { Facts } from '../../rules/rule.ts'
import { propose } from '../../rules/rules.ts'
import { unreadWithin } from '../../rules/unread.ts'
import { contentDifference, halfDone, volumeObstacle } from '../../volumes/atomic-content.ts'
import { causeOfUnresolved, csiPlaces, podPathOf, type VolumeToMount } from '../../volumes/desired-state.ts'
import { nodeExpansionWanted } from '../../volumes/expansion.ts'
import { notAsked } from '../../volumes/finding.ts'
import { image } from '../../volumes/host-path.ts'
import { isGateOn, kubeletVersion } from '../../volumes/kubelet-version.ts'
import { isMirrorPod } from '../../volumes/pods.ts'
import { evidenceOf, pluginNamed } from '../../volumes/registry.ts'
import type { OtherVolume } from '../../volumes/same-volume.ts'
import { expectedMount } from '../../volumes/steps.ts'
import { CSI_PLUGIN } from '../../volumes/volume-names.ts'
import { leaveWanted, operationOn } from '../identity/volume-facts.ts'
import { bringUp } from './bring-up.ts'
import { elsewhereWait, mountWait } from './mount-conditions.ts'
import { reportLabel } from './selinux.ts'

export function mountOrAttachVolumes(context: PlanContext): void {
  const volumes = context.desired.volumes.filter((volume) => context.classes.of(volume.podUid)?.class === 'Desired')
  for (const volume of volumes) mountOne(context, volume)
  for (const unresolved of context.desired.unresolved) {
    if (context.classes.of(unresolved.podUid)?.class !== 'Desired') continue
    const pod = podRefOf(context, unresolved.podUid)
    const { volume: known, code, message, args } = unresolved
    const wait = { code, message, args, because: causeOfUnresolved(unresolved) }
    context.findings.wait('MountVolume', wait, 'S4', {
      subject: context.ledger.of(unresolved),
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

function mountOne(context: PlanContext, volume: VolumeToMount): void {
  const { inputs, findings } = context
  const evidence = evidenceOf(inputs, volume)
  const mounted = evidence.state === 'mounted' ? evidence : undefined
  const forbidden = whyNotOfMirror(context, volume)
  const missing = missingPlugin(context, volume)
  const target = podPathOf(volume)
  const dead = inputs.deadError(target)
  if (forbidden !== undefined) leaveWanted(context, volume, undefined, forbidden)
  else if (missing !== undefined) findings.wait('MountVolume', missing, 'O44', operationOn(context, volume))
  else if (evidence.state === 'satisfied')
    leaveWanted(context, volume, undefined, 'the kubelet mounts nothing for this volume')
  else if (mounted && dead !== undefined) reportDead(context, volume, target, dead)
  else if (mounted?.other) reportOther(context, volume, target, mounted.other)
  else if (mounted && mounted.stateFileLost === undefined) {
    reportLabel(context, volume)
    if (pluginNamed(volume.plugin).tearDown === 'projected') remount(context, volume)
    else expand(context, volume)
  } else bringUp(context, volume, evidence)
}

/** S10; a static pod may not refer to objects of the API (N70). */
function whyNotOfMirror(
  { statics, inputs }: PlanContext,
  { pod, source, persistentVolume }: VolumeToMount,
): string | undefined {
  if (!isMirrorPod(pod)) return undefined
  if (!statics.isRead(pod)) return 'its pod is a mirror pod whose manifest was not read on this node'
  const refers =
    (persistentVolume ?? source?.secret ?? source?.configMap ?? source?.csi?.nodePublishSecretRef) != null ||
    source?.projected?.sources?.some(({ downwardAPI }) => downwardAPI == null)
  return refers && isGateOn(inputs.snapshot, 'PreventStaticPodAPIReferences')
    ? 'its pod is a static pod, which may not refer to objects of the API'
    : undefined
}

/**
 * S5, S38: the pod keeps what it has. Its driver is not asked to expand a volume that is not the one at this target, and
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
  const hint = isRecord
    ? `PersistentVolume ${specName} was created again, or its source has changed. A kubelet that starts replaces the volume under the running pod: delete the pod before; the new pod gets the right one.`
    : advice`Stop the pod: what it writes is not in its volume. Save what it has written, see ${driver === undefined ? advice`who mounted this (${commandLine('findmnt', at)})` : `the log of CSI driver ${driver}`}, and delete the pod.`
  const severity = isRecord ? 'warning' : 'error'
  context.findings.problem(
    severity,
    said('OtherVolume.mounted', {
      pod: podNameOf(context, podUid),
      name,
      specName,
      wanted: wants === undefined ? ', and not the volume' : `, but wants ${wants}`,
    }),
    aboutWanted(context, volume, at),
    hint,
  )
}

/** O21: the driver would report the volume as mounted; only a restart of the containers, or a remount, helps. */
function reportDead(context: PlanContext, volume: VolumeToMount, target: string, error: string): void {
  const running = context.witnesses.isAlive(volume.podUid)
  const at = context.inputs.absolute(target)
  const hint = `${bringBack(context.inputs.top(target), error, running ? podNameOf(context, volume.podUid) : undefined)}${running ? '' : '; the kubelet then mounts the volume again'}.`
  context.findings.problem(
    'error',
    said('DeadMount.volume', {
      path: at,
      error: deadWords(error),
      users: running ? ', and running containers use it' : '',
    }),
    aboutWanted(context, volume, at),
    hint,
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
  return said('PluginMissing', { version: kubeletVersion(snapshot.api?.node)?.text })
}

// Mounted volumes whose content or size is older than in the API (R807 and O28 as overruled by the contract; S23).

/** Adds a RemountVolume for a mounted volume whose content is shown to differ. */
function remount(context: PlanContext, volume: VolumeToMount): void {
  const { inputs } = context
  const difference = contentDifference(inputs, volume) ?? halfDone(inputs, volume)
  if (difference === undefined) {
    leaveWanted(context, volume, 'its content is the same as in the API')
    return
  }
  const path = podPathOf(volume)
  const what = {
    kind: 'RemountVolume',
    ...said('ContentDiffers', { difference }),
    steps: [{ op: 'writeContent', target: inputs.absolute(`${path}/..data`) }],
    rule: 'S23',
  } as const
  refresh(context, volume, path, what, {
    unread: unreadWithin(inputs, path),
    // The missing flag comes first: without it, no other obstacle matters to an apply.
    setUp: () => (context.options.remount ? volumeObstacle(volume, inputs.snapshot) : notAsked('--remount')),
  })
}

/** Adds an ExpandVolume for a mounted volume that has grown. */
function expand(context: PlanContext, volume: VolumeToMount): void {
  const growth = nodeExpansionWanted(volume)
  if (growth === undefined) {
    leaveWanted(context, volume, 'as it should be')
    return
  }
  const [op, path] =
    volume.plugin === CSI_PLUGIN
      ? (['NodeExpandVolume', csiPlaces(volume).target] as const)
      : (['growFileSystem', podPathOf(volume)] as const)
  const what = {
    kind: 'ExpandVolume',
    ...said('CapacityGrew', { name: volume.specName, to: growth.to, from: growth.from }),
    steps: [{ op, target: context.inputs.absolute(path) }],
    rule: 'R455',
  } as const
  refresh(context, volume, path, what, { setUp: () => (context.options.expand ? undefined : notAsked('--expand')) })
}

/** @param path where it is mounted */
function refresh(
  context: PlanContext,
  volume: VolumeToMount,
  path: string,
  what: Pick<Draft, 'kind' | 'steps' | 'rule'> & Finding<Reason>,
  facts: Facts,
): void {
  const about = operationOn(context, volume)
  // A driver is called only for a volume that may be mounted here now (S22, S30).
  const wait =
    volume.plugin === CSI_PLUGIN
      ? mountWait(context, volume)
      : (elsewhereWait(context, volume) ?? waitForKubelet(context))
  if (wait !== undefined) {
    context.findings.wait(what.kind, wait, what.rule, about)
    return
  }
  const expects = [expectedMount(context.inputs.absolute(path), context.inputs.at(path))]
  propose(context, { ...what, ...about, expects }, facts)
}
