/** One volume as an answer shows it: who wants it, what is there of it, what becomes of it. */

import { omitUndefined } from '../base/omit-undefined.ts'
import type { ActualInputs } from '../facts/actual/actual-inputs.ts'
import type { PodVolume, SubPaths } from '../facts/actual/pod-volumes.ts'
import { CSI_PLUGIN } from '../facts/actual/volume-names.ts'
import type { Mapped, VolumeRow } from '../facts/row.ts'
import { deadWords } from '../linux/mount-words.ts'
import type { Plan, PodRef, VolumeRef } from '../plan/plan.ts'
import { podName } from '../plan/pod-name.ts'
import { areOfOneRow, podOf } from '../plan/subject.ts'
import { type PlanContext, podRefOf } from '../reconcile/context/context.ts'
import type { Decision } from '../reconcile/decisions.ts'
import { describeCsiVolume, describeDevice, describePersistentVolume } from '../reconcile/identity/volume-facts.ts'
import { describeWanted } from '../reconcile/mount-volumes/wanted.ts'
import { placesUnseen } from '../reconcile/pods/pod-classes.ts'
import { evidenceOf, pluginNamed } from '../volumes/registry.ts'
import { deviceLinks, layersAt, mountSays, type Needs } from './chain-devices.ts'
import { apiLinks } from './chain-objects.ts'
import { type Concern, concernOf } from './concern.ts'
import type { AttachmentView, Link, VolumeView } from './explanation.ts'
import { placesOf } from './places.ts'
import { type Because, deadVerdict, doubtVerdict, nothingVerdict, verdictOf } from './verdict.ts'

export interface DescribedVolume {
  readonly view: VolumeView
  /** Why nothing is to be done to it, where that is so. */
  readonly because: Because
}

/** @param only UIDs of pods: what others do with it is not said; empty: of all */
export function describeVolume(
  context: PlanContext,
  { plan, decisions }: { readonly plan: Plan; readonly decisions: readonly Decision[] },
  volume: VolumeRow,
  only: readonly string[],
): DescribedVolume {
  const scope = { pods: [], only, volumes: [volume], paths: [] }
  const concern = concernOf(plan, scope, { ledger: context.ledger, decisions })
  const attachment = attachmentView(volume)
  const because = becauseOf(context, volume, concern)
  const places = placesOf(context, volume)
  const view: VolumeView = {
    volume: refOf(context, volume, concern),
    wantedBy: [
      ...volume.wanted.map(({ podUid, podVolumeNames, readOnly }) => ({
        pod: podRefOf(context, podUid),
        as: podVolumeNames,
        readOnly,
      })),
      ...volume.unresolved.map(({ podUid, podVolumeName }) => ({
        pod: podRefOf(context, podUid),
        as: [podVolumeName],
        readOnly: false,
      })),
    ],
    hadBy: havingPods(context, volume),
    desired: desiredText(context, volume),
    chain: chainOf(context, volume, only),
    places,
    ...omitUndefined({ attachment }),
    verdict: verdictOf(concern, plan.summary.causes ?? [], {
      dead: deadVerdict(places),
      doubt: doubtVerdict(concern.decisions),
      nothing: nothingVerdict(because),
    }),
  }
  return { view, because }
}

function havingPods(context: PlanContext, volume: VolumeRow): PodRef[] {
  const wanting = new Set(volume.wanted.map(({ podUid }) => podUid))
  return [...volume.havingUids].filter((uid) => !wanting.has(uid)).map((uid) => podRefOf(context, uid))
}

