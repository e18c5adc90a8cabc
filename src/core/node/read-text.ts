import { readFileSync } from 'node:fs'

/** A small file's text, trimmed; undefined where it is not there or not readable. For /proc, /sys and /etc only. */
export function readTextIfAny(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return undefined
  }
}
