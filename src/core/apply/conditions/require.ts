/** What must hold right before an operation, beside the state of the kubelet and of its mounts. */

import { omitUndefined } from '../../base/omit-undefined.ts'
import { OperationRefused } from '../../base/operation-error.ts'
import type { FoundFile, Host } from '../../node/host.ts'
import { fileText } from '../../plan/differences.ts'
import type { FileIdentity, Operation } from '../../plan/plan.ts'
import type { VolumeToMount } from '../../volumes/desired-state.ts'
import { isMirrorPod, isTerminalPhase, isTerminating, onDiskUid, protectedUids } from '../../volumes/pods.ts'
import { describeMount } from '../operation/expected-mounts.ts'
import type { ApplyContext, Witness } from '../operation/ports.ts'
import type { StepContext } from '../operation/step-context.ts'

/**
 * A network file system lives in the network namespace of the process that mounts it. If that is a container's, the mount
 * dies with the container, under a pod that goes on: every access hangs then, and so does its unmount.
 *
 * @throws OperationRefused WrongNamespace, where volctl is in another network than PID 1 (S6)
 */
export function requireNetwork({ steps }: Operation, host: Host): void {
  const isOverNetwork = steps.some(({ op, fsType }) => op === 'mount' && fsType?.startsWith('nfs') === true)
  if (!isOverNetwork || host.isInNodesNetwork()) return
  throw new OperationRefused(
    'WrongNamespace',
    "volctl runs in a container's network: what is mounted over it would hang as soon as the container ends",
    { hint: 'Run volctl in a Pod with hostNetwork: true (deploy/node-pod.yaml), or on the node itself.' },
  )
}

/**
 * Checked right before a volume is set up (S22, S26).
 * The pod must be in a fresh list, must not be terminating or finished, and must want this very volume.
 *
 * @returns the volume as it is wanted now
 * @throws OperationRefused
 */
export function requireWanted({ pod, volume }: Operation, witness: Witness, context: ApplyContext): VolumeToMount {
  const found =
    witness.apiPods.find((each) => !isMirrorPod(each) && each.metadata.uid === pod?.uid) ??
    witness.apiPods.find((each) => onDiskUid(each) === pod?.uid)
  if (found === undefined) throw new OperationRefused('NoLongerWanted', `pod ${pod?.uid} is no longer in the API`)
  const isAlive = protectedUids(found).some((uid) => witness.alive.has(uid))
  if (isTerminalPhase(found) || (isTerminating(found) && !isAlive))
    throw new OperationRefused('NoLongerWanted', `pod ${pod?.uid} is terminating or has ended`)
  const wanted = volume?.uniqueName === undefined ? undefined : context.wanted(found, volume.uniqueName)
  if (wanted === undefined) {
    throw new OperationRefused('NoLongerWanted', `pod ${pod?.uid} no longer wants ${volume?.uniqueName}`)
  }
  return wanted
}

/**
 * The files are still those that the operation was planned for (S26).
 * A file that is gone already is fine: removing is idempotent. Another file under its name is refused. To be called once the
 * mounts are known to be the expected ones: no path below a foreign mount may be touched.
 *
 * @throws OperationRefused Changed
 */
export function requireSameFiles({ basis }: Operation, host: Host): void {
  for (const file of basis?.files ?? []) {
    const found = host.lstat(file.path)
    const now = found && identityOf(found, file)
    if (now === undefined || fileText(now) === fileText(file)) continue
    throw new OperationRefused('Changed', `${file.path} was ${fileText(file)}, now ${fileText(now)}`)
  }
}

/** As far as the plan knew it. */
function identityOf({ id, size }: FoundFile, file: FileIdentity): Omit<FileIdentity, 'path'> | undefined {
  if (id === undefined) return undefined
  const { dev, ino, mtime } = id
  return {
    dev,
    ino,
    ...omitUndefined({
      size: file.size === undefined ? undefined : size,
      mtime: file.mtime === undefined ? undefined : mtime,
    }),
  }
}

/**
 * A last look into a pod directory that is about to be removed: all or nothing (R601-R615, O13).
 *
 * @throws OperationRefused naming a file or mount that the plan does not have
 */
export function requireNothingNew(operation: Operation, { around, host }: StepContext): void {
  const directory = operation.steps.at(-1)?.target
  if (directory === undefined) return
  const mount = around.table.at(directory)[0] ?? around.below(directory)[0]
  if (mount !== undefined)
    throw new OperationRefused('ForeignMount', `${describeMount(mount)} is in the way`, { hint: 'Plan again.' })
  const known = new Set(operation.steps.map((step) => step.target))
  if (host.lstat(directory)?.type !== 'dir') return
  const stranger = host.listTree(directory).find((path) => !known.has(path))
  if (stranger === undefined) return
  throw new OperationRefused('UnexpectedFile', `${stranger} was not there when the plan was made; nothing was removed`)
}
