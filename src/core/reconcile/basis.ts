/**
 * What an operation was decided on, beside its mounts: the pod's object in the API, and the files that it removes or needs to
 * call a driver (S26). Only facts that every look reads, so that live and offline plans are equal: attributes of a pod that
 * still runs are never read.
 */

import { baseName } from '../actual/tree.ts'
import { defined } from '../lang/defined.ts'
import type { TreeEntry } from '../model/snapshot.ts'
import type { Basis, FileIdentity, Operation, StepOp } from '../plan/plan.ts'
import { STATE_FILES } from '../plugins/state-files.ts'
import type { PlanContext } from './context/context.ts'

const REMOVING: ReadonlySet<StepOp> = new Set(['unlink', 'rmdir', 'deleteContent'])

/** The operation with its basis; unchanged if it has none. */
export function withBasis(operation: Operation, context: PlanContext): Operation {
  const pod = operation.pod && context.classes.of(operation.pod.uid)
  const files = pod?.class === 'Desired' || pod?.class === 'Frozen' ? [] : filesOf(operation, context)
  const basis: Basis = {
    ...defined({
      pod: operation.pod && objectOf(pod?.pod),
      files: files.length === 0 ? undefined : files,
    }),
  }
  return Object.keys(basis).length === 0 ? operation : { ...operation, basis }
}

function objectOf(
  pod: { readonly metadata: { uid?: string; resourceVersion?: string } } | undefined,
): NonNullable<Basis['pod']> {
  if (pod === undefined) return { listed: false }
  const { uid, resourceVersion } = pod.metadata
  return {
    listed: true,
    ...defined({ uid, resourceVersion }),
  }
}

function filesOf({ steps, paths }: Operation, { inputs }: PlanContext): FileIdentity[] {
  const emptied = new Set<string>()
  const found = new Set<string>()
  for (const { op, target } of steps) {
    if (REMOVING.has(op)) found.add(target)
    if (op === 'deleteContent') emptied.add(target)
  }
  for (const path of paths) if (STATE_FILES.has(baseName(path))) found.add(path)
  return [...found].flatMap((path) => {
    // Such attributes are those of the kubelet's own tmpfs, not of the directory below it.
    if (inputs.mounts.at(path).length > 0) return []
    const entry = inputs.tree.get(inputs.relative(path))
    return entry === undefined ? [] : identityOf(path, entry, emptied.has(path))
  })
}

/** No identity without attributes. */
function identityOf(path: string, { type, dev, ino, size, mtime }: TreeEntry, emptied: boolean): FileIdentity[] {
  if (dev === undefined || ino === undefined) return []
  if (type === 'dir') return [{ path, dev, ino, ...defined({ mtime: emptied ? mtime : undefined }) }]
  return [{ path, dev, ino, ...defined({ size, mtime }) }]
}
