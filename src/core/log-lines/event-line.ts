/**
 * An event as `kubectl describe` and `kubectl get events` show it:
 *
 *   Warning  FailedMount  2m (x5 over 10m)  kubelet  MountVolume.SetUp failed for volume "data" : …
 *   2m35s    Warning   FailedMount   pod/web-0   MountVolume.SetUp failed for volume "data" : …
 */

export interface EventLine {
  readonly severity: 'info' | 'warning'
  readonly reason: string
  readonly age: string
  /** kubelet, attachdetach-controller, default-scheduler. */
  readonly from?: string
  /** namespace/name, or a name alone. */
  readonly pod?: string
  readonly message: string
}

const HEAD_CHARS = 400
const DESCRIBED =
  /^\s*(Warning|Normal)\s+([A-Z][A-Za-z]+)\s+(<[a-z]+>|[\dhdmsy]+(?: \(x\d+ over [\dhdmsy]+\))?)\s+([a-z][\w.-]*)(?:[,/] ?[\w.-]+)?\s+/
const LISTED =
  /^\s*(?:([a-z0-9][a-z0-9-]*)\s+)?(<[a-z]+>|[\dhdmsy]+)\s+(Warning|Normal)\s+([A-Z][A-Za-z]+)\s+([Pp]od)\/([a-z0-9.-]+)\s+/

export function parseEvent(line: string): EventLine | undefined {
  const head = line.slice(0, HEAD_CHARS)
  return described(line, head) ?? listed(line, head)
}

function described(line: string, head: string): EventLine | undefined {
  const [all, type, reason = '', age = '', from = ''] = DESCRIBED.exec(head) ?? []
  if (all === undefined) return undefined
  return { severity: severityOf(type), reason, age, from, message: line.slice(all.length).trim() }
}

function listed(line: string, head: string): EventLine | undefined {
  const [all, namespace, age = '', type, reason = '', , name = ''] = LISTED.exec(head) ?? []
  if (all === undefined) return undefined
  const pod = namespace === undefined ? name : `${namespace}/${name}`
  return { severity: severityOf(type), reason, age, pod, message: line.slice(all.length).trim() }
}

function severityOf(type: string | undefined): 'info' | 'warning' {
  return type === 'Warning' ? 'warning' : 'info'
}
