/**
 * What stands before the program's own line: journald or syslog, a container's log file, a kernel's time, a time alone. Only the
 * head of a line is looked at, so that no line can make this slow.
 */
import { defined } from '../lang/defined.ts'

export interface Prefix {
  readonly time?: string
  readonly host?: string
  readonly program?: string
}

const HEAD_CHARS = 300

/** Each takes off one layer; the named groups are fields of a prefix. */
const LAYERS: readonly RegExp[] = [
  // 2026-11-22T20:01:02.123456789Z stderr F …: a file of /var/log/pods
  /^(?<time>\d{4}-\d\d-\d\dT[\d:.]+\S{0,6}) (?:stdout|stderr) [FP] /,
  // Nov 22 20:01:02 node-1 kubelet[1234]: …
  /^(?<time>\p{L}{3,10} {1,2}\d{1,2} \d\d:\d\d:\d\d(?:\.\d+)?) (?<host>\S+) (?<program>[\w.@/()-]+)(?:\[\d+\])?: /u,
  // 2026-11-22T20:01:02+0000 node-1 kubelet[1234]: …
  /^(?<time>\d{4}-\d\d-\d\dT[\d:.,]+(?:Z|[+-][\d:]{4,6})?) (?<host>[\w.-]+) (?<program>[\w.@/()-]+)(?:\[\d+\])?: /,
  // other languages of the month
  /^(?<time>\S{1,12} \d{1,2} \d\d:\d\d:\d\d) (?<host>\S+) (?<program>[\w.@/()-]+)(?:\[\d+\])?: /,
  // journalctl -o cat of the kernel, dmesg
  /^\[ *(?<time>\d+\.\d+)\] /,
  // [pod] or a component's name, before klog's header: stern, microshift
  /^(?:\[[\w./-]{1,253}\]|(?<program>[a-z][\w.-]{1,60})):? (?=[IWEF]\d{4} \d\d:\d\d:\d\d)/,
  // kubectl logs --timestamps, and what wrote its own time
  /^(?<time>\d{4}-\d\d-\d\d[T ][\d:.,]+(?:Z|[+-][\d:]{4,6})?)\s+/,
]

/** The rest of the line, and what the layers say: time and host of the outermost one, the program of the innermost. */
export function takePrefix(line: string): { readonly prefix: Prefix; readonly rest: string } {
  let rest = line
  let prefix: Prefix = {}
  for (const layer of LAYERS) {
    const match = layer.exec(rest.slice(0, HEAD_CHARS))
    if (match === null) continue
    const { time, host, program } = { ...match.groups }
    prefix = { ...defined({ time, host }), ...prefix, ...defined({ program }) }
    rest = rest.slice(match[0].length)
  }
  return { prefix, rest }
}
