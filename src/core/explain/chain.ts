/**
 * The chain of a volume, link by link: claim, PersistentVolume, VolumeAttachment, staged mount or block map, the pods' mounts, their
 * sub-paths. A link is good where it is as the pods of this node need it, bad where it is broken, missing or left over.
 */

import type { VolumeRow } from '../facts/row.ts'
import { fileSystemText } from '../linux/location.ts'
import { deadWords } from '../linux/mount-table.ts'
import { withoutCopies } from '../linux/propagation.ts'
import type { PlanContext } from '../rules/context.ts'
import { isLiving, placesUnseen } from '../rules/pods/pod-classes.ts'
import { podPathOf, type VolumeToMount } from '../volumes/desired-state.ts'
import type { ActualInputs } from '../volumes/on-disk/actual-inputs.ts'
import { evidenceOf, globalPathOf } from '../volumes/registry.ts'
import { otherStaged } from '../volumes/same-volume.ts'
import { CSI_PLUGIN } from '../volumes/volume-names.ts'
import { absent, apiLinks, bad, good, type Judged, unknown } from './chain-objects.ts'
import type { Link } from './explanation.ts'
import { mountPathsOf, partOf, podParts, type VolumePart } from './volume-part.ts'

/** @param only UIDs of pods: what others have of it is left out; empty: of all */
export function chainOf(context: PlanContext, volume: VolumeRow, only: readonly string[]): Link[] {
  const { wanted, unresolved, havingUids } = volume
  // A pod that runs, or may, has it, whether or not its spec is known.
  const isHeld = [...havingUids].some((uid) => context.classes.of(uid)?.class === 'Frozen')
  const isNeeded = isHeld || wanted.length + unresolved.length > 0
  const parts = podParts(context, volume, only)
  const onNode = [
    ...deviceLinks(context, volume, isNeeded),
    ...parts.flatMap((part) => [...mountLinks(context.inputs, part), ...subPathLinks(context.inputs, part)]),
  ]
  const { inputs } = context
  // What was not read may be there after all; a probe's answer stands.
  const unseen = placesUnseen(inputs)
  const asFarAsSeen = onNode.map((link) =>
    unseen === undefined || link.state === 'good' || inputs.deadError(inputs.relative(link.name)) !== undefined
      ? link
      : { ...link, ...unknown(unseen) },
  )
  return [...apiLinks(context, volume, isNeeded), ...asFarAsSeen]
}

/** What is mounted on a path, in a few words; a copy that a bind mount over itself has made is no separate layer (O35). */
function seenAt(inputs: ActualInputs, path: string) {
  const dead = inputs.deadError(path)
  if (dead !== undefined) return { isDead: true, says: `dead: ${deadWords(dead)}` }
  const layers = withoutCopies(inputs.mounts, inputs.absolute(path))
  const top = layers.at(-1)
  if (top === undefined) return undefined
  const several = layers.length > 1 ? `${layers.length} layers, the newest ` : ''
  const how = top.options.includes('ro') ? ', read-only' : ''
  return { isDead: false, says: `${several}${fileSystemText(top)}${how}` }
}

// The links that are the node's own: the staged or global mount, or the map of the device.

function deviceLinks({ inputs }: PlanContext, volume: VolumeRow, isNeeded: boolean): Link[] {
  const { wanted, maps } = volume
  const isHad = wanted.length > 0 && wanted.every((each) => evidenceOf(inputs, each).state === 'mounted')
  const had = (what: string): Judged => (isNeeded ? good(what) : bad(`left over; ${what}`))
  const judgeMount = (path: string): Judged => {
    const seen = seenAt(inputs, path)
    if (seen?.isDead) return bad(seen.says)
    const other = otherStaged(inputs, path)
    if (other !== undefined) return bad(`${other.name} is mounted there instead`)
    if (seen !== undefined) return had(seen.says)
    // A driver need not mount anything where a volume is staged.
    if (isHad) return absent('nothing is mounted there; its pods have the volume')
    return wanted.length > 0 ? bad('its directory is there, nothing is mounted') : absent('an unmounted directory')
  }
  const found: Link[] = [
    ...mountPathsOf(partOf(volume, undefined)).map((path) => ({
      kind: 'StagedMount' as const,
      name: inputs.absolute(path),
      ...judgeMount(path),
    })),
    ...maps.map(({ mapDir }) => ({
      kind: 'BlockMap' as const,
      name: inputs.absolute(mapDir),
      ...had('the device is mapped'),
    })),
  ]
  return found.length > 0 ? found : missingLink(inputs, wanted, isHad)
}

