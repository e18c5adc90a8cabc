/**
 * An event as `kubectl describe` and `kubectl get events` show it, of any version:
 *
 *   Warning  FailedMount  2m (x5 over 10m)  kubelet  MountVolume.SetUp failed for volume "data" : …
 *   2m35s (x5 over 10m)  Warning  FailedMount  pod/web-0  MountVolume.SetUp failed for volume "data" : …
 *   10m  2m  5  web-0.15ab  Pod  Warning  FailedMount  kubelet, node-1  MountVolume.SetUp failed for volume "data" : …
 */

import { ownValue } from '../lang/own-value.ts'

export interface EventLine {
  readonly severity: 'info' | 'warning'
  readonly reason: string
  /** With how often and how long, where the event says so. */
  readonly age: string
  /** kubelet, attachdetach-controller, default-scheduler. */
  readonly from?: string
  /** What it is about: pod or pvc, as namespace/name or a name alone. */
  readonly about?: { readonly kind: 'pod' | 'pvc'; readonly name: string }
  readonly message: string
}

const HEAD_CHARS = 400
const AGE = String.raw`(?:<[a-z]+>|[\dhdmsy]+)(?: \(x\d+ over [\dhdmsy]+\))?`
const DESCRIBED = new RegExp(
  String.raw`^\s*(Warning|Normal)\s+([A-Z][A-Za-z]+)\s+(${AGE})\s+([a-z][\w.-]*)(?:[,/] ?[\w.-]+)?\s+`,
)
const LISTED = new RegExp(
  String.raw`^\s*(?:([a-z0-9][a-z0-9-]*)\s+)?(${AGE})\s+(Warning|Normal)\s+([A-Z][A-Za-z]+)\s+([A-Z]?[a-z]+(?:[A-Z][a-z]+)*)(?:/([a-z0-9.-]+))?\s+`,
)
/** What kubectl printed before 1.14: first and last time, a count, and the source in front of the message. */
const OLD = new RegExp(
  String.raw`^\s*(?:${AGE}\s+){1,2}(\d+)\s+(?:.{0,200}?\s)?(Warning|Normal)\s+([A-Z][A-Za-z]+)\s+(?:\{?([a-z][\w.-]*)(?:[, ]+[\w.-]+)?\}?\s{2,}|([a-z][\w-]*), [\w.-]+\s+)?`,
)

export function parseEvent(line: string): EventLine | undefined {
  const head = line.slice(0, HEAD_CHARS)
  return described(line, head) ?? listed(line, head) ?? old(line, head)
}

function described(line: string, head: string): EventLine | undefined {
  const [all, type, reason = '', age = '', from = ''] = DESCRIBED.exec(head) ?? []
  if (all === undefined) return undefined
  return { severity: severityOf(type), reason, age, from, message: line.slice(all.length).trim() }
}

function listed(line: string, head: string): EventLine | undefined {
  const [all, namespace, age = '', type, reason = '', kind = '', name] = LISTED.exec(head) ?? []
  if (all === undefined) return undefined
  const about = objectKey(kind)
  const whole = namespace === undefined || name === undefined ? name : `${namespace}/${name}`
  return {
    severity: severityOf(type),
    reason,
    age,
    ...(about !== undefined && whole !== undefined && { about: { kind: about, name: whole } }),
    message: line.slice(all.length).trim(),
  }
}

const KINDS: Readonly<Record<string, 'pod' | 'pvc'>> = { pod: 'pod', persistentvolumeclaim: 'pvc' }

/** @param kind of an object, in whatever case @returns the key under which a line's values have it */
export function objectKey(kind: string): 'pod' | 'pvc' | undefined {
  return ownValue(KINDS, kind.toLowerCase())
}

function old(line: string, head: string): EventLine | undefined {
  const [all, times, type, reason = '', from, source] = OLD.exec(head) ?? []
  if (all === undefined) return undefined
  const by = from ?? source
  return {
    severity: severityOf(type),
    reason,
    age: `(x${times})`,
    ...(by !== undefined && { from: by }),
    message: line.slice(all.length).trim(),
  }
}

function severityOf(type: string | undefined): 'info' | 'warning' {
  return type === 'Warning' ? 'warning' : 'info'
}

/** @param age as an event has it @returns how often it came, and how many seconds ago it last did */
export function frequencyOf(age: string): { readonly count: number; readonly secondsAgo: number | undefined } {
  const [last = ''] = age.split(' ')
  const parts = [...last.matchAll(/(\d+)([ydhms])/g)]
  const seconds = parts.reduce((sum, [, number, unit = 's']) => sum + Number(number) * (SECONDS[unit] ?? 0), 0)
  return {
    count: Number(/\(x(\d+)/.exec(age)?.[1] ?? 1),
    secondsAgo: parts.length === 0 ? undefined : seconds,
  }
}

const SECONDS: Readonly<Record<string, number>> = { y: 31_536_000, d: 86_400, h: 3600, m: 60, s: 1 }
