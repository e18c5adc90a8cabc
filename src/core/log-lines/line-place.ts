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
    return { otherNode: { name: other, says: bothText(line, other, snapshot) }, elsewhere: false }
  }
  if (WAITS.test(line.said))
    return elsewhere(
      other,
      `node ${other} waits for the volume, and another node still has it: kubectl get volumeattachments shows which; what keeps the volume is there`,
    )
  return elsewhere(other, `the line is about node ${other}, and this one is ${nodeName}: run volctl explain there`)
}

/** The controller writes "from node X" of the node that wants the volume (R742). */
const WAITS = /multi-attach error.* from node/i

/** Who has the volume, and who waits for it, where the line says so (R742): what keeps a volume is where the volume is. */
function bothText({ said, values }: LogLine, other: string, snapshot: NodeSnapshot): string {
  const { nodeName } = snapshot
  const [, listed = ''] = /\battached to node ["']?([a-z0-9][a-z0-9.-]{0,252})/.exec(said) ?? []
  const holder = (listed || (values.get('attachedTo') ?? '').replaceAll(/[[\]"]/g, '')).replace(/\.$/, '')
  if (holder === other)
    return `node ${other} has the volume, and this one, ${nodeName}, waits for the volume: what keeps the volume is on ${other}; run volctl explain there too`
  if (holder !== '' && isThisNode(snapshot, holder))
    return `node ${other} waits for the volume, and this one, ${nodeName}, has the volume: what keeps the volume is here`
  return `the line also names node ${other}; this one is ${nodeName}: run volctl explain on both`
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
