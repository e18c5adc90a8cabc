/** The namespaces and the user that volctl runs in: whether it may change this node, or only read it (S7). */

import { lazy } from '../base/collections.ts'
import type { RefusalCode } from '../messages/codes.ts'
import { type Finding, type Hint, marked, said } from '../messages/findings.ts'
import { fileSystemTypeIfAny, isFullRange, kernelTextIfAny, mountIdOf, namespaceOf } from '../trust/kernel.ts'
import type { PinnedProcess } from '../trust/processes.ts'

/** The initial PID namespace's inode number, the same on every kernel (PROC_PID_INIT_INO). */
const INITIAL_PID_NAMESPACE = 'pid:[4026531836]'

/** Why volctl may only read here, and change nothing. `apply` refuses with the first. */
export interface StandingObstacle extends Finding<RefusalCode> {
  readonly rule: 'S3' | 'S6' | 'S7' | 'S8'
  readonly hint: Hint
  /** Processes of the node do not show in this /proc. */
  readonly hidesProcesses?: true
}

const SYSFS_MAGIC = 0x62656572

export type StandingFacts = Readonly<ReturnType<typeof readStandingFacts>>

/**
 * What /proc shows of this process, and of the one that stands for the node: its namespaces are undefined where they may not be read.
 *
 * @param reference the kubelet, otherwise PID 1
 */
export function readStandingFacts(
  reference: PinnedProcess | undefined,
  seen: { readonly kubelet: boolean; readonly runtime: boolean },
) {
  return {
    uidMap: kernelTextIfAny('/proc/self/uid_map') ?? '',
    pidNamespace: namespaceOf('self', 'pid'),
    referencePidNamespace: reference?.link('ns/pid'),
    referenceIsKubelet: seen.kubelet,
    /** A container runtime of root's runs in this PID namespace, so it is the node's. */
    seesRuntime: seen.runtime,
    /** Mount id of the root directory. */
    rootMountId: mountIdOf('/'),
    referenceRootMountId: reference && mountIdOf(reference.path('root/')),
    /** Otherwise it is not mounted, or something else is in its place: there would seem to be no disks and no loop devices. */
    hasSysfs: fileSystemTypeIfAny('/sys') === SYSFS_MAGIC,
  }
}

/** Pure: every obstacle that these facts show. A fact that may not be read counts as an obstacle. */
export function standingObstacles(facts: StandingFacts): readonly StandingObstacle[] {
  const { rootMountId, referenceRootMountId } = facts
  const isReadable = rootMountId !== undefined && referenceRootMountId !== undefined
  return [
    !isFullRange(facts.uidMap) && {
      rule: 'S7' as const,
      ...said('WrongNamespace.user', { uidMap: facts.uidMap.replaceAll(/\s+/g, ' ').trim() || 'unreadable' }),
      hint: 'Run volctl as root of the host itself.',
    },
    !isNodePidNamespace(facts) && {
      rule: 'S7' as const,
      hidesProcesses: true as const,
      ...said('WrongNamespace.processes'),
      hint: 'In a container, run volctl with hostPID and --host-root.',
    },
    !isReadable && {
      rule: 'S6' as const,
      ...said('WrongNamespace.unread'),
      hint: 'Run volctl as root with CAP_SYS_PTRACE.',
    },
    isReadable &&
      rootMountId !== referenceRootMountId && {
        rule: 'S7' as const,
        ...said('WrongNamespace.chroot'),
        hint: 'Run volctl outside of the chroot, or in a container with --host-root.',
      },
    !facts.hasSysfs && {
      rule: 'S3' as const,
      ...said('WrongNamespace.noSysfs'),
      hint: marked('Mount it: `mount -t sysfs sysfs /sys`'),
    },
  ].filter((obstacle) => obstacle !== false)
}

/** True if this process runs in a user namespace, with user ids other than the host's. It stays there, and ids are mapped once. */
export const isInUserNamespace = lazy(() => !isFullRange(kernelTextIfAny('/proc/self/uid_map') ?? ''))

/** True in the machine's initial PID namespace, whose /proc can show every process. */
export function isInInitialPidNamespace(): boolean {
  return namespaceOf('self', 'pid') === INITIAL_PID_NAMESPACE
}

/**
 * The initial namespace, or the one with the node's own processes: a node may be a container itself (kind), and then the
 * kubelet or the runtime runs in the same namespace.
 */
function isNodePidNamespace(facts: StandingFacts): boolean {
  const { pidNamespace, referencePidNamespace } = facts
  if (pidNamespace === undefined) return false
  if (facts.referenceIsKubelet) return pidNamespace === referencePidNamespace
  return pidNamespace === INITIAL_PID_NAMESPACE || facts.seesRuntime
}
