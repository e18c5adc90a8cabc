import { posix } from 'node:path'

/**
 * Whether `path` is `base` or below it: by path component, lexically, without touching the disk (P112). `/a/bc` is not within
 * `/a/b`; a name that merely begins with two dots (`..2026_11_21`) is.
 */
export function isWithin(path: string, base: string): boolean {
  const directory = plainPath(base)
  const entry = plainPath(path)
  return entry === directory || entry.startsWith(directory === '/' ? '/' : `${directory}/`)
}

/**
 * Without `.`, `..`, doubled and trailing slashes. Fast for plain paths: nearly every path is one, and this runs for every
 * mount.
 */
export function plainPath(path: string): string {
  if (!path.includes('/.') && !path.includes('//') && !path.endsWith('/')) return path
  const normal = posix.normalize(path)
  return normal.length > 1 && normal.endsWith('/') ? normal.slice(0, -1) : normal
}
