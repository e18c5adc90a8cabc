/** The answer with who holds it, as the live node shows it: more than those who are in the way of an operation, which its block names. */

import type { ContainerName, NameOf } from '../holders/container-names.ts'
import type { Holders } from '../holders/find-holders.ts'
import type { PodProcess } from '../processes/pod-cgroups.ts'
import type { Explanation, HoldersView } from './explanation.ts'

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
  return { ...explanation, holders }
}

function nameFor(of: PodProcess | undefined, nameOf: NameOf): Partial<ContainerName> {
  return of === undefined ? {} : nameOf(of)
}
