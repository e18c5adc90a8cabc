/** Holders in one line, for messages. */
import type { UsingProcess } from '../base/errors.ts'
import { take } from '../base/take.ts'
import type { Unseen } from '../linux/mount-namespaces.ts'
import { type PodProcess, podOfProcess } from '../linux/pod-cgroups.ts'
import { podAndContainer } from '../plan/pod-name.ts'
import type { NameOf } from './container-names.ts'
import type { Holders } from './find-holders.ts'
import type { Holder } from './uses.ts'

/** Who or what uses something. */
export interface UsedBy {
  /** For messages. */
  readonly who: string
  /** The processes among the words. */
  readonly users?: readonly UsingProcess[]
}

/** How many holders of each kind are named; the rest is counted. */
const MOST = 4

const byUid: NameOf = ({ podUid, containerId }) => ({
  pod: { uid: podUid },
  ...(containerId && { container: containerId }),
})

/** Empty where there are none. @param nameOf absent: pods are named by their UIDs */
export function describeHolders({ processes, namespaces, loops, kernel }: Holders, nameOf: NameOf = byUid): string {
  return [
    loops.map(({ device, backingFile }) => `${device}, backed by ${backingFile}`),
    kernel,
    describeProcesses(processes, nameOf),
    namespaces.map(
      ({ pid, process, mountPoints: [first], of }) =>
        `${first} in the mount namespace of ${process} (pid ${pid}${whose(of, nameOf)})`,
    ),
  ]
    .flatMap((each) => take(each, MOST))
    .join(', ')
}

/** Who is named first, with the processes among them; else what could not be seen; undefined: nobody. */
export function userAmong(holders: Holders, nameOf?: NameOf): UsedBy | Unseen | undefined {
  const who = describeHolders(holders, nameOf)
  return who === '' ? holders.unseen[0] : { who, users: processesOf(holders) }
}

/** Each once: what `describeHolders` names in words. */
function processesOf({ processes, namespaces }: Pick<Holders, 'processes' | 'namespaces'>): UsingProcess[] {
  return [...new Map([...processes, ...namespaces].map((each) => [each.pid, usingProcess(each)])).values()]
}

export function usingProcess({ pid, process }: UsingProcess): UsingProcess {
  return { pid, process }
}

/** `sleep (pid 42, cwd, file; container web of pod default/web-0)`, each process once. */
export function describeProcesses(holders: readonly Holder[], nameOf: NameOf = byUid): string[] {
  return [...Map.groupBy(holders, ({ pid }) => pid)].map(([pid, own]) => {
    const whats = [...new Set(own.map(({ what }) => what))].join(', ')
    return `${own[0]?.process} (pid ${pid}, ${whats}${whose(own[0]?.of, nameOf)})`
  })
}

/** `sh (pid 42; container web of pod default/web-0)` */
export function describeProcess({ process, pid }: { process: string; pid: number }, nameOf: NameOf = byUid): string {
  return `${process} (pid ${pid}${whose(podOfProcess(pid), nameOf)})`
}

function whose(of: PodProcess | undefined, nameOf: NameOf): string {
  return of === undefined ? '' : `; ${podAndContainer(nameOf(of))}`
}
