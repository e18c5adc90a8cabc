/** Which commit this source is of, for the label of the image. */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** The hash, with `-dirty` where files that git knows have changed since; `unknown` where nothing shows it. */
export function sourceCommit(root: string): string {
  // Not a repository above: npm's copy of this package may lie in somebody's.
  if (!existsSync(join(root, '.git'))) return 'unknown'
  try {
    const changed = git(root, 'status', '--porcelain', '--untracked-files=no')
    return git(root, 'rev-parse', 'HEAD') + (changed === '' ? '' : '-dirty')
  } catch {
    return 'unknown'
  }
}

/** Seconds since 1970 of the newest commit, or of SOURCE_DATE_EPOCH: what every packaged file is dated. */
export function sourceDate(root: string): number {
  const { SOURCE_DATE_EPOCH: given } = process.env
  if (given !== undefined && /^\d+$/.test(given)) return Number(given)
  try {
    return Number(git(root, 'log', '-1', '--format=%ct'))
  } catch {
    return 0
  }
}

function git(root: string, ...args: readonly string[]): string {
  return execFileSync('git', ['-C', root, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
}
