/** What git says of this working tree, and of files as they were at a tag. */
import { execFileSync } from 'node:child_process'
import type { Finding } from './finding.ts'

function git(root: string, ...args: readonly string[]): string {
  return execFileSync('git', ['-C', root, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 1 << 26,
  })
}

/** The newest release on the way to HEAD, such as v0.1.0; undefined: none yet. */
export function lastTag(root: string): string | undefined {
  try {
    return git(root, 'describe', '--tags', '--abbrev=0', '--match', 'v[0-9]*', 'HEAD').trim()
  } catch {
    return undefined
  }
}

/** A file's text at a tag; undefined: there was none. */
export function textAt(root: string, tag: string, path: string): string | undefined {
  try {
    return git(root, 'show', `${tag}:${path}`)
  } catch {
    return undefined
  }
}

/** The files directly in a folder at a tag. */
export function namesAt(root: string, tag: string, folder: string): readonly string[] {
  return git(root, 'ls-tree', '-z', '--name-only', tag, `${folder}/`).split('\0').filter(Boolean)
}

const SHOWN = 3

/** A release is made of a commit, not of what lies beside it. */
export function uncommitted(root: string): readonly Finding[] {
  const paths = git(root, 'status', '--porcelain', '-z')
    .split('\0')
    .filter(Boolean)
    .map((line) => line.slice(3))
  if (paths.length === 0) return []
  const more = paths.length > SHOWN ? ` and ${paths.length - SHOWN} more` : ''
  const what = `not committed: ${paths.slice(0, SHOWN).join(', ')}${more}`
  return [{ what, next: 'git commit, or git stash --include-untracked' }]
}

/** Nothing new since the tag is nothing to release. */
export function nothingNew(root: string, tag: string): readonly Finding[] {
  if (git(root, 'rev-list', '-1', tag) !== git(root, 'rev-list', '-1', 'HEAD')) return []
  return [{ what: `HEAD is ${tag} itself`, next: 'commit what is new' }]
}
