/**
 * What a path is that somebody else made: a local volume's, a hostPath's. Links are followed, as the kubelet does, and a
 * child asks with a deadline, since whatever file system it lies on may not answer (P154).
 */

import { StepFailed } from '../../errors/operation-error.ts'
import { type PathType, parseStatLine, STAT_ARGUMENTS } from '../../files/path-type.ts'
import { command, wordsOf } from './step-command.ts'
import type { StepContext } from './step-context.ts'

export interface LookedAt {
  readonly type: PathType
  /** "major:minor" of a device. */
  readonly device: string
}

/** Undefined: it is not there. @throws StepFailed PathUnusable, TimedOut */
export async function lookAtPath(path: string, run: StepContext): Promise<LookedAt | undefined> {
  const result = await command(run, 'stat', [...STAT_ARGUMENTS, '--', path])
  const found = result.status === 0 ? parseStatLine(result.stdout.trimEnd()) : undefined
  if (found !== undefined) return found
  if (/No such file or directory|Not a directory/.test(result.stderr)) return undefined
  throw new StepFailed('PathUnusable', `${path} cannot be looked at: ${wordsOf(result)}`, {
    hint: 'Look at the path and at what is mounted there, then plan again.',
  })
}

/** Without links. @throws StepFailed PathUnusable, TimedOut */
export async function resolvePath(path: string, run: StepContext): Promise<string> {
  const result = await command(run, 'readlink', ['-f', '--', path])
  const resolved = result.stdout.replace(/\n$/, '')
  if (result.status === 0 && resolved.startsWith('/')) return resolved
  throw new StepFailed('PathUnusable', `where ${path} leads to cannot be told: ${wordsOf(result)}`, {
    hint: 'Look at the path, then plan again.',
  })
}
