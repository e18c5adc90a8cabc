import { existsSync } from 'node:fs'
import { formatDuration } from '../base/duration.ts'
import { VolctlError } from '../base/errors.ts'
import type { CollectedNode, CollectOptions } from '../node/collect-node.ts'
import { places } from '../node/places.ts'
import { caller } from '../trust/caller.ts'
import { programName } from '../trust/own-program.ts'
import { Redrawn } from '../views/redrawn.ts'
import type { NodeChoice } from './options.ts'
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

  constructor(choice: NodeChoice, log: Log, attributes: CollectOptions['attributes'] = 'plan') {
    this.#choice = choice
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
  throw new VolctlError('NoNodeHere', 'this machine is no node: there is no kubelet here')
}
