/** Whether this process, and the files that an operation is about, are as its plan has them (S6, S12, S26). */

import { omitUndefined } from '../base/omit-undefined.ts'
import type { FoundFile } from '../node/host.ts'
import { fileText } from '../plan/differences.ts'
import type { FileIdentity } from '../plan/plan.ts'
import { describeMount } from './expected-mounts.ts'
import type { MachineFacts, Verdict } from './machine-facts.ts'

/**
 * A network file system lives in the network namespace of the process that mounts it. If that is a container's, the mount
 * dies with the container, under a pod that goes on: every access hangs then, and so does its unmount.
 */
export function otherNetwork({ operation, host }: MachineFacts): Verdict | undefined {
  const isOverNetwork = operation.steps.some(({ op, fsType }) => op === 'mount' && fsType?.startsWith('nfs') === true)
  if (!isOverNetwork || host.isInNodesNetwork()) return undefined
  return {
    code: 'WrongNamespace',
    message: "volctl runs in a container's network: what is mounted over it would hang as soon as the container ends",
    hint: 'Run volctl in a Pod with hostNetwork: true (deploy/node-pod.yaml), or on the node itself.',
  }
}

/**
 * A file that is gone already is fine: removing is idempotent. Another file under its name is refused. Asked once the mounts are
 * known to be the expected ones: no path below a foreign mount may be touched.
 */
export function changedFile({ operation, host }: MachineFacts): Verdict | undefined {
  for (const file of operation.basis?.files ?? []) {
    const found = host.lstat(file.path)
    const now = found && identityOf(found, file)
    if (now === undefined || fileText(now) === fileText(file)) continue
    return { code: 'Changed', message: `${file.path} was ${fileText(file)}, now ${fileText(now)}` }
  }
  return undefined
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

/** A last look into a pod directory that is about to be removed: all or nothing (R601-R615, O13). */
export function strangerInside({ operation, around, host }: MachineFacts): Verdict | undefined {
  const directory = operation.steps.at(-1)?.target
  if (directory === undefined) return undefined
  const mount = around.table.at(directory)[0] ?? around.below(directory)[0]
  if (mount !== undefined)
    return { code: 'ForeignMount', message: `${describeMount(mount)} is in the way`, hint: 'Plan again.' }
  const known = new Set(operation.steps.map((step) => step.target))
  if (host.lstat(directory)?.type !== 'dir') return undefined
  const stranger = host.listTree(directory).find((path) => !known.has(path))
  return stranger === undefined
    ? undefined
    : { code: 'UnexpectedFile', message: `${stranger} was not there when the plan was made; nothing was removed` }
}
