/** Times and durations as people and Kubernetes write them. */
import { usageError } from './errors.ts'

/** RFC 3339 in whole seconds, as Kubernetes writes times. Rounded up: no deadline passes early. @param ms since the epoch */
export function rfc3339(ms: number): string {
  return new Date(Math.ceil(ms / 1000) * 1000).toISOString().replace('.000Z', 'Z')
}

/** A time for a person: in whole seconds. */
export function inSeconds(time: string): string {
  return time.replace(/\.\d+/, '')
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/**
 * A duration as Go and kubectl write it (`90s`, `2m`, `1h30m`, `500ms`), in milliseconds.
 * A bare `0` is allowed; any other number needs a unit, as nobody knows what `10` would mean.
 */
export function parseDuration(text: string, what: string): number {
  if (text === '0') return 0
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)]
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== text) {
    throw usageError(`${what}: "${text}" is not a duration.`, 'Give a duration such as 90s, 2m or 1h30m.')
  }
  return Math.round(parts.reduce((sum, [, number, unit]) => sum + Number(number) * (UNIT_MS[unit ?? ''] ?? 0), 0))
}

/** The same the other way, for people: `850ms`, `12s`, `1m30s`, `2h5m`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)}ms`
  const seconds = Math.round(ms / 1000)
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  if (h > 0) return m > 0 ? `${h}h${m}m` : `${h}h`
  if (m > 0) return s > 0 ? `${m}m${s}s` : `${m}m`
  return `${s}s`
}
