import { posix } from 'node:path'

/**
 * Whether `path` is `base` or lies below it: by path component, lexically, without touching the disk (P112).
 * `/a/bc` is not within `/a/b`; a name that merely begins with two dots (`..2026_11_21`) is.
 */
export function isWithin(path: string, base: string): boolean {
  const relative = posix.relative(base, path)
  return relative !== '..' && !relative.startsWith('../')
}
