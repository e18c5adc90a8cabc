import { statSync } from 'node:fs'

/**
 * True if both paths are the same directory: by name, otherwise by device and inode, through links and self-binds. A missing
 * one equals only its own name.
 */
export function sameDirectory(a: string, b: string): boolean {
  if (a.replace(/\/+$/, '') === b.replace(/\/+$/, '')) return true
  const [left, right] = [a, b].map((path) => statSync(path, { throwIfNoEntry: false }))
  return left !== undefined && right !== undefined && left.dev === right.dev && left.ino === right.ino
}
