/**
 * What is at a path that the kubelet did not make: that of a local volume or a hostPath. Links are followed, as the kubelet
 * does. A child with a deadline looks, since the file system there may hang (P154).
 */

import { StepFailed } from '../../base/operation-error.ts'
import { type PathType, parseStatLine, STAT_ARGUMENTS } from '../../linux/paths.ts'
import { command, firstLineOf } from './step-command.ts'
import type { StepContext } from './step-context.ts'

export interface LookedAt {
  readonly type: PathType
  /** "major:minor" of a device. */
  readonly device: string
}

/** Undefined: nothing is there. @throws StepFailed InvalidPath, TimedOut */
export async function lookAtPath(path: string, run: StepContext): Promise<LookedAt | undefined> {
  const result = await command(run, 'stat', [...STAT_ARGUMENTS, '--', path])
  const found = result.status === 0 ? parseStatLine(result.stdout.trimEnd()) : undefined
  if (found !== undefined) return found
  if (/No such file or directory|Not a directory/.test(result.stderr)) return undefined
  throw new StepFailed('InvalidPath', `stat of ${path} failed: ${firstLineOf(result)}`, {
    hint: 'Check the path and what is mounted there, then plan again.',
  })
}

/** The path with all links resolved. @throws StepFailed InvalidPath, TimedOut */
export async function resolvePath(path: string, run: StepContext): Promise<string> {
  const result = await command(run, 'readlink', ['-f', '--', path])
  const resolved = result.stdout.replace(/\n$/, '')
  if (result.status === 0 && resolved.startsWith('/')) return resolved
  throw new StepFailed('InvalidPath', `links in ${path} could not be resolved: ${firstLineOf(result)}`, {
    hint: 'Check the path, then plan again.',
  })
}
