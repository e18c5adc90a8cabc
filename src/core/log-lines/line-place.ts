/** Where a line was written, and which node it is about: what is local to another node is not looked for on this one. */
import type { NodeSnapshot } from '../model/snapshot.ts'
import { canonicalNodeName } from '../node/kubelet/canonical-node-name.ts'
import type { LineAnswer } from './line-explanation.ts'
import type { LogLine } from './log-line.ts'
import type { LineName } from './take-names.ts'

export interface LinePlace {
  readonly otherNode?: NonNullable<LineAnswer['otherNode']>
  /** The line is another node's alone. */
  readonly elsewhere: boolean
}

export function placeOf(line: LogLine, names: readonly LineName[], snapshot: NodeSnapshot): LinePlace {
  const { host, program = '' } = line
  const { nodeName } = snapshot
  const named = names.filter(({ kind }) => kind === 'node').map(({ name }) => name)
  const other = named.find((name) => !isThisNode(snapshot, name))
  const own = named.some((name) => isThisNode(snapshot, name))
  // kubelet, kubelet.service, snap's kubelite, a wrapper of a distribution.
  const isKubelets = /kubel(?:et|ite)/.test(program)
  // A controller writes on its own host about all nodes.
  if (host !== undefined && !isThisNode(snapshot, host) && (isKubelets || !own))
    return elsewhere(host, `this line was written on ${host}, and this is ${nodeName}: run volctl there`)
  if (other === undefined) return { elsewhere: false }
  // A kubelet writes about its own node; drivers call that by the cloud's name for it.
  if (own || (isKubelets && host !== undefined)) {
    const says = `the line also names node ${other}; this one is ${nodeName}: run volctl explain on both`
    return { otherNode: { name: other, says }, elsewhere: false }
  }
  return elsewhere(other, `the line is about node ${other}, and this one is ${nodeName}: run volctl explain there`)
}

function elsewhere(name: string, says: string): LinePlace {
  return { otherNode: { name, says }, elsewhere: true }
}

/** By the name of the node, or of its host: with --hostname-override the two differ. */
export function isThisNode({ nodeName, api }: NodeSnapshot, name: string): boolean {
  const { metadata, status } = api?.node ?? {}
  const addresses = (status?.addresses ?? []).filter(({ type }) => type === 'Hostname')
  const own = [nodeName, metadata?.labels?.['kubernetes.io/hostname'], ...addresses.map(({ address }) => address)]
  return own.some((each) => each !== undefined && sameName(canonicalNodeName(each), canonicalNodeName(name)))
}

/** With its domain or without. */
function sameName(a: string, b: string): boolean {
  return a === b || a.startsWith(`${b}.`) || b.startsWith(`${a}.`)
}
