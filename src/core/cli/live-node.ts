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

export interface LookOptions extends Pick<CollectOptions, 'attributes' | 'signal' | 'stopped'> {
  readonly log: Log
  /** Its connections are used again. */
  readonly before?: CollectedNode | undefined
}

type Log = (line: string) => void

/**
 * One look at this node. Where volctl is in another mount namespace than the kubelet, or `--host-root` says that it
 * runs in a container, it runs again where it has to be.
 *
 * @throws Reentered when that run has ended
 */
export async function lookAtNode(choice: NodeChoice, options: LookOptions): Promise<CollectedNode> {
  const { log, before, ...how } = options
  const { collectNode } = await import('../node/collect-node.ts')
  const look = async (): Promise<CollectedNode> => {
    const looked = await watched(log, (line) =>
      collectNode({
        ...choice,
        ...how,
        log: line,
        client: before?.client,
        kubeletClient: before?.kubeletClient,
        kubeletUnused: before?.kubeletUnused,
      }),
    )
    return choice.hostRoot === undefined ? looked : await fromContainer(looked, choice.hostRoot)
  }
  return before === undefined ? await whereTheNodeIs(choice, look) : await look()
}

/** What the container itself would hold keeps volctl from changing anything, and says nothing of who uses it on the node. */
async function fromContainer(looked: CollectedNode, hostRoot: string): Promise<CollectedNode> {
  const { copiesObstacle } = await import('../node/private-copies.ts')
  const { node, mounts } = looked
  const copies = copiesObstacle(mounts, node.rootDir, hostRoot)
  return copies === undefined ? looked : { ...looked, node: { ...node, standing: [...node.standing, copies] } }
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

/** Closes what a look has opened. */
export function leaveNode(node: CollectedNode | undefined): void {
  node?.client.close()
  node?.kubeletClient?.close()
}

/** @throws VolctlError NoNodeHere */
export async function requireNodeHere({ hostRoot, rootDir }: NodeChoice): Promise<void> {
  if (programName() === 'volctl' || hostRoot !== undefined || rootDir !== undefined) return
  if (places() !== undefined) return
  const { KNOWN_ROOT_DIRS } = await import('../node/kubelet/find-kubelet.ts')
  if (KNOWN_ROOT_DIRS.some((path) => existsSync(path))) return
  throw new VolctlError('NoNodeHere', 'this machine is no node: there is no kubelet here')
}
