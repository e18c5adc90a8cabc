/** The answer with who holds it, as the live node shows it. */

import type { ContainerName, NameOf } from '../holders/container-names.ts'
import type { Holders } from '../holders/find-holders.ts'
import { firstFew } from '../lang/first-few.ts'
import type { OperationKind, StepOp } from '../plan/plan.ts'
import { podAndContainer } from '../plan/pod-name.ts'
import type { PodProcess } from '../processes/pod-cgroups.ts'
import type { Explanation, HoldersView, NamespaceView, ProcessView } from './explanation.ts'

/** Steps that fail on what somebody holds. */
const FAILING: ReadonlySet<StepOp> = new Set([
  'umount',
  'deleteContent',
  'NodeUnpublishVolume',
  'NodeUnstageVolume',
  'losetup -d',
  'flexUnmount',
  'flexUnmountDevice',
  'removeFcDisks',
  'removeIscsiDisks',
  'iscsiLogout',
  'deleteVolumeAttachment',
])

/** For which no mount may be left anywhere (S21, S24). */
const DEVICES: ReadonlySet<OperationKind> = new Set(['UnmountDevice', 'UnmapDevice', 'DetachVolume'])

export function withHolders(explanation: Explanation, found: Holders, nameOf: NameOf): Explanation {
  const { processes, namespaces, loops, kernel, unseen } = found
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
    notes: unseen.map(({ text }) => text),
  }
  return { ...explanation, holders, notes: [...holderNotes(explanation, holders), ...explanation.notes] }
}

/** What the operations that would run fail on: not on those who have a mount of their own because they want it. */
function holderNotes({ operations, volumes }: Explanation, holders: HoldersView): string[] {
  const runnable = operations.filter(({ blocked }) => blocked === undefined)
  const steps = runnable.flatMap((operation) => operation.steps)
  const wanting = new Set(volumes.flatMap(({ wantedBy }) => wantedBy.map(({ pod }) => pod.uid)))
  const isIdle = ({ pod }: ProcessView | NamespaceView): boolean => pod === undefined || !wanting.has(pod.uid)
  const [processes, namespaces] = [holders.processes.filter(isIdle), holders.namespaces.filter(isIdle)]
  const loops = holders.loops.filter(
    ({ device }) => !steps.some(({ op, target }) => op === 'losetup -d' && target === device),
  )
  const busy = [
    ...processes.map(holderText),
    ...loops.map(({ device, backingFile }) => `${device}, backed by ${backingFile}`),
    ...holders.kernel,
    // What a directory's content is under another name stays, but not what it was (S12).
    ...(runnable.some(({ deletes }) => deletes !== undefined) ? namespaces.map(mountText) : []),
  ]
  const devices = new Set(runnable.map(({ kind }) => kind)).intersection(DEVICES)
  return [
    ...(busy.length > 0 && steps.some(({ op }) => FAILING.has(op))
      ? [`Stop what still holds this open, or volctl apply fails: ${firstFew(busy, MOST).join(', ')}`]
      : []),
    ...(namespaces.length > 0 && devices.size > 0
      ? [
          `volctl refuses ${[...devices].join(' and ')} while the volume is mounted in another mount namespace: stop ${firstFew(namespaces.map(holderText), MOST).join(', ')}, or unmount the volume there (nsenter -t PID -m)`,
        ]
      : []),
  ]
}

function mountText(holder: NamespaceView): string {
  return `${holder.mountPoints[0]} in the mount namespace of ${holderText(holder)}`
}

/** Named; the rest is counted. */
const MOST = 4

function holderText({ command, pid, container, pod }: ProcessView | NamespaceView): string {
  const of = pod === undefined ? '' : `, ${podAndContainer({ pod, container })}`
  return `${command} (pid ${pid}${of})`
}

function nameFor(of: PodProcess | undefined, nameOf: NameOf): Partial<ContainerName> {
  return of === undefined ? {} : nameOf(of)
}
