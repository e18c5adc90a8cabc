import { existsSync } from 'node:fs'
import { formatDuration } from '../base/text.ts'
import { missingCapabilities } from '../linux/capabilities.ts'
import { plainPath } from '../linux/paths.ts'
import type { StandingObstacle } from '../linux/standing.ts'
import { said, usageError, VolctlError } from '../messages/findings.ts'
import type { CollectedNode, CollectOptions } from '../node/collect-node.ts'
import { places } from '../node/places.ts'
import { TAKING_AWAY } from '../plan/kinds.ts'
import type { PlanOptions } from '../plan/plan.ts'
import { type Decided, decideNode } from '../reconcile/plan-node.ts'
import type { Witness } from '../rules/machine-facts.ts'
import { judgeWitnesses } from '../rules/pods/witnesses.ts'
import { programName } from '../trust/own-program.ts'
import { caller } from '../trust/run.ts'
import { Redrawn } from '../views/redrawn.ts'
import { ActualInputs } from '../volumes/on-disk/actual-inputs.ts'
import type { InUse, NodeSnapshot, NodeState } from '../volumes/snapshot.ts'
import { type NodeChoice, nodeChoice, type PlaceFlagValues } from './options.ts'
import { watchedTerminal } from './output.ts'

/** volctl ran again inside the right mount namespace (S6), and this is how that run ended. */
export class Reentered extends Error {
  readonly status: number

  constructor(status: number) {
    super('volctl ran in another mount namespace')
    this.status = status
  }
}

type Log = (line: string) => void

/**
 * Looks at this node, with the connections of those before; what they have opened is closed at the end. Where volctl is in another mount
 * namespace than the kubelet, or `--host-root` says that it runs in a container, the first one runs volctl again where it has to be.
 */
export class NodeLooks implements Disposable {
  readonly #choice: NodeChoice
  readonly #log: Log
  readonly #attributes: CollectOptions['attributes']
  protected last: CollectedNode | undefined

  constructor(flags: PlaceFlagValues, log: Log, attributes: CollectOptions['attributes'] = 'plan') {
    this.#choice = nodeChoice(flags)
    this.#log = log
    this.#attributes = attributes
  }