/** As the plan has it, where it has an operation on it: with what only the operation knows of it. */
function refOf(context: PlanContext, volume: VolumeRow, { operations, waiting }: Concern): VolumeRef {
  const planned = [...operations, ...waiting].find(
    (each) => each.volume?.uniqueName !== undefined && areOfOneRow(each.subject, { row: volume.key }),
  )
  const {
    wanted: [wanted],
    ended: [ended],
    unresolved: [unresolved],
    identity,
    uniqueName,
    persistentVolume,
  } = volume
  const own = wanted ?? ended
  const ref = own === undefined ? undefined : describeWanted(context, own)
  const device = volume.mounts.at(-1)
  const known = ref ?? planned?.volume
  if (known !== undefined) return { ...planned?.volume, ...known, ...describeDevice(device) }
  const name = nameOf(volume)
  if (identity !== undefined) {
    const mode = volume.maps.length > 0 || persistentVolume?.spec.volumeMode === 'Block' ? 'Block' : 'Filesystem'
    return describeCsiVolume(context, { name, mode, identity, uniqueName, device })
  }
  return {
    name,
    ...omitUndefined({ podVolumeName: unresolved?.podVolumeName, uniqueName }),
    plugin: pluginOf(volume),
    mode: volume.maps.length > 0 ? 'Block' : 'Filesystem',
    ...describePersistentVolume(persistentVolume),
    ...describeDevice(device),
  }
}

/** The spec name, or what comes closest. */
export function nameOf({
  onDisk,
  globals,
  maps,
  leaked,
  staged,
  unresolved,
  persistentVolume,
  identity,
  attachment,
  uniqueName,
}: VolumeRow): string {
  return (
    onDisk[0]?.name ??
    maps[0]?.block.name ??
    globals[0]?.name ??
    leaked[0]?.subPaths.volumeName ??
    persistentVolume?.metadata.name ??
    unresolved[0]?.persistentVolumeName ??
    unresolved[0]?.podVolumeName ??
    identity?.handle ??
    staged[0]?.key ??
    attachment?.spec.source.persistentVolumeName ??
    attachment?.metadata.name ??
    uniqueName ??
    'unknown'
  )
}

export function pluginOf({ onDisk, globals, maps, staged, attachment }: VolumeRow): string {
  if (staged.length > 0 || attachment !== undefined) return CSI_PLUGIN
  return onDisk[0]?.plugin ?? globals[0]?.plugin ?? maps[0]?.block.plugin ?? 'unknown'
}

/** This node's. */
export function attachmentView({ attachment }: VolumeRow): AttachmentView | undefined {
  if (attachment === undefined) return undefined
  const { metadata, status } = attachment
  const error = status?.detachError?.message ?? status?.attachError?.message
  return {
    name: metadata.name,
    attached: status?.attached === true,
    deleting: metadata.deletionTimestamp !== undefined,
    ...omitUndefined({ error }),
  }
}

function desiredText(context: PlanContext, volume: VolumeRow): string {
  const { wanted, ended, unresolved } = volume
  if (wanted.length > 0) return `wanted by ${podsText(wanted.map(({ podUid }) => podRefOf(context, podUid)))}`
  const [missing] = unresolved
  if (missing !== undefined)
    return `wanted by ${podsText([podRefOf(context, missing.podUid)])}, but not resolved: ${missing.message}`
  const having = havingPods(context, volume)
  if (ended.length > 0) return `not wanted: ${podsText(ended.map(({ podUid }) => podRefOf(context, podUid)))} has ended`
  if (having.length === 0) return 'not wanted by any pod on this node'
  const [first] = having
  const found = first === undefined ? undefined : context.classes.of(first.uid)
  const which = found?.pod === undefined ? 'was deleted from the API' : 'does not want the volume, or has ended'
  return `not wanted: left over from ${podsText(having)}, which ${which}`
}

function podsText(pods: readonly PodRef[]): string {
  return pods.map((pod) => `pod ${podName(pod)}`).join(', ')
}

