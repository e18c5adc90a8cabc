/**
 * What stands before the program's own line: journald or syslog, a container's log file, a time or a pod's name, the marks of a
 * quotation. Only the head of a line is read: no line can make this slow.
 */
import { defined } from '../lang/defined.ts'
import { type LineHead, severityOfLevel } from './log-line.ts'

const HEAD_CHARS = 300
const KLOG_FOLLOWS = String.raw`(?=[IWEF]\d{4} \d\d:\d\d:\d\d)`
const TIME = String.raw`\d{4}-\d\d-\d\d[T ][\d:.,]+(?:Z|[+-][\d:]{4,6}| UTC)?`
const PROGRAM = String.raw`(?<program>[\w.@/()-]+)`

/** Each takes off one layer; the named groups are fields of a head. */
const LAYERS: readonly RegExp[] = [
  // > quoted, `code`, * an item; grep -n; grep -r: path/of/a.log:
  /^(?:[>`*#]+ ?)+(?=\S)/,
  new RegExp(String.raw`^(?:\d{1,9}:?|\d\d:\d\d:\d\d) ?${KLOG_FOLLOWS}`),
  /^[\w./@-]{1,200}\.(?:log|txt|out):(?:\d{1,9}:)?(?=\S)/,
  // 2026-11-22T20:01:02.123456789Z stderr F …: a file of /var/log/pods
  new RegExp(`^${TIME} (?:stdout|stderr) [FP] `),
  // Nov 22 20:01:02 node-1 kubelet[1234]: …
  new RegExp(
    String.raw`^(?:\p{L}{3,10}\.? {1,2}\d{1,2} \d\d:\d\d:\d\d(?:\.\d+)?|${TIME}) (?<host>\S+) ${PROGRAM}(?:\[\d+\])?: `,
    'u',
  ),
  // … without a host, or without a time
  /^\p{L}{3} {1,2}\d{1,2} \d\d:\d\d:\d\d (?<program>[\w.@/()-]+)\[\d+\]: /u,
  /^(?:(?<host>[\w.-]{1,253}) )?(?<program>[a-z][\w.-]{1,60})\[\d+\]: /,
  // dmesg
  /^\[ *\d+\.\d+\] /,
  // [pod], or a component's name, before klog's header: stern, microshift, kubectl logs --prefix
  new RegExp(String.raw`^(?:\[[\w./-]{1,253}\]|(?<program>[a-z][\w.-]{1,60})):? ${KLOG_FOLLOWS}`),
  new RegExp(String.raw`^[\w./-]{1,253}[ [](?<program>[\w.-]{1,63})(?:\]:)? ${KLOG_FOLLOWS}`),
  // kubectl logs --timestamps, zap's time and level
  new RegExp(String.raw`^${TIME}\s+`),
  /^(?:- )?\[?(?<level>DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL)\]?(?: -|:)?\s+/,
  // a header of klog whose beginning was not copied
  /^(?:\d{1,8} )?(?<source>[\w./@-]+\.go:\d+)(?:\]|\s)\s*/,
]

/** The rest of the line, and what the layers say: the host of the outermost one, the program of the innermost. */
export function takePrefix(line: string): { readonly head: LineHead; readonly rest: string } {
  let rest = line
  let head: LineHead = {}
  for (const layer of LAYERS) {
    const match = layer.exec(rest.slice(0, HEAD_CHARS))
    if (match === null) continue
    const { host, program, level, source } = { ...match.groups }
    head = { ...defined({ host }), ...head, ...defined({ program, severity: severityOfLevel(level), source }) }
    rest = rest.slice(match[0].length)
  }
  return { head, rest }
}
