/** Advice with the names of the line in it: "nc -vz nas-1 2049" says more than "nc -vz SERVER 2049". */
import { onceFor } from '../lang/once-for.ts'
import { isPlainWord } from '../lang/plain-word.ts'
import type { VolumeRef } from '../plan/operation-shape.ts'
import type { LogLine } from './log-line.ts'
import { namesIn } from './take-names.ts'

/** Where a line names a thing that is no object of the API or of the node. */
const PLACES: Readonly<Record<string, readonly RegExp[]>> = {
  // "-t nfs nas-1:/export", "//nas-1/share", "nfs: server nas-1 not responding", "portal 10.0.0.7:3260"
  server: [
    /\bserver "?([\w.-]+)"? (?:not responding|timed out|has not|ok|mnt|requires)/,
    /\b(?:nfs: server|server:?) "?(\d+(?:\.\d+){3}|(?<=nfs: server )[\w.-]+)/,
    // The first monitor of "10.0.0.7:6789,10.0.0.8:6789:/".
    /(?<![\w/.:])([\w-]+(?:\.[\w-]+)*):\d+(?:,[\w.:,-]+)?:\/(?!\/)/,
    /(?<![\w/.:])(\[[\da-f:]+\]|[\w-]+(?:\.[\w-]+)*):\/(?!\/)/,
    /(?<![\w:])\/\/([\w.-]+)\//,
    /\b(?:portal|target portal|connect to|connection to)[: ]+"?(\d+(?:\.\d+){3})/,
  ],
  class: [/\b[Ss]torage ?[Cc]lass(?:es)?(?:\.storage\.k8s\.io)? "([^"]+)"/],
  path: [/(?<=^|[\s"'(=:])(\/[^\s"'`:;,)]+)/],
}

/** Which pod of a driver a call goes to: the node's own, or its controller, beside which attacher, provisioner and resizer run. */
const DRIVERS_PODS: readonly (readonly [call: RegExp, pod: string])[] = [
  [
    /mountvolume|mapvolume|mountdevice|setup|teardown|mapper|\bnode(?:un)?(?:publish|stage|expand|get)/i,
    'its pod on {node}',
  ],
  [/attach|provision|createvolume|deletevolume|resiz|expand|snapshot|controller(?:un)?publish/i, 'its controller'],
]

/** The others are kinds of LineName. */
const SLOT = /\{(server|class|path|driversPod|device|persistentVolume|attachment|driver)\|([^}]*)\}/g

/** The texts of an answer, each with its slots, are of one line. */
const namesOf = onceFor(namesIn)

/** What the node knows of the volume that the line is about. */
export type KnownVolume = Pick<VolumeRef, 'device' | 'persistentVolume'>

/**
 * @param line absent: no line was given, and the words behind the bar stay
 * @param volume what is asked where the line itself names no device or PersistentVolume
 */
export function fill(text: string, line: LogLine | undefined, volume: KnownVolume = {}): string {
  if (line === undefined) return text.replaceAll(SLOT, '$2')
  const known = new Map([
    ['persistentVolume', volume.persistentVolume],
    ['device', volume.device?.match(/ (\/dev\/.*)/)?.[1]],
  ])
  return text.replaceAll(SLOT, (_, kind: string, otherwise: string) => {
    if (kind === 'driversPod') return DRIVERS_PODS.find(([call]) => call.test(line.said))?.[1] ?? otherwise
    const found = placed(kind, line) ?? namesOf(line).find((each) => each.kind === kind)?.name ?? known.get(kind)
    return found !== undefined && (kind === 'server' || isPlainWord(found)) ? found : otherwise
  })
}

function placed(kind: string, { said }: Pick<LogLine, 'said'>): string | undefined {
  for (const pattern of PLACES[kind] ?? []) {
    const found = pattern.exec(said)?.[1]
    if (found !== undefined && found.length <= LONGEST) return found
  }
  return undefined
}

const LONGEST = 200

/** Is a server in it, which no object of the API names? */
export function namesServer(line: Pick<LogLine, 'said'>): boolean {
  return placed('server', line) !== undefined
}