/** The planner's word on the volume itself: on a target that is wanted before the device behind it. */
function becauseOf(context: PlanContext, volume: VolumeRow, { decisions }: Concern): Because {
  const wanted = new Set(volume.wanted.map(({ podUid }) => podUid))
  const own = decisions.filter(({ subject }) => wanted.has(podOf(subject) ?? ''))
  const best = own.find(({ satisfied }) => satisfied !== undefined) ?? own[0] ?? decisions[0]
  if (best?.satisfied !== undefined)
    return { ...best, why: `the volume is ${desiredText(context, volume)}, and ${best.satisfied}` }
  if (best !== undefined) return best
  if (volume.wanted.length > 0) return { why: 'volctl leaves the pod of this volume alone' }
  return { why: NOTHING_HERE }
}

export const NOTHING_HERE = 'no pod on this node wants the volume, and nothing of the volume is mounted or on disk here'

/**
 * The chain of a volume, link by link: claim, PersistentVolume, VolumeAttachment, staged mount or block map, the pods' mounts, their
 * sub-paths. A link is good where it is as the pods of this node need it, bad where it is broken, missing or left over.
 *
 * @param only UIDs of pods: what others have of it is left out; empty: of all
 */
function chainOf(context: PlanContext, volume: VolumeRow, only: readonly string[]): Link[] {
  const { wanted, unresolved, havingUids } = volume
  // A pod that runs, or may, has it, whether or not its spec is known.
  const isHeld = [...havingUids].some((uid) => context.classes.of(uid)?.class === 'Frozen')
  const needs: Needs = { wanted, isNeeded: isHeld || wanted.length + unresolved.length > 0 }
  const onNode = [...deviceLinks(context, volume, needs), ...podLinks(context, volume, only)]
  return [...apiLinks(context, volume, needs), ...onNode.map((link) => asFarAsSeen(context.inputs, link))]
}

/** What was not read may be there after all; a probe's answer stands. */
function asFarAsSeen(inputs: ActualInputs, link: Link): Link {
  const unseen = placesUnseen(inputs)
  if (unseen === undefined || link.state === 'good') return link
  return inputs.deadError(inputs.relative(link.name)) === undefined ? { ...link, state: 'unknown', says: unseen } : link
}

/** @param only UIDs of pods; empty: of all */
function podLinks(context: PlanContext, volume: VolumeRow, only: readonly string[]): Link[] {
  return [...volume.podUids]
    .filter((uid) => only.length === 0 || only.includes(uid))
    .flatMap((uid) => [...mountLinks(context, volume, uid), ...subPathLinks(context, volume, uid)])
}

type Judged = Pick<Link, 'name' | 'state' | 'says'>

function mountLinks(context: PlanContext, volume: VolumeRow, uid: string): Link[] {
  const pod = podRefOf(context, uid)
  const found = [
    ...volume.onDisk.filter(({ podUid }) => podUid === uid).map((each) => onDisk(context, volume, each)),
    ...volume.maps.flatMap((map) => mapped(context, volume, map, uid)),
  ]
  const judged = found.length > 0 ? found : missing(context, volume, uid)
  return judged.map((each) => ({ kind: 'PodMount', ...each, pod }))
}

function onDisk(context: PlanContext, volume: VolumeRow, { podUid, target }: PodVolume): Judged {
  const { inputs } = context
  const name = inputs.absolute(target)
  const dead = inputs.deadError(target)
  if (dead !== undefined) return { name, state: 'bad', says: `dead: ${deadWords(dead)}` }
  const lacking = lackingOf(context, volume, podUid)
  if (lacking !== undefined) return { name, state: 'bad', says: lacking }
  const layers = layersAt(inputs, target)
  const top = layers.at(-1)
  return judged(context, volume, podUid, name, top === undefined ? 'on disk' : mountSays(top, layers))
}

function mapped(context: PlanContext, volume: VolumeRow, { mappings }: Mapped, uid: string): Judged[] {
  const own = mappings.find(({ podUid }) => podUid === uid)
  const path = own?.symlink ?? own?.publishPath ?? own?.mapFile
  if (path === undefined) return []
  const lacking = lackingOf(context, volume, uid)
  const name = context.inputs.absolute(path)
  return [lacking === undefined ? judged(context, volume, uid, name, 'mapped') : { name, state: 'bad', says: lacking }]
}

