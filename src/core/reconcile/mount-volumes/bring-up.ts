/** The operation that sets up a wanted volume, or what it waits for (R418, R430, R829; O31). */

import { present } from '../../base/text.ts'
import { alsoShowing } from '../../linux/location.ts'
import { isByKubelet, type Reason } from '../../messages/codes.ts'
import { type Finding, said } from '../../messages/findings.ts'
import type { Draft } from '../../plan/draft.ts'
import { SETTING_UP } from '../../plan/kinds.ts'
import { aboutWanted, type PlanContext } from '../../rules/context.ts'
import { propose } from '../../rules/rules.ts'
import { unreadObstacle } from '../../rules/unread.ts'
import { isSameVolume } from '../../volumes/api-objects.ts'
import { podPathOf, VOLUME_DATA, type VolumeToMount } from '../../volumes/desired-state.ts'
import type { PodRef } from '../../volumes/finding.ts'
import { isForOnePod } from '../../volumes/node-affinity.ts'
import type { MountEvidence, SetUp } from '../../volumes/plugin.ts'
import { allContainers, podName } from '../../volumes/pods.ts'
import { mountsOver, pluginNamed } from '../../volumes/registry.ts'
import type { StepOp } from '../../volumes/steps.ts'
import { expectedMount } from '../../volumes/steps.ts'
import { csiGlobalDir } from '../../volumes/volume-names.ts'
import { isNamed } from '../filter-operations.ts'
import { operationOn } from '../identity/volume-facts.ts'
import { isNoBlock, mountObstacle, mountWait, setUpWait } from './mount-conditions.ts'
import { labelObstacle, setUpContext } from './selinux.ts'

/** Of a volume that is wanted and not set up, or whose record is lost. */
export function bringUp(context: PlanContext, volume: VolumeToMount, evidence: MountEvidence): void {
  const { findings } = context
  const { uniqueName, persistentVolume, deviceMountable, specName, plugin } = volume
  const kind = volume.mode === 'Block' ? 'MapVolume' : 'MountVolume'
  const about = operationOn(context, volume)
  const isSaid = reportRunning(context, volume, evidence, about.pod)
  const wait = mountWait(context, volume) ?? setUpWait(context, volume)
  const isKubelets = wait !== undefined && isByKubelet(wait.code)
  if (isKubelets && isSaid) return
  if (wait !== undefined && !isKubelets) {
    findings.wait(kind, wait, 'S22', about)
    return
  }
  // Of this plan, neither blocked nor left out by --pod and --volume.
  const isMounted = (draft: Draft): boolean =>
    SETTING_UP.has(draft.kind) && draft.blocked === undefined && isNamed(context, draft)
  const onVolume = findings.ofVolume(uniqueName)
  // R418, R829: two pods may not share it; if driver and handle are lost, by its directory's name.
  const shared = isForOnePod(persistentVolume)
    ? [...onVolume, ...findings.leakedOf(specName), ...findings.unnamed(plugin, specName)]
    : []
  const rival = shared.find(isMounted)
  if (rival !== undefined) {
    findings.wait(kind, said('AccessMode.otherPodFirst', { specName, uid: rival.pod?.uid }), 'R430', about)
    return
  }
  // The operation that stages the volume, which the other pods' operations leave to it.
  const first = deviceMountable ? onVolume.find(isMounted) : undefined
  const { steps, expects, facts } = setUp(context, volume, first === undefined)
  const operation = {
    kind,
    ...whyMounted(context, volume, evidence, about.pod),
    ...about,
    steps,
    after: [...new Set(present(first, ...shared.filter((each) => !SETTING_UP.has(each.kind))))],
    rule: 'R430',
    expects,
  } as const
  propose(context, operation, facts, wait, 'S22')
}

/**
 * S38: a container that runs without its volume writes to the node's disk, and no kubelet mends that. A pod that began while this node
 * was looked at is left out, by the time that the kubelet took it up.
 */
