/** Which other mounts show the file system of a staged mount: the references of R031, R032 and S24. */

import { CSI_PLUGIN } from '../../facts/actual/volume-names.ts'
import { isOfServer } from '../../linux/file-systems.ts'
import type { MountInfo } from '../../linux/mount-table.ts'
import { isWithin } from '../../linux/paths.ts'
import type { Draft, Left } from '../../plan/draft.ts'
import type { Facts } from '../../rules/rule.ts'
import type { PlanContext } from '../context/context.ts'
import { isLiving } from '../pods/pod-classes.ts'

/** Why a device is left as it is. */
export type Kept = Pick<Left, 'rule' | 'why'>

export interface References {
  /** One that stays. */
  readonly held?: Facts['held']
  /** Operations that have to come first, where none stays. */
  readonly after: readonly Draft[]
}

/**
 * @param staged the mounts that would be removed
 * @param target absolute path of the staged mount
 * @returns why the volume is kept where a pod that must not be disturbed has one of the mounts
 */
export function referencesTo(context: PlanContext, staged: readonly MountInfo[], target: string): References | Kept {
  const { inputs, classes, ledger } = context
  const after = new Set<Draft>()
  const own = new Set(staged.map((mount) => mount.id))
  let held: MountInfo | undefined
  // Every mount that shows one of these trees or a part of them: bind mounts, sub-paths included (R031).
  for (const reference of new Set(staged.flatMap((mount) => inputs.devices.showing(mount)))) {
    if (own.has(reference.id) || isOfAnotherVolume(context, reference, target)) continue
    const leaders = inputs.devices.leadersOf(reference)
    const remover = [reference, ...leaders]
      .map(({ id }) => context.findings.removerOf(id))
      .find((each) => each !== undefined)
    if (remover !== undefined) {
      after.add(remover)
      continue
    }
    const pod = classes.of(ledger.podAt(inputs.plain(reference.mountPoint)) ?? '')
    if (pod !== undefined && isLiving(pod))
      return { rule: 'S24', why: `pod ${pod.uid} has the same file system mounted` }
    // The staged mount itself, seen through another prefix, goes with it; a private copy stays (R032, P18, S24).
    if (leaders.some(({ id }) => own.has(id))) continue
    held ??= reference
  }
  return held === undefined ? { after: [...after] } : { held: { by: held, target }, after: [] }
}

/** Of a server one device number may stand for several volumes of one share; what shows another that is staged as well is that one's. */
function isOfAnotherVolume({ inputs, ledger }: PlanContext, reference: MountInfo, target: string): boolean {
  if (!isOfServer(reference.fsType)) return false
  const [its, own] = [inputs.plain(reference.mountPoint), target].map((path) => ledger.partsAt(path)[0]?.row)
  if (its === undefined || own === undefined || its === own) return false
  return ledger.row(its)?.staged.some(({ layers }) => layers.some(({ dev }) => dev === reference.dev)) ?? false
}

// Operations on mounts and maps of pods that have ended whose volume could not be identified (S17): it may be any volume whose
// device is not known, so that device is neither unstaged nor detached before.

/** Without leaked sub-paths of a PersistentVolume that is known: its name is searched for separately. */
export function isUnidentified({ volume, reason, kind, removes, blocked }: Draft): boolean {
  if (volume?.plugin !== CSI_PLUGIN || volume.uniqueName !== undefined) return false
  if (reason === 'LeakedSubPath' && volume.persistentVolume !== undefined) return false
  // A staging directory's name is the hash of its handle, so it cannot be another volume's. An UnmapDevice that nothing
  // blocks removes only empty directories.
  return (kind === 'UnmapDevice' && blocked !== undefined) || (kind !== 'UnmountDevice' && removes.size > 0)
}

/** True if both remove mounts of one device, of the same directory or of one inside the other's (O36). */
export function showSameDevice(a: Draft, b: Draft): boolean {
  const layers = layersOf(b)
  return layersOf(a).some(({ dev, root }) =>
    layers.some((other) => other.dev === dev && (isWithin(root, other.root) || isWithin(other.root, root))),
  )
}

function layersOf({ expects = [] }: Draft) {
  return expects.flatMap(({ layers }) => layers)
}