/** By the pod: of one that has ended or was deleted it is left over. */
function judged(context: PlanContext, volume: VolumeRow, uid: string, name: string, what: string): Judged {
  const wants = [...volume.wanted, ...volume.unresolved].some(({ podUid }) => podUid === uid)
  const found = context.classes.of(uid)
  if (wants) return { name, state: 'good', says: what }
  if (found?.class === 'Frozen') return { name, state: 'good', says: `${what}; the pod runs, or may` }
  if (found?.class === 'Desired') return { name, state: 'unknown', says: `${what}; not in the pod's spec` }
  const whose = found?.class === 'Finished' ? 'a pod that has ended' : 'a deleted pod'
  return { name, state: 'bad', says: `left over from ${whose}; ${what}` }
}

/** What the pod wants and does not have, by the plugin's own evidence; undefined: it has all, or does not want it. */
function lackingOf({ inputs }: PlanContext, { wanted }: VolumeRow, uid: string): string | undefined {
  for (const volume of wanted.filter(({ podUid }) => podUid === uid)) {
    const evidence = evidenceOf(inputs, volume)
    if (evidence.state === 'notMounted') return evidence.why
    if (evidence.state === 'satisfied') continue
    const { other, stateFileLost } = evidence
    if (other !== undefined) return `${other.name} is mounted there instead`
    if (stateFileLost !== undefined) return `mounted, and ${inputs.absolute(stateFileLost)} is lost or unusable`
  }
  return undefined
}

function missing({ inputs }: PlanContext, { wanted, unresolved, leaked }: VolumeRow, uid: string): Judged[] {
  const own = wanted.find(({ podUid }) => podUid === uid)
  if (own !== undefined) {
    const evidence = evidenceOf(inputs, own)
    const name = inputs.absolute(pluginNamed(own.plugin).podPath(own))
    return evidence.state === 'notMounted'
      ? [{ name, state: 'bad', says: evidence.why }]
      : [{ name, state: 'good', says: 'as it should be' }]
  }
  const asked = unresolved.find(({ podUid }) => podUid === uid)
  if (asked === undefined) {
    const isLeaked = leaked.some(({ podUid }) => podUid === uid)
    return isLeaked
      ? [{ name: inputs.absolute(`pods/${uid}/volumes`), state: 'absent', says: 'not there any more' }]
      : []
  }
  const name = inputs.absolute(`pods/${uid}`)
  return [{ name, state: asked.cause === 'Unknown' ? 'unknown' : 'bad', says: `not set up: ${asked.message}` }]
}

function subPathLinks(context: PlanContext, volume: VolumeRow, uid: string): Link[] {
  const own = volume.onDisk.flatMap(({ podUid, subPaths }) => (podUid === uid && subPaths ? [subPaths] : []))
  const leaked = volume.leaked.flatMap(({ podUid, subPaths }) => (podUid === uid ? [subPaths] : []))
  return [...own, ...leaked].flatMap((subPaths) => leafLinks(context, uid, subPaths))
}

function leafLinks(context: PlanContext, uid: string, { leaves }: SubPaths): Link[] {
  const { inputs, classes } = context
  const pod = podRefOf(context, uid)
  const isLeft = ['Gone', 'Finished'].includes(classes.of(uid)?.class ?? 'Gone')
  return leaves.flatMap(({ path }): Link[] => {
    const layers = layersAt(inputs, path)
    const top = layers.at(-1)
    if (top === undefined) return []
    const dead = inputs.deadError(path)
    const says = dead === undefined ? mountSays(top, layers) : `dead: ${deadWords(dead)}`
    const state = dead !== undefined || isLeft ? 'bad' : 'good'
    return [{ kind: 'SubPath', name: inputs.absolute(path), state, says: isLeft ? `left over; ${says}` : says, pod }]
  })
}