/** Nothing of it is there, and a pod wants it: bad, unless the volume is not staged at all. */
function missingLink(inputs: ActualInputs, wanted: readonly VolumeToMount[], isHad: boolean): Link[] {
  const volume = wanted.find(({ deviceMountable, mode }) => deviceMountable && mode === 'Filesystem')
  const path = volume && globalPathOf(volume)
  if (volume === undefined || path === undefined) return []
  const judge = (): Judged => {
    // A local volume may be a directory, which is mounted for its pods alone.
    if (volume.plugin !== CSI_PLUGIN) return isHad ? absent('not needed: its pods have the volume') : bad('not mounted')
    if (inputs.driver(volume.driver) === undefined) return bad('not staged, and its driver does not answer')
    return inputs.stages(volume.driver) ? bad('not staged') : absent('not needed: the driver does not stage volumes')
  }
  return [{ kind: 'StagedMount', name: inputs.absolute(path), ...judge() }]
}

// The links that are one pod's.

function mountLinks(inputs: ActualInputs, part: VolumePart): Link[] {
  const { wanted, onDisk, mappings, pod } = part
  const lacking = wanted && lackingOf(inputs, wanted)
  const judge = (what: string): Judged => (lacking === undefined ? judgedByPod(part, what) : bad(lacking))
  const found = [
    ...onDisk.map(({ target }) => {
      const seen = seenAt(inputs, target)
      return { path: target, ...(seen?.isDead ? bad(seen.says) : judge(seen?.says ?? 'on disk')) }
    }),
    ...mappings.flatMap(({ symlink, publishPath, mapFile }) => {
      const path = symlink ?? publishPath ?? mapFile
      return path === undefined ? [] : [{ path, ...judge('mapped') }]
    }),
  ]
  const links = found.length > 0 ? found : missingMount(inputs, part)
  return links.map(({ path, ...judged }) => ({
    kind: 'PodMount',
    name: inputs.absolute(path),
    ...judged,
    pod: pod.ref,
  }))
}

/** By the pod: of one that has ended or was deleted it is left over. */
function judgedByPod({ wanted, unresolved, pod }: VolumePart, what: string): Judged {
  if (wanted !== undefined || unresolved.length > 0) return good(what)
  if (pod.class === 'Frozen') return good(`${what}; the pod runs, or may`)
  if (pod.class === 'Desired') return unknown(`${what}; not in the pod's spec`)
  const whose = pod.class === 'Finished' ? 'a pod that has ended' : 'a deleted pod'
  return bad(`left over from ${whose}; ${what}`)
}

/** What a pod that wants it does not have, by the plugin's own evidence; undefined: it has all. */
function lackingOf(inputs: ActualInputs, volume: VolumeToMount): string | undefined {
  const evidence = evidenceOf(inputs, volume)
  if (evidence.state === 'notMounted') return evidence.why
  if (evidence.state === 'satisfied') return undefined
  const { other, stateFileLost } = evidence
  if (other !== undefined) return `${other.name} is mounted there instead`
  return stateFileLost && `mounted, and ${inputs.absolute(stateFileLost)} is lost or unusable`
}

function missingMount(inputs: ActualInputs, { wanted, unresolved: [asked], leaked, pod: { uid } }: VolumePart) {
  if (wanted !== undefined) {
    const evidence = evidenceOf(inputs, wanted)
    const judged = evidence.state === 'notMounted' ? bad(evidence.why) : good('as it should be')
    return [{ path: podPathOf(wanted), ...judged }]
  }
  if (asked !== undefined) {
    const judge = asked.cause === 'Unknown' ? unknown : bad
    return [{ path: `pods/${uid}`, ...judge(`not set up: ${asked.message}`) }]
  }
  return leaked.length > 0 ? [{ path: `pods/${uid}/volumes`, ...absent('not there any more') }] : []
}

function subPathLinks(inputs: ActualInputs, { onDisk, leaked, pod }: VolumePart): Link[] {
  const leaves = [...onDisk.flatMap(({ subPaths }) => subPaths ?? []), ...leaked].flatMap((each) => each.leaves)
  return leaves.flatMap(({ path }): Link[] => {
    const seen = seenAt(inputs, path)
    if (seen === undefined) return []
    const judged = !isLiving(pod) ? bad(`left over; ${seen.says}`) : seen.isDead ? bad(seen.says) : good(seen.says)
    return [{ kind: 'SubPath', name: inputs.absolute(path), ...judged, pod: pod.ref }]
  })
}
