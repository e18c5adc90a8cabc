/** Names that are nothing on this node, and names of what explain does not explain: nodes, config maps, secrets. */
import { readFailures } from '../desired/read-failures.ts'
import type { NodeState } from '../model/node-state.ts'
import type { NodeSnapshot } from '../model/snapshot.ts'
import type { NameView } from './line-explanation.ts'
import type { LineName, NameKind } from './line-name.ts'
import { isThisNode } from './line-place.ts'

/** Of a node, a config map or a secret; undefined for what explain knows. */
export function objectAnswer({ snapshot }: NodeState, { kind, name }: LineName): NameView | undefined {
  if (kind === 'node') return { kind, name, ...nodeState(snapshot, name) }
  if (kind === 'configMap' || kind === 'secret') return { kind, name, ...objectState(snapshot, kind, name) }
  return undefined
}

type State = Pick<NameView, 'found' | 'says'>

function nodeState(snapshot: NodeSnapshot, name: string): State {
  if (isThisNode(snapshot, name)) return { found: true, says: 'this node' }
  return { found: false, says: `another node; this one is ${snapshot.nodeName}` }
}

/** Only those that pods of this node use are read. */
function objectState({ api }: NodeSnapshot, kind: 'configMap' | 'secret', name: string): State {
  const own = name.slice(name.indexOf('/') + 1)
  const namespace = name.includes('/') ? name.slice(0, name.indexOf('/')) : undefined
  const isIt = (found: { readonly name?: string | undefined; readonly namespace?: string | undefined }): boolean =>
    found.name === own && (namespace === undefined || (found.namespace ?? 'default') === namespace)
  const objects = kind === 'configMap' ? api?.configMaps : api?.secrets
  if (objects?.some(({ metadata }) => isIt(metadata)) === true) return { found: true, says: 'is in the API' }
  const failure = api?.errors.find((error) => error.resource === `${kind.toLowerCase()}s` && isIt(error))
  if (failure?.status === 404) return { found: false, says: 'does not exist in the API' }
  if (failure !== undefined) return { found: false, says: `could not be read: ${failure.reason}` }
  return { found: false, says: 'no pod of this node refers to it now' }
}

const LOCAL: readonly NameKind[] = ['path', 'device', 'driver']

/** Of what each node has its own; undefined for what the API knows. */
export function elsewhereAnswer({ kind, name }: LineName, there: string): NameView | undefined {
  if (!LOCAL.includes(kind)) return undefined
  return { kind, name, found: false, says: `it is on ${there}, and was not looked for here` }
}

const ABSENT: Readonly<Record<string, string>> = {
  podVolume: 'no volume of this name in the API or on this node',
  volume: 'no pod of this node wants this volume, and nothing of it is on the node',
  attachment: 'no such VolumeAttachment any more',
  path: 'nothing of a volume is there now',
  device: 'no mount and no volume of this node is on it',
  persistentVolume: 'no such PersistentVolume in the API, and nothing of it on this node',
  claim: 'no such claim in the API',
  driver: 'no CSI driver of this name in the API or on this node',
  podUid:
    "no such pod of this node in the API or on its disk: the directory was removed meanwhile, or it is another node's",
  pod: 'no such pod of this node in the API or on its disk',
}

/** What could not be read may be there (S3). */
export function notFoundText({ snapshot }: NodeState, { kind }: LineName): string {
  const absent = ABSENT[kind] ?? 'not found'
  const failures =
    snapshot.api === undefined ? [] : readFailures(snapshot.api.errors).filter(({ notFound }) => !notFound)
  if (snapshot.api !== undefined && failures.length === 0) return absent
  return `${absent}; but not everything in the API could be read`
}
