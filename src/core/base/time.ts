/** Times and durations as people and Kubernetes write them. */

/** RFC 3339 in whole seconds, as Kubernetes writes times. Rounded up: no deadline passes early. @param ms since the epoch */
export function rfc3339(ms: number): string {
  return new Date(Math.ceil(ms / 1000) * 1000).toISOString().replace('.000Z', 'Z')
}

/** A time for a person: in whole seconds. */
export function inSeconds(time: string): string {
  return time.replace(/\.\d+/, '')
}

/** Milliseconds for people: `850ms`, `12s`, `1m30s`, `2h5m`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)}ms`
  const seconds = Math.round(ms / 1000)
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  if (h > 0) return m > 0 ? `${h}h${m}m` : `${h}h`
  if (m > 0) return s > 0 ? `${m}m${s}s` : `${m}m`
  return `${s}s`
}
