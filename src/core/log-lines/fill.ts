/** Advice with the names of the line in it: "nc -vz nas-1 2049" says more than "nc -vz SERVER 2049". */
import type { LogLine } from './log-line.ts'

/** Where a line names a thing that is no object of the API or of the node. */
const PLACES = {
  // "-t nfs nas-1:/export", "//nas-1/share", "nfs: server nas-1 not responding", "portal 10.0.0.7:3260"
  server: [
    /\bserver "?([\w.-]+)"? (?:not responding|timed out|has not|ok|mnt|requires)/,
    /(?<![\w/.])(\[[\da-f:]+\]|[\w-]+(?:\.[\w-]+)*):\/(?!\/)/,
    /(?<![\w:])\/\/([\w.-]+)\//,
    /\b(?:portal|target portal|connect to|connection to)[: ]+"?(\d+(?:\.\d+){3})/,
  ],
  class: [/\b[Ss]torage ?[Cc]lass(?:es)?(?:\.storage\.k8s\.io)? "([^"]+)"/],
  path: [/(?<=^|[\s"'(=:])(\/[^\s"'`:;,)]+)/],
} as const satisfies Readonly<Record<string, readonly RegExp[]>>

const SLOT = /\{(server|class|path)\|([^}]*)\}/g

/** @param line absent: no line was given, and the words behind the bar stay */
export function fill(text: string, line: Pick<LogLine, 'said'> | undefined): string {
  return text.replaceAll(SLOT, (_, kind: keyof typeof PLACES, otherwise: string) => named(kind, line) ?? otherwise)
}

function named(kind: keyof typeof PLACES, line: Pick<LogLine, 'said'> | undefined): string | undefined {
  if (line === undefined) return undefined
  for (const pattern of PLACES[kind]) {
    const found = pattern.exec(line.said)?.[1]
    if (found !== undefined && found.length <= LONGEST) return found
  }
  return undefined
}

const LONGEST = 200

/** Is a server in it, which no object of the API names? */
export function namesServer(line: Pick<LogLine, 'said'>): boolean {
  return named('server', line) !== undefined
}
