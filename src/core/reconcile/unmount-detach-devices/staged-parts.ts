/** Which other mounts show the file system of a staged mount: the references of R031, R032 and S24. */

import type { CsiIdentity } from '../../facts/row.ts'
import { alsoShowing, isOfServer } from '../../linux/location.ts'
import type { MountInfo } from '../../linux/mount-table.ts'
import { isWithin } from '../../linux/paths.ts'
import { leadersOf } from '../../linux/propagation.ts'
import { type Draft, removedBy, type Unchanged } from '../../plan/draft.ts'
import type { PlanContext } from '../../rules/context.ts'
import { driverCall, isWithoutDriver } from '../../rules/driver-call.ts'
import { isLiving } from '../../rules/pods/pod-classes.ts'
import type { Facts } from '../../rules/rule.ts'
import { NOTES } from '../../volumes/csi-set-up.ts'
import { baseName, parentOf } from '../../volumes/on-disk/tree.ts'
import type { TreeEntry } from '../../volumes/snapshot.ts'
import { CSI_PLUGIN, type StateFile } from '../../volumes/volume-names.ts'

/** Why a device is left as it is. */
export type Kept = Pick<Unchanged, 'rule' | 'why'>

/**
 * @param staged the mounts that would be removed
 * @param target path of the staged mount, relative
 * @returns why the volume is kept where a pod that must not be disturbed has one of the mounts; else one that stays, or the operations
 *   that have to come first
 */
export function referencesTo(
  context: PlanContext,
  staged: readonly MountInfo[],
  target: string,
): Kept | { readonly held?: Facts['held']; readonly after: readonly Draft[] } {
  const { inputs, classes, ledger } = context
  const after = new Set<Draft>()
  const own = new Set(staged.map((mount) => mount.id))
  let held: MountInfo | undefined
  // Every mount that shows one of these trees or a part of them: bind mounts, sub-paths included (R031).
  for (const reference of new Set(staged.flatMap((mount) => alsoShowing(inputs.mounts, mount)))) {
    if (own.has(reference.id) || isOfAnotherVolume(context, reference, target)) continue
    const leaders = leadersOf(inputs.mounts, reference)
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
export function isUnidentified(draft: Draft): boolean {
  const { volume, reason, kind, blocked } = draft
  if (volume?.plugin !== CSI_PLUGIN || volume.uniqueName !== undefined) return false
  if (reason === 'LeakedSubPath' && volume.persistentVolume !== undefined) return false
  // A staging directory's name is the hash of its handle, so it cannot be another volume's. An UnmapDevice that nothing
  // blocks removes only empty directories.
  return (kind === 'UnmapDevice' && blocked !== undefined) || (kind !== 'UnmountDevice' && removedBy(draft).length > 0)
}

/** True if both remove mounts of one device, of the same directory or of one inside the other's (O36). */
export function showSameDevice(a: Draft, b: Draft): boolean {
  const [ofA = [], ofB = []] = [a, b].map(({ expects = [] }) => expects.flatMap(({ layers }) => layers))
  return ofA.some(({ dev, root }) =>
    ofB.some((other) => other.dev === dev && (isWithin(root, other.root) || isWithin(other.root, root))),
  )
}

// What a driver keeps below the staging path, which belongs to the driver (C20): ceph-csi mounts RBD images at STAGING/HANDLE
// and writes a file beside the mount with what it needs to unmap the image. Such a driver is called to unstage like any other
// (R442, R452). Anything that the driver is not known to have made is foreign, and blocks (S18, O12).

interface StagingFacts {
  /** Relative: the staging path of the driver's calls. */
  readonly path: string
  readonly identity: CsiIdentity | undefined
  readonly stateFile: StateFile | undefined
  /** The volume's, where the kubelet has it staged. */
  readonly layers: readonly MountInfo[]
  /** Below the staging path. */
  readonly mounts: readonly MountInfo[]
  readonly files: readonly TreeEntry[]
  /** Operations on this volume that come first. */
  readonly predecessors: readonly Draft[]
}

/** What is staged for a volume, what a driver can still do about it, other mounts that show the same, and the operations that come first. */
export function stagedParts(context: PlanContext, found: StagingFacts) {
  const { inputs } = context
  const { path, identity, stateFile, layers, mounts, files, predecessors } = found
  const call = identity && driverCall(context, identity, stateFile, layers.length + mounts.length > 0)
  // A driver, known or not, has to unstage it.
  const unstages = !isWithoutDriver(call) && inputs.stages(identity?.driver)
  // Without a driver that is called to unstage nothing counts as made by the driver.
  const handle = unstages ? identity?.handle : undefined
  /** The device and root of a pod's mount that this plan removes. */
  const showsWhatGoes = (mount: MountInfo): boolean =>
    alsoShowing(inputs.mounts, mount).some(
      (each) => each.root === mount.root && predecessors.some((draft) => removedBy(draft).includes(each.id)),
    )
  const isBeside = (at: string): boolean => handle !== undefined && parentOf(at) === path
  const { own = [], foreign = [] } = Object.groupBy(
    Map.groupBy(mounts, (mount) => inputs.pathOf(mount)),
    ([at, stack]) => (isBeside(at) && (baseName(at) === handle || stack.some(showsWhatGoes)) ? 'own' : 'foreign'),
  )
  // A driver that mounts below the staging path keeps its notes there, too; without a mount only known names are its own.
  const isNote = ({ path: at, type, size }: TreeEntry): boolean =>
    isBeside(at) &&
    type === 'file' &&
    (own.length > 0 || NOTES.has(baseName(at)) || (baseName(at) === handle && size === 0))
  const stacks = own.map(([at, stack]) => ({ path: at, layers: stack }))
  const ofDriver = mounts.filter((mount) => own.some(([, stack]) => stack.includes(mount)))
  const shown = referencesTo(context, [...layers, ...ofDriver], path)
  if ('why' in shown) return shown
  return {
    call,
    unstages,
    /** Mounts of the driver's own, and the same by path. */
    ofDriver,
    stacks,
    foreign: foreign.flatMap(([, stack]) => stack),
    /** Files that the driver did not make. */
    strangers: files.filter((entry) => entry.type !== 'dir' && !isNote(entry)),
    ...shown,
    after: [...new Set([...predecessors, ...shown.after])],
  }
}
