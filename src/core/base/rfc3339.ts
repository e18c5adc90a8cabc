/** RFC 3339 in whole seconds, as Kubernetes writes times. Rounded up: no deadline passes early. @param ms since the epoch */
export function rfc3339(ms: number): string {
  return new Date(Math.ceil(ms / 1000) * 1000).toISOString().replace('.000Z', 'Z')
}

/** A time for a person: in whole seconds. */
export function inSeconds(time: string): string {
  return time.replace(/\.\d+/, '')
}
