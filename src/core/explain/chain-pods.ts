/** The links of a volume that are the pods': what is set up in their directories, and the sub-paths of their containers. */

import type { PodVolume, SubPaths } from '../actual/pod-volume.ts'
import type { Mapped, VolumeRow } from '../ledger/row.ts'
import { deadWords } from '../mountinfo/dead-words.ts'
import { pluginNamed } from '../plugins/registry.ts'
import { type PlanContext, podRefOf } from '../reconcile/context/context.ts'
import { layersAt, mountSays } from './chain-devices.ts'
import type { Link } from './explanation.ts'

/** @param only UIDs of pods; empty: of all */
export function podLinks(context: PlanContext, volume: VolumeRow, only: readonly string[]): Link[] {
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
    const evidence = pluginNamed(volume.plugin).evidence(inputs, volume)
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
    const evidence = pluginNamed(own.plugin).evidence(inputs, own)
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
