/**
 * The types of the paths of hostPath volumes whose type must be checked (P58).
 *
 * Only for pods without running containers: for the others the kubelet has checked the types, and a healthy node has only those. Links are
 * followed. What lies in file systems that cannot hang is looked at here. Elsewhere the mounts on the way are asked first, and then a child
 * looks: where one hangs, none is started again for that mount or that path, in this run or a later one (S36).
 */

import { hash } from 'node:crypto'
import { follow, viewsOf } from '../linux/follow-links.ts'
import { containingMount } from '../linux/location.ts'
import { askMounts } from '../linux/mount-asker.ts'
import type { MountTable } from '../linux/mount-table.ts'
import { parseStatLine, STAT_FORMAT } from '../linux/paths.ts'
import { sharedSourcesOf } from '../volumes/desired-state.ts'
import { parentsOf } from '../volumes/payload-entries.ts'
import { isTerminalPhase, isTerminating, protectedUids } from '../volumes/pods.ts'
import { desiredStateOfPods } from '../volumes/populate.ts'
import type { ApiSnapshot, HostPath } from '../volumes/snapshot.ts'
import { typeOf } from './tree/tree-entry.ts'

const DEADLINE_MS = 2000

/**
 * @param isAlive by UID on disk: whether anything of the pod runs
 * @returns sorted by path, each once
 */
export async function hostPaths(
  api: ApiSnapshot,
  table: MountTable,
  isAlive: (uid: string) => boolean,
  deadlineMs = DEADLINE_MS,
): Promise<readonly HostPath[]> {
  const idle = api.pods.filter(
    (pod) => !isTerminating(pod) && !isTerminalPhase(pod) && !protectedUids(pod).some(isAlive),
  )
  if (idle.length === 0) return []
  const typed = desiredStateOfPods(idle, api).volumes.flatMap((volume) => {
    const { path, type } = sharedSourcesOf(volume).hostPath ?? {}
    return path?.startsWith('/') && type ? [path] : []
  })
  return typed.length === 0 ? [] : lookAt([...new Set(typed)].toSorted(), table, deadlineMs)
}

async function lookAt(paths: readonly string[], table: MountTable, deadlineMs: number): Promise<HostPath[]> {
  const [view] = viewsOf(table, [])
  const found = paths.map((path) => {
    const { real, file } = follow(view, path)
    const onWay = [...parentsOf(real), real].flatMap((at) => containingMount(table, at || '/') ?? [])
    return { path, file, slow: onWay.filter(({ dev }) => !view.local.has(dev)) }
  })
  const mounts = new Map(found.flatMap(({ slow }) => slow.map(({ id, mountPoint }) => [id, mountPoint])))
  const answers = await askMounts(mounts, ['%T', '-f'], deadlineMs)
  const known = new Map<string, HostPath>()
  for (const { path, file, slow } of found) {
    // A mount for which no time was left is not asked by way of its path either.
    const [error] = slow.flatMap(({ id }) => (answers.has(id) ? (answers.get(id)?.error ?? []) : 'Timeout'))
    const type = file && typeOf(file)
    if (error !== undefined) known.set(path, { path, error })
    // A link that was not followed leads into another process's view.
    else if (type !== undefined && type !== 'link') known.set(path, { path, type })
  }
  const left = paths.filter((path) => !known.has(path))
  const said = await askMounts(new Map(left.map((path) => [numberOf(path), path])), [STAT_FORMAT, '-L'], deadlineMs)
  return paths.map((path) => {
    const { text = '', isAbsent, words = 'no answer', error = words } = said.get(numberOf(path)) ?? {}
    const type = isAbsent === true ? 'absent' : parseStatLine(text)?.type
    return known.get(path) ?? { path, ...(type === undefined ? { error } : { type }) }
  })
}

/** By which later runs find the child that hangs on a path: a link may lead it anywhere. No mount has such an id. */
function numberOf(path: string): number {
  return 2 ** 32 + Number.parseInt(hash('sha256', path).slice(0, 12), 16)
}
