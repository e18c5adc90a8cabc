/**
 * What stands before the program's own line: journald or syslog, a container's log file, a kernel's time, a time and a level alone, the
 * marks of a quotation. Only the head of a line is read: no line can make this slow.
 */
import { defined } from '../lang/defined.ts'
import { type LineSeverity, severityOfLevel } from './sentences/severity.ts'

export interface Prefix {
  readonly time?: string
  readonly host?: string
  readonly program?: string
  readonly severity?: LineSeverity
  readonly source?: string
}

const HEAD_CHARS = 300
const KLOG_FOLLOWS = String.raw`(?=[IWEF]\d{4} \d\d:\d\d:\d\d)`
/** A whole line of a program begins: klog, logfmt, JSON. */
const LINE_FOLLOWS = String.raw`(?=[IWEF]\d{4} \d\d:\d\d:\d\d|time=|level=|ts=|\{")`

/** Each takes off one layer; the named groups are fields of a prefix. */
const LAYERS: readonly RegExp[] = [
  // > quoted, `code`, * an item; grep -n
  /^(?:[>`*#]+ ?)+(?=\S)/,
  /^\d{1,9}:(?=\p{L}{3} [ \d]\d )/u,
  new RegExp(String.raw`^(?:\d{1,9}:?|\d\d:\d\d:\d\d) ?${KLOG_FOLLOWS}`),
  // grep -r, kubectl logs of a support bundle: path/of/a.log:
  /^[\w./@-]{1,200}\.(?:log|txt|out):(?:\d{1,9}:)?(?=\S)/,
  // Rancher: Wed, Apr 13 2022 9:49:39 am | …
  /^(?<time>\w{3}, \w{3} \d{1,2} \d{4} \d{1,2}:\d\d:\d\d [ap]m) \| /,
  // 2026-11-22T20:01:02.123456789Z stderr F …: a file of /var/log/pods
  /^(?<time>\d{4}-\d\d-\d\dT[\d:.]+\S{0,6}) (?:stdout|stderr) [FP] /,
  // Nov 22 20:01:02 node-1 kubelet[1234]: …
  /^(?<time>\p{L}{3,10} {1,2}\d{1,2} \d\d:\d\d:\d\d(?:\.\d+)?) (?<host>\S+) (?<program>[\w.@/()-]+)(?:\[\d+\])?: /u,
  // 2026-11-22T20:01:02+0000 node-1 kubelet[1234]: …
  /^(?<time>\d{4}-\d\d-\d\d[T ][\d:.,]+(?:Z|[+-][\d:]{4,6})?) (?<host>[\w.-]+) (?<program>[\w.@/()-]+)(?:\[\d+\])?: /,
  // other languages of the month
  /^(?<time>\S{1,12} \d{1,2} \d\d:\d\d:\d\d) (?<host>\S+) (?<program>[\w.@/()-]+)(?:\[\d+\])?: /,
  // … without a host, or without a time
  /^(?<time>\p{L}{3} {1,2}\d{1,2} \d\d:\d\d:\d\d) (?<program>[\w.@/()-]+)\[\d+\]: /u,
  /^(?:(?<host>[\w.-]{1,253}) )?(?<program>[a-z][\w.-]{1,60})\[\d+\]: /,
  /^(?<program>kernel): /,
  // journalctl -o cat of the kernel, dmesg, dmesg -T
  /^\[ *(?<kernel>\d+\.\d+)\](?:\[ *[TC]\d+\])? (?:kernel: )?/,
  /^\[(?<kernel>\w{3} \w{3} {1,2}\d{1,2} \d\d:\d\d:\d\d \d{4})\] /,
  // [pod] or a component's name, before klog's header: stern, microshift, kubectl logs --prefix
  new RegExp(String.raw`^(?:\[[\w./-]{1,253}\]|(?<program>[a-z][\w.-]{1,60})):? ${KLOG_FOLLOWS}`),
  new RegExp(String.raw`^[\w./-]{1,253}[ [](?<program>[\w.-]{1,63})(?:\]:)? ${LINE_FOLLOWS}`),
  /^\[(?:(?<engine>pvc-[\da-f-]{36}-[er]-[\da-z-]{1,40})|(?<program>[a-z]+(?:-[a-z]+)*)|[\w./-]{1,253}(?: [\w./-]{1,63})?)\] (?=time=|level=|ts=|\{)/,
  // [2026-11-22T20:01:02.123Z ERROR io_engine::nexus:nexus.rs:7] …: Rust
  /^\[(?<time>\d{4}-\d\d-\d\dT[\d:.]+\S{0,6}) {1,2}(?<level>[A-Z]{4,5}) (?<program>\w[\w:]{0,120}?)(?::(?<source>[\w.]+:\d+))?\] /,
  // [2026-11-22 20:01:02.123456 +0000] E [MSGID: 1] …: GlusterFS
  /^\[(?<time>\d{4}-\d\d-\d\d [\d:.]+)(?: [+-]\d{4})?\] (?<level>[A-Z]) (?=\[)/,
  // 22/11/2026 20:01:02 : epoch 6834745e : host : ganesha.nfsd-7[main] fn :NFS STARTUP :EVENT :…
  /^(?<time>\d\d\/\d\d\/\d{4} \d\d:\d\d:\d\d) : epoch [\da-f]{1,16} : (?<host>[\w.-]{1,253}) : (?<program>[\w.-]{1,60}?)-\d+\[\w+\] \w{1,60} :[A-Z ]{1,20} :(?<level>[A-Z]{3,5}) : */,
  // [Jul 14 2026 20:01:02 GMT+0800] pod: …
  /^\[\w{3} \d{1,2} \d{4} [\d:]+(?: GMT[+-]\d{4})?\] [\w.-]{1,253}: /,
  // 2026/11/22 20:01:02.123456 …: the log of Go; … juicefs[7] <ERROR>: …
  /^(?<time>\d{4}\/\d\d\/\d\d [\d:.]+) (?:(?<program>[a-z][\w-]{0,60})\[\d+\] <(?<level>[A-Z]{4,7})>: )?/,
  // kubectl logs --timestamps, and what wrote its own time
  /^(?<time>\d{4}-\d\d-\d\d[T ][\d:.,]+(?:Z|[+-][\d:]{4,6}| UTC)?)\s+/,
  // … of a pod, by its name alone
  /^\[[\w./-]{1,253}\] (?=time=|level=|ts=|\{)/,
  // [pvc-UID-e-0] …: an engine or replica of Longhorn
  /^\[(?<engine>pvc-[\da-f-]{36}-[er]-[\da-z-]{1,40})\] /,
  // a time of day alone, and the thread that wrote: 20:01:02.526 [Worker-3] INFO …; or klog's header without its letter
  /^(?<time>\d\d:\d\d:\d\d[.,]\d+) (?:(?:\[[\w-]{1,63}\] )?(?=[A-Z]{4,5} )| *\d+ (?=[\w./-]+\.go:\d+\]))/,
  // "- INFO - ", "ERROR  ", and once more a time behind it
  /^(?:\[[\w-]{1,63}\] (?=[A-Z]{4,5} ))?(?:- )?\[?(?<level>DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|CRITICAL|FATAL)\]?(?:\[\d{1,9}\])?(?: -|:)?\s+/,
  /^(?<level>[DIWEF]) \| /,
  /^(?<level>debug|verbose|info): (?=\S)/,
  // WARN[0435] …: logrus on a terminal
  /^(?<level>DEBU|INFO|WARN|ERRO|FATA)\[\d{1,9}\] +/,
  // ceph writes a thread and a depth behind its time
  /^(?:debug )?(?<time>\d{4}-\d\d-\d\d[T ][\d:.,]+(?:Z|[+-][\d:]{4,6})?)\s+(?:[\da-f]{12} {1,2}-?\d{1,2} )?/,
  // node.go:88: [INFO] …
  /^(?<source>[\w./@-]{1,100}\.go:\d+): \[(?<level>[A-Z]{4,8})\] /,
  // a header of klog whose beginning was not copied
  /^(?:\d{1,8} )?(?<source>[\w./@-]+\.go:\d+)(?:\]|\s)\s*/,
]

/** The rest of the line, and what the layers say: time and host of the outermost one, the program of the innermost. */
export function takePrefix(line: string): { readonly prefix: Prefix; readonly rest: string } {
  let rest = line
  let prefix: Prefix = {}
  for (const layer of LAYERS) {
    const match = layer.exec(rest.slice(0, HEAD_CHARS))
    if (match === null) continue
    const { kernel, engine, time = kernel, host, level, source } = { ...match.groups }
    const program = match.groups?.program ?? (kernel && 'kernel') ?? (engine && 'longhorn-engine')
    const severity = level === undefined ? undefined : severityOfLevel(level)
    prefix = { ...defined({ time, host }), ...prefix, ...defined({ program, severity, source }) }
    rest = rest.slice(match[0].length)
  }
  return { prefix, rest }
}
