/** The answer with who holds it, as the live node shows it. */
import type { ContainerName, NameOf } from '../holders/container-names.ts'
import type { FoundHolders } from '../holders/live-holders.ts'
import type { PodProcess } from '../node/pod-cgroups.ts'
import type { StepOp } from '../plan/plan.ts'
import type { Explanation, HoldersView } from './explanation.ts'

/** Steps that fail on what somebody holds. */
const FAILING: ReadonlySet<StepOp> = new Set([
  'umount',
  'deleteContent',
  'NodeUnpublishVolume',
  'NodeUnstageVolume',
  'losetup -d',
])

export function withHolders(explanation: Explanation, found: FoundHolders, nameOf: NameOf): Explanation {
  const { processes, namespaces, loops, kernel, unseen } = found
  const isHeld = processes.length + loops.length + kernel.length > 0
  const fails = explanation.operations.some(
    ({ blocked, steps }) => blocked === undefined && steps.some(({ op }) => FAILING.has(op)),
  )
  const holders: HoldersView = {
    known: true,
    processes: [...Map.groupBy(processes, ({ pid }) => pid)].map(([pid, own]) => ({
      pid,
      command: own[0]?.process ?? '',
      holds: own.map(({ what, path }) => ({ what, path })),
      ...nameFor(own[0]?.of, nameOf),
    })),
    namespaces: namespaces.map(({ pid, process: command, mountPoints, of }) => ({
      pid,
      command,
      mountPoints,
      ...nameFor(of, nameOf),
    })),
    loops,
    kernel,
    notes: [
      ...unseen,
      ...(isHeld && fails ? ['as long as they hold it, volctl apply fails there (HeldBy): end them first'] : []),
    ],
  }
  return { ...explanation, holders }
}

function nameFor(of: PodProcess | undefined, nameOf: NameOf): Partial<ContainerName> {
  return of === undefined ? {} : nameOf(of)
}
