/** Step 2 of the pass: what living pods want and do not have (R410, S22; O3, O21, O26, O31). */

import { isForOnePod } from '../../desired/access-modes.ts'
import type { VolumeToMount } from '../../desired/desired-state.ts'
import { isMirrorPod } from '../../desired/pods.ts'
import { type Draft, expectedMount, type Findings, type Obstacle, type Wait } from '../../plan/draft.ts'
import type { Step } from '../../plan/plan.ts'
import { notMounted } from '../../plugins/evidence.ts'
import type { SetUp } from '../../plugins/plugin.ts'
import { pluginNamed } from '../../plugins/registry.ts'
import { type PlanContext, podRefOf } from '../context/context.ts'
import { isNamed } from '../context/filter-operations.ts'
import { unreadObstacle } from '../context/unread.ts'
import { predecessorObstacle } from '../obstacles/device-obstacles.ts'
import { isStaged } from './csi-staged.ts'
import { mountObstacle, mountWait, reportMultiAttach } from './mount-conditions.ts'
import { refreshVolume } from './refresh-volumes.ts'
import { labelObstacle, reportLabel, setUpContext } from './selinux.ts'
import { describeWanted, leaveWanted } from './wanted.ts'

export function mountOrAttachVolumes(context: PlanContext, findings: Findings): void {
  const turns: Turns = { mounts: new Set(), stages: new Map() }
  const volumes = context.desired.volumes.filter((volume) => context.classes.of(volume.podUid)?.class === 'Desired')
  for (const volume of volumes) mountOne(context, findings, volume, turns)
  for (const unresolved of context.desired.unresolved) {
    if (context.classes.of(unresolved.podUid)?.class !== 'Desired') continue
    const pod = podRefOf(context, unresolved.podUid)
    const { mayBe, cause, message } = unresolved
    const known = mayBe.of === 'itself' ? mayBe.volume : undefined
    findings.wait('MountVolume', { code: WAITING_FOR[cause], message }, 'S4', {
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

const WAITING_FOR = {
  Absent: 'ClaimMissing',
  Unbound: 'ClaimUnbound',
  Unusable: 'VolumeUnresolved',
  Unknown: 'VolumeUnresolved',
} as const

function mountOne(context: PlanContext, findings: Findings, volume: VolumeToMount, turns: Turns): void {
  const { inputs } = context
  if (isMirrorPod(volume.pod) && !context.statics.isRead(volume.pod)) {
    leaveWanted(context, findings, volume, 'its pod is a mirror pod whose manifest was not read on this node (S10)')
    return
  }
  const plugin = pluginNamed(volume.plugin)
  const device = volume.mode === 'Block' && !plugin.block ? blockUnsupported(volume) : undefined
  const evidence = device === undefined ? plugin.evidence(inputs, volume) : notMounted('no container gets it')
  const target = plugin.podPath(volume)
  if (evidence.state === 'satisfied') {
    leaveWanted(context, findings, volume, 'the kubelet mounts nothing for it')
    return
  }
  const dead = inputs.deadError(target)
  if (evidence.state === 'mounted' && dead !== undefined) {
    reportDead(context, findings, volume, target, dead)
    return
  }
  if (evidence.state === 'mounted' && evidence.stateFileLost === undefined) {
    reportLabel(context, findings, volume)
    refreshVolume(context, findings, volume)
    return
  }

  const pod = podRefOf(context, volume.podUid)
  const kind = volume.mode === 'Block' ? 'MapVolume' : 'MountVolume'
  const ref = describeWanted(context, volume)
  const wait = mountWait(context, volume)
  if (wait !== undefined) {
    findings.wait(kind, wait, 'S22', { pod, volume: ref })
    reportMultiAttach(context, findings, volume)
    return
  }
  const earlier = isForOnePod(volume.persistentVolume) ? operationsOn(findings, volume) : []
  const rival = earlier.find((draft) => turns.mounts.has(draft))
  if (rival !== undefined) {
    findings.wait(kind, waitForRival(volume, rival), 'R430', { pod, volume: ref })
    return
  }
  const first = turns.stages.get(volume.uniqueName)
  const withStage = volume.deviceMountable && first === undefined && !isStaged(context, volume)
  const {
    steps,
    expects = [],
    blocked: missing,
  }: SetUp = device === undefined
    ? plugin.setUp(setUpContext(context, volume), volume, withStage)
    : { steps: [], blocked: device }
  const predecessors = earlier.filter((draft) => !MOUNTS.has(draft.kind))
  const lost = evidence.state === 'mounted' ? evidence.stateFileLost : undefined
  const blocked =
    unreadObstacle(inputs, [target, ...steps.map((step) => inputs.relative(step.target))]) ??
    mountObstacle(context, volume, target) ??
    missing ??
    labelObstacle(context, volume) ??
    predecessorObstacle(predecessors)
  const draft: Draft = {
    kind,
    reason: lost === undefined ? 'NotMounted' : 'StateFileMissing',
    message:
      lost === undefined
        ? `pod ${pod.namespace ?? ''}/${pod.name ?? pod.uid} wants ${volume.podVolumeNames.join(', ')}, and ${evidence.state === 'notMounted' ? evidence.why : 'it is not mounted'}${context.witnesses.isAlive(volume.podUid) ? '; containers that run see it only after a restart' : ''}`
        : `${inputs.absolute(lost)} is lost; the volume is published again to write it`,
    pod,
    volume: ref,
    steps,
    paths: [...new Set(steps.map((step) => step.target))],
    after: [...(first === undefined ? [] : [first]), ...predecessors],
    rule: 'R430',
    expects: [...expects, ...mountPointsOf(steps).map((path) => expectedMount(path, inputs.mounts.at(path)))],
    removes: new Set(),
    ...(blocked === undefined ? {} : { blocked }),
  }
  takeTurn(turns, volume, findings.add(draft), willRun(context, draft))
}

/** The kubelet finds no mapper for it, and tries for ever (R010). */
function blockUnsupported({ specName, plugin }: VolumeToMount): Obstacle {
  return {
    code: 'BlockUnsupported',
    message: `PersistentVolume ${specName} has volumeMode Block, and ${plugin} gives no devices`,
    hint: 'Make the PersistentVolume and its claim anew, with volumeMode Filesystem.',
  }
}

const MOUNTS: ReadonlySet<Draft['kind']> = new Set(['MountVolume', 'MapVolume'])

/** R418d, R829: on a volume that two pods may not share; where driver and handle are lost, by its directory's name. */
function operationsOn(findings: Findings, { plugin, uniqueName, specName }: VolumeToMount): readonly Draft[] {
  const unnamed = findings.operations.filter(
    ({ volume }) => volume?.uniqueName === undefined && volume?.plugin === plugin && volume.name === specName,
  )
  return [...new Set([...findings.ofVolume(uniqueName), ...findings.leakedOf(specName), ...unnamed])]
}

/**
 * Which operation is the first on a volume. What holds it from outside its phase does not count: once that is over, it
 * comes first all the same.
 */
interface Turns {
  readonly mounts: Set<Draft>
  /** By unique name: the one that stages the volume; the other pods' operations leave that to it. */
  readonly stages: Map<string, Draft>
}

function takeTurn(
  { mounts, stages }: Turns,
  { deviceMountable, uniqueName }: VolumeToMount,
  draft: Draft,
  runs: boolean,
) {
  if (!runs) return
  mounts.add(draft)
  if (deviceMountable && !stages.has(uniqueName)) stages.set(uniqueName, draft)
}

/** Neither blocked nor left out by --pod and --volume. */
function willRun({ options }: PlanContext, draft: Draft): boolean {
  return draft.blocked === undefined && isNamed(draft, options)
}

function waitForRival({ specName }: VolumeToMount, { pod }: Draft): Wait {
  return {
    code: 'AccessMode',
    message: `${specName} is ReadWriteOncePod, and pod ${pod?.uid} gets it first`,
    hint: 'Only one of them can have it: delete the other pod.',
  }
}

/**
 * Where nothing may come to be mounted meanwhile (S26). A device's global mount is another pod's as well: the step itself
 * compares it with the device.
 */
function mountPointsOf(steps: readonly Step[]): string[] {
  return steps.flatMap(({ op, target }) => (op === 'mount' || op === 'NodePublishVolume' ? [target] : []))
}

/** O21: the driver would say that it is mounted; only a restart of the containers, or a remount, helps. */
function reportDead(
  context: PlanContext,
  findings: Findings,
  volume: VolumeToMount,
  target: string,
  error: string,
): void {
  const pod = podRefOf(context, volume.podUid)
  const running = context.witnesses.isAlive(volume.podUid)
  findings.problem(
    'error',
    'DeadMount',
    `${context.inputs.absolute(target)} does not answer (${error})${running ? ', and containers run on it' : ''}`,
    { pod: volume.podUid, volume: volume.specName, path: context.inputs.absolute(target) },
    running
      ? `Restart what serves the file system, then the containers of pod ${pod.namespace ?? ''}/${pod.name ?? pod.uid}.`
      : 'Restart what serves the file system; the kubelet mounts it again.',
  )
}