function reportRunning(context: PlanContext, volume: VolumeToMount, evidence: MountEvidence, pod: PodRef): boolean {
  const { inputs, now } = context
  const { podUid, podVolumeNames, specName, pod: object } = volume
  const { tearDown } = pluginNamed(volume.plugin)
  const target = podPathOf(volume)
  const isNew = Date.parse(object.status?.startTime ?? '') > now - 10_000
  if (evidence.state === 'mounted' || isNew || !mountsOver(volume) || tearDown === 'projected') return false
  // What another mount hides is still mounted.
  if (inputs.at(target).length > 0 || !inputs.tree.isDir(target)) return false
  const own = inputs.snapshot.runtime?.pods.filter(({ uid }) => uid === podUid).flatMap(({ containers }) => containers)
  const running = new Set(own?.flatMap(({ name, state }) => (state === 'CONTAINER_RUNNING' ? name : [])))
  const first = allContainers(object).find(
    ({ name, volumeMounts }) => running.has(name) && volumeMounts?.some((each) => podVolumeNames.includes(each.name)),
  )
  if (first === undefined) return false
  const path = inputs.absolute(target)
  context.findings.problem(
    'error',
    said('RunsWithoutVolume', { name: first.name, pod: podName(pod), path, specName }),
    aboutWanted(context, volume, path),
  )
  return true
}

/** @param isFirst whether no earlier operation of this plan stages the volume */
function setUp(context: PlanContext, volume: VolumeToMount, isFirst: boolean) {
  const { inputs } = context
  const plugin = pluginNamed(volume.plugin)
  const target = podPathOf(volume)
  const withStage = volume.deviceMountable && isFirst && !isStaged(context, volume)
  const given: SetUp =
    typeof plugin.setUp === 'function' && !isNoBlock(volume)
      ? plugin.setUp(setUpContext(context, volume), volume, withStage)
      : { steps: [] }
  const { steps, expects = [], blocked } = given
  // Nothing may get mounted meanwhile (S26). A device's global mount may be another pod's as well: the step itself compares it
  // with the device.
  const mounting = steps.flatMap(({ op, target }) =>
    MOUNTING.has(op) ? expectedMount(target, inputs.mounts.at(target)) : [],
  )
  return {
    steps,
    expects: [...expects, ...mounting],
    facts: {
      wanted: volume,
      unread: unreadObstacle(inputs, [target, ...steps.map((step) => inputs.relative(step.target))]),
      setUp: () => mountObstacle(context, volume) ?? blocked ?? labelObstacle(context, volume),
    },
  }
}

function whyMounted(
  { inputs, witnesses }: PlanContext,
  volume: VolumeToMount,
  evidence: MountEvidence,
  pod: PodRef,
): Pick<Draft, 'podState'> & Finding<Reason> {
  const lost = evidence.state === 'mounted' ? evidence.stateFileLost : undefined
  if (lost !== undefined) return said('StateFileMissing', { path: inputs.absolute(lost) })
  const why = evidence.state === 'notMounted' ? evidence.why : 'the volume is not mounted'
  const runs = witnesses.isAlive(volume.podUid)
  const name = `${pod.namespace ?? ''}/${pod.name ?? pod.uid}`
  const args = { pod: name, volumes: volume.podVolumeNames.join(', '), why }
  return {
    ...said(runs ? 'NotMounted.running' : 'NotMounted.pod', args),
    podState: `lacks volumes that it wants${runs ? '; its running containers see them only after a restart' : ''}`,
  }
}

const MOUNTING: ReadonlySet<StepOp> = new Set(['mount', 'mapDevice', 'NodePublishVolume'])

/**
 * Whether a CSI volume is shown to be staged, so that one more pod only needs NodePublishVolume (C20, C120).
 * A mount and a state file alone prove nothing: an interrupted call may have mounted, and done no more. A pod's mount was
 * published from a volume that was fully staged. In doubt the volume is staged again, which changes nothing.
 */
function isStaged({ inputs, blocks }: PlanContext, volume: VolumeToMount): boolean {
  const { driver, handle, mode, plugin, specName } = volume
  if (driver === undefined || handle === undefined) return false
  if (mode === 'Block') {
    const block = blocks.find((each) => each.plugin === plugin && each.name === specName)
    const record = block?.stateFile?.data
    if (record !== undefined && !isSameVolume(record, volume)) return false
    return block?.mappings.some((mapping) => mapping.publishLayers.length > 0) ?? false
  }
  const directory = csiGlobalDir(driver, handle)
  const staged = inputs.top(`${directory}/globalmount`)
  if (inputs.tree.stateFile(`${directory}/${VOLUME_DATA}`)?.data === undefined) return false
  const shown = staged === undefined ? [] : alsoShowing(inputs.mounts, staged)
  return shown.some((mount) => inputs.pathOf(mount).startsWith('pods/'))
}
