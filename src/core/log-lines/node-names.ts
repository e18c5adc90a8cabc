/** Names of a line on a node: what explain knows of them; nodes, config maps and secrets, which it does not explain; what is absent. */
import { readFailures } from '../desired/read-failures.ts'
import { VolctlError } from '../errors/errors.ts'
import { type Explained, explainer } from '../explain/explain.ts'
import { onceFor } from '../lang/once-for.ts'
import type { NodeState } from '../model/node-state.ts'
import type { NodeSnapshot } from '../model/snapshot.ts'
import type { Given } from '../plan/next-steps.ts'
import type { Decided } from '../reconcile/decisions.ts'
import type { NameView } from './line-explanation.ts'
import type { LineName, NameKind } from './line-name.ts'
import { isThisNode } from './line-place.ts'
import { type AskedScope, asksFor } from './name-answers.ts'

/** One look at a node, for several lines about it. */
export interface AskedNode {
  readonly state: NodeState
  /** @throws VolctlError NotFound, AmbiguousName */
  readonly explain: (what: string) => Explained
}

/** @param decided the pass over it @param given what proposed commands are made of */
export function askedNode(state: NodeState, decided: Decided, given?: Given): AskedNode {
  const made = onceFor((of: Decided) => explainer(of, given))
  const answers = new Map<string, Explained | VolctlError>()
  const explain = (what: string): Explained => {
    const answer = answers.get(what) ?? answered(() => made(decided)(what))
    answers.set(what, answer)
    if (answer instanceof VolctlError) throw answer
    return answer
  }
  return { state, explain }
}

function answered(ask: () => Explained): Explained | VolctlError {
  try {
    return ask()
  } catch (error) {
    if (error instanceof VolctlError) return error
    throw error
  }
}

/** @param there the other node that the line is about: what is local to it is not looked for */
export function askedOn({ state, explain }: AskedNode, there?: string): AskedScope<Explained> {
  return {
    explain,
    told: ({ explanation }) => explanation,
    volumeOf: ({ explanation: { subject, volumes } }) =>
      subject.kind === 'Pod' || volumes.length !== 1 ? undefined : volumes[0]?.volume.uniqueName,
    hasVolumes: ({ explanation }) => explanation.volumes.length > 0,
    asksFor: (name) => asksFor(name, there === undefined),
    unasked: (name) => objectState(state, name) ?? (there === undefined ? undefined : elsewhereState(name, there)),
    absentText: (name) => notFoundText(state, name),
    command: 'volctl explain',
  }
}

/** Of a node, a config map or a secret; undefined for what explain knows. */
function objectState({ snapshot }: NodeState, { kind, name }: LineName): State | undefined {
  if (kind === 'node') return nodeState(snapshot, name)
  return kind === 'configMap' || kind === 'secret' ? contentState(snapshot, kind, name) : undefined
}

type State = Pick<NameView, 'found' | 'says'>

function nodeState(snapshot: NodeSnapshot, name: string): State {
  if (isThisNode(snapshot, name)) return { found: true, says: 'this node' }
  return { found: false, says: `another node; this one is ${snapshot.nodeName}` }
}

/** Only those that pods of this node use are read. */
function contentState({ api }: NodeSnapshot, kind: 'configMap' | 'secret', name: string): State {
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
function elsewhereState({ kind }: LineName, there: string): State | undefined {
  return LOCAL.includes(kind) ? { found: false, says: `it is on ${there}, and was not looked for here` } : undefined
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
function notFoundText({ snapshot }: NodeState, { kind }: LineName): string {
  const absent = ABSENT[kind] ?? 'not found'
  const failures =
    snapshot.api === undefined ? [] : readFailures(snapshot.api.errors).filter(({ notFound }) => !notFound)
  if (snapshot.api !== undefined && failures.length === 0) return absent
  return `${absent}; but not everything in the API could be read`
}
