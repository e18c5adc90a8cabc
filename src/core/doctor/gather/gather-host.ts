/** What volctl may and has on this host, whatever node this is. */
import { existsSync } from 'node:fs'
import { release } from 'node:os'
import { dirname } from 'node:path'
import { DEFAULT_JOURNAL_DIR } from '../../journal/lazy-memory.ts'
import { defined } from '../../lang/defined.ts'
import type { MountTable } from '../../mountinfo/mount-table.ts'
import type { LocatedNode } from '../../node/locate-node.ts'
import { copiesObstacle } from '../../node/private-copies.ts'
import { missingCapabilities } from '../../processes/capabilities.ts'
import { processIds } from '../../processes/mount-namespaces.ts'
import type { StandingObstacle } from '../../processes/standing.ts'
import { kernelTextIfAny, listIfAny, namespaceOf } from '../../trust/kernel.ts'
import { roomAt } from '../../trust/plain-files.ts'
import { commandPath } from '../../trust/programs.ts'
import type { Failure, HostFacts, KernelLimit, LimitName, Room } from '../facts.ts'
import { PROGRAMS } from '../programs.ts'
import { attempt, resultOf } from './attempt.ts'

/**
 * @param table of this mount namespace; undefined: it could not be read
 * @param kubelet the pid of the kubelet, where it runs
 */
export async function gatherHost(
  node: LocatedNode | undefined,
  table: MountTable | undefined,
  kubelet: number | undefined,
  hostRoot: string | undefined,
): Promise<HostFacts> {
  const mountMax = Number(kernelTextIfAny('/proc/sys/fs/mount-max') ?? Number.NaN)
  const programs = await Promise.all(
    PROGRAMS.map(async ({ name }) => [name, (await attempt(() => commandPath(name))).failure] as const),
  )
  const journal = node?.places?.journalDir ?? DEFAULT_JOURNAL_DIR
  const rooms = await Promise.all([
    ...(node === undefined ? [] : [roomOf('the root directory', node.rootDir)]),
    roomOf('the journal', existing(journal)),
  ])
  return {
    uid: process.geteuid?.() ?? 0,
    missingCapabilities: missingCapabilities(),
    standing: standing(node, table, hostRoot),
    programs: Object.fromEntries(programs) as Readonly<Record<string, Failure | undefined>>,
    hasSystemd: existsSync('/run/systemd/system'),
    ...(Number.isNaN(mountMax) ? {} : { mountMax }),
    ...defined({ mounts: table?.size }),
    limits: resultOf(await attempt(() => kernelLimits(kubelet))) ?? [],
    kernel: release(),
    rooms: rooms.filter((room) => room !== undefined),
  }
}

function standing(
  node: LocatedNode | undefined,
  table: MountTable | undefined,
  hostRoot: string | undefined,
): readonly StandingObstacle[] {
  if (node === undefined) return []
  const copies = table === undefined ? undefined : copiesObstacle(table, node.rootDir, hostRoot)
  return copies === undefined ? node.standing : [...node.standing, copies]
}

async function roomOf(what: string, path: string): Promise<Room | undefined> {
  const room = resultOf(await attempt(() => roomAt(path)))
  return room && { what, path, ...room }
}

/** The directory, or the nearest one above that exists: apply makes the others. */
function existing(path: string): string {
  return path === '/' || existsSync(path) ? path : existing(dirname(path))
}

/** Those with both sides readable. @param kubelet its pid, where it runs */
export function kernelLimits(kubelet: number | undefined, proc = '/proc'): KernelLimit[] {
  const setting = (path: string): number => numberIn(kernelTextIfAny(`${proc}/sys/${path}`))
  const namespaces = new Set(processIds(proc).flatMap((pid) => namespaceOf(pid, 'mnt', proc) ?? []))
  const found: readonly (readonly [LimitName, used: number, most: number])[] = [
    ['fs.file-max', setting('fs/file-nr'), setting('fs/file-max')],
    ['LimitNOFILE', ...(kubelet === undefined ? UNKNOWN : openFiles(kubelet, proc))],
    ['user.max_mnt_namespaces', namespaces.size, setting('user/max_mnt_namespaces')],
  ]
  return found.flatMap(([name, used, most]) => (used >= 0 && most > 0 ? { name, used, most } : []))
}

const UNKNOWN = [Number.NaN, Number.NaN] as const

/** The first number of a file that may have several; NaN where there is none. */
function numberIn(text: string | undefined): number {
  return Number.parseInt(text ?? '', 10)
}

/** Of one process, and its soft limit. */
function openFiles(pid: number, proc: string): readonly [used: number, most: number] {
  const limit = /^Max open files +(\d+)/m.exec(kernelTextIfAny(`${proc}/${pid}/limits`) ?? '')?.[1]
  const files = listIfAny(`${proc}/${pid}/fd`).length
  return [files === 0 ? Number.NaN : files, numberIn(limit)]
}
