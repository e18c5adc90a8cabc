/**
 * The types of the paths of hostPath volumes whose type must be checked (P58).
 *
 * Only for pods without running containers: for the others the kubelet has checked the types, and a healthy node has only those. Links are
 * followed. The file system of a path may hang, so one child with a deadline looks at all of them.
 */

import { errorMessage } from '../base/errors.ts'
import type { ApiSnapshot, HostPath } from '../facts/actual/snapshot.ts'
import { parseStatLine, STAT_ARGUMENTS } from '../linux/paths.ts'
import { runCommand } from '../trust/programs.ts'
import { sharedSourcesOf } from '../volumes/desired-state.ts'
import { isTerminalPhase, isTerminating, protectedUids } from '../volumes/pods.ts'
import { desiredStateOfPods } from '../volumes/populate.ts'

const DEADLINE_MS = 2000

/**
 * @param isAlive by UID on disk: whether anything of the pod runs
 * @returns sorted by path, each once
 */
export async function hostPaths(
  api: ApiSnapshot,
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
  return typed.length === 0 ? [] : lookAt([...new Set(typed)].toSorted(), deadlineMs)
}

/** If one of them hangs, each gets its own child. */
async function lookAt(paths: readonly string[], deadlineMs: number): Promise<HostPath[]> {
  try {
    const { stdout, stderr, timedOut } = await runCommand('stat', [...STAT_ARGUMENTS, '--', ...paths], deadlineMs)
    if (!timedOut) return readAnswers(paths, linesOf(stdout), linesOf(stderr))
    if (paths.length > 1) return (await Promise.all(paths.map((path) => lookAt([path], deadlineMs)))).flat()
    return paths.map((path) => ({ path, error: 'Timeout' }))
  } catch (error) {
    return paths.map((path) => ({ path, error: errorMessage(error) }))
  }
}

/**
 * stat(1) prints in the order of the paths: a line on its output for each path that it could read, otherwise one on its error
 * output.
 */
function readAnswers(paths: readonly string[], found: string[], failed: string[]): HostPath[] {
  return paths.map((path) => {
    const line = parseStatLine(found[0] ?? '')
    if (line?.name === path) {
      found.shift()
      return { path, type: line.type }
    }
    const error = failed.shift() ?? 'no answer'
    return /No such file or directory|Not a directory/.test(error) ? { path, type: 'absent' } : { path, error }
  })
}

function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line !== '')
}