  /** @param isStopped by volctl: the kubelet of the last look @throws Reentered when that run has ended */
  async look(signal?: AbortSignal, isStopped = false): Promise<CollectedNode> {
    const { last: before } = this
    const { collectNode } = await import('../node/collect-node.ts')
    const stopped = isStopped ? before?.node.kubelet : undefined
    const own = { ...this.#choice, attributes: this.#attributes, signal, stopped, before }
    const look = (): Promise<CollectedNode> => watched(this.#log, (log) => collectNode({ ...own, log }))
    this.last = await (before === undefined ? whereTheNodeIs(this.#choice, look) : look())
    return this.last
  }

  [Symbol.dispose](): void {
    this.last?.client.close()
    this.last?.kubeletClient?.close()
  }
}

/** A look that takes no longer says nothing. */
const QUIET_MS = 1000
const REDRAW_MS = 500

/**
 * On a terminal one line at its bottom shows how long it takes; erased at the end.
 *
 * @param work logs with what it is given, and says what it reads: it continues "Reading"
 * @param terminal undefined: standard error is no terminal, and nobody watches
 */
export async function watched<T>(
  log: Log,
  work: (log: Log, reads: (what: string) => void) => Promise<T>,
  terminal = watchedTerminal(),
): Promise<T> {
  using line = new Redrawn(terminal, '')
  const began = performance.now()
  let reads = 'the API server and this node'
  const timer = setInterval(() => {
    const since = performance.now() - began
    if (since >= QUIET_MS) line.draw(`Reading ${reads}: ${formatDuration(since)}`)
  }, REDRAW_MS)
  timer.unref()
  try {
    return await work(
      (text) => line.leave(() => log(text)),
      (what) => {
        reads = what
      },
    )
  } finally {
    clearInterval(timer)
  }
}

/**
 * Does something in the mount namespace of the node.
 *
 * @param work throws WrongNamespace if this is another one
 * @throws Reentered when volctl has run again there
 */
export async function whereTheNodeIs<T>(choice: NodeChoice, work: () => Promise<T>): Promise<T> {
  const { hostRoot } = choice
  await requireNodeHere(choice)
  const { WrongNamespace } = await import('../node/read-mountinfo.ts')
  // Inside the host the path of `--host-root` means nothing any more.
  if (hostRoot !== undefined && caller() === undefined) {
    const { hostReentry, reenter } = await import('../node/reenter.ts')
    const reentry = hostReentry(hostRoot)
    if (reentry !== undefined) throw new Reentered(await reenter(reentry))
  }
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof WrongNamespace) || process.geteuid?.() !== 0) throw error
    const { reenter } = await import('../node/reenter.ts')
    throw new Reentered(await reenter({ mountNamespace: error.namespace }))
  }
}

/** @throws VolctlError NoNodeHere */
export async function requireNodeHere({ hostRoot, rootDir }: NodeChoice): Promise<void> {
  if (programName() === 'volctl' || hostRoot !== undefined || rootDir !== undefined) return
  if (places() !== undefined) return
  const { KNOWN_ROOT_DIRS } = await import('../node/kubelet/find-kubelet.ts')
  if (KNOWN_ROOT_DIRS.some((path) => existsSync(path))) return
  throw new VolctlError(said('NoNodeHere'))
}

// A look at this node, with who uses what its plan would take away: what a plan calls ready, an apply does.

/**
 * The pass over it, made once more only where something is in use. Where the plan takes nothing away, nothing is read, and this costs
 * nothing but the pass.
 *
 * @param blocked judge blocked operations, too: for a snapshot, from which plans with other flags are made
 * @returns the same look with its section, and what was decided on it
 */
export async function judged(
  node: CollectedNode,
  options: PlanOptions,
  { signal, blocked = false }: { readonly signal?: AbortSignal; readonly blocked?: boolean } = {},
) {
  const free = withInUse(node, [])
  const decided = decideNode(free, options)
  const { plan } = decided
  const taking = plan.operations.filter((each) => TAKING_AWAY.has(each.kind) && (blocked || each.blocked === undefined))
  if (taking.length === 0) return { node: free, decided }
  // Who can only read here does not see who uses what, and apply refuses as a whole.
  if (node.node.standing.length + missingCapabilities().length > 0) return { node, decided: decideNode(node, options) }
  const [{ checkInUse }, { questionsOf }] = await Promise.all([
    import('../rules/in-use.ts'),
    import('./apply-context.ts'),
  ])
  const attachments = node.snapshot.api?.volumeAttachments ?? []
  const { mounts } = node
  const around = { ...questionsOf(() => free), signal, witness: witnessOf(free), attachments, mounts }
  const inUse = await checkInUse(taking, plan, around)
  if (inUse.length === 0) return { node: free, decided }
  const held = withInUse(node, inUse)
  return { node: held, decided: decideNode(held, options) }
}

/** By the look itself. */
function witnessOf({ snapshot, mounts }: NodeState): Witness {
  const { api, runtime, processes = [], nestedProcesses = [] } = snapshot
  const witnesses = judgeWitnesses(new ActualInputs({ snapshot, mounts }))
  const seen = [...processes, ...nestedProcesses, ...(runtime?.pods ?? []).map(({ uid }) => uid)]
  return {
    listed: new Set(),
    alive: new Set(seen.filter((uid) => witnesses.isAlive(uid))),
    blindFor: witnesses.blindFor,
    apiPods: api?.pods ?? [],
  }
}

/** Property by property: the text of the mount table is made when it is asked for. */
function withInUse(node: CollectedNode, inUse: readonly InUse[]): CollectedNode {
  const snapshot: NodeSnapshot = Object.defineProperties({} as NodeSnapshot, {
    ...Object.getOwnPropertyDescriptors(node.snapshot),
    inUse: { value: inUse, enumerable: true },
  })
  return { ...node, snapshot }
}

// The same for a command that looks once, at this node or into a snapshot.

export interface LoadedNode extends NodeState {
  /** The pass over it, by the options that were given. */
  readonly decided: Decided
  /** What volctl cannot see or do from where it stands; of a snapshot nothing is asked. */
  readonly standing: readonly StandingObstacle[]
}

/** One look at the node: this one, with who uses what the plan takes away, or the one in a snapshot. Nothing stays open. */
export async function loadNode(
  flags: PlaceFlagValues,
  log: Log,
  options: PlanOptions,
  attributes?: CollectOptions['attributes'],
): Promise<LoadedNode> {
  const { snapshot } = flags
  if (snapshot !== undefined) {
    const { readSnapshot } = await import('../plan/documents/snapshot-file.ts')
    const state = withChoice(await readSnapshot(snapshot), nodeChoice(flags))
    log(`snapshot ${snapshot} of ${state.snapshot.nodeName}, taken at ${state.snapshot.capturedAt}`)
    return { ...state, decided: decideNode(state, options), standing: [] }
  }
  using looks = new NodeLooks(flags, log, attributes)
  const { node, decided } = await judged(await looks.look(), options)
  return { ...node, decided, standing: node.node.standing }
}

/** `--node` and `--root-dir` must be what the snapshot says: it holds one node. */
export function withChoice(state: NodeState, { nodeName, rootDir }: NodeChoice): NodeState {
  const { snapshot } = state
  if (nodeName !== undefined && nodeName !== snapshot.nodeName)
    throw notInSnapshot('--node', nodeName, snapshot.nodeName)
  if (rootDir !== undefined && plainPath(rootDir) !== plainPath(snapshot.rootDir))
    throw notInSnapshot('--root-dir', rootDir, snapshot.rootDir)
  return state
}

function notInSnapshot(flag: string, given: string, held: string): VolctlError {
  return usageError('Usage.snapshot', `Omit ${flag}, or give the matching snapshot.`, { flag, held, given })
}
