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
import type { StandingObstacle } from '../../processes/standing.ts'
import { kernelTextIfAny } from '../../trust/kernel.ts'
import { roomAt } from '../../trust/plain-files.ts'
import { commandPath } from '../../trust/programs.ts'
import type { Failure, HostFacts, Room } from '../facts.ts'
import { PROGRAMS } from '../programs.ts'
import { attempt, resultOf } from './attempt.ts'
import { kernelLimits } from './kernel-limits.ts'

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
    missingCapabilities: missingCapabilities().map(({ name, use }) => ({ name, use })),
    standing: standing(node, table, hostRoot).map(({ message, hint }) => ({ message, hint })),
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
