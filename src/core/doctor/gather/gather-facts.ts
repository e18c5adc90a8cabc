/**
 * Reads everything that `volctl doctor` judges, part by part: what plan gives up at is what doctor goes on after. The disk is
 * read before the API server is asked, so that a pod on disk that the list lacks is older than the list (R804).
 */
import { defined } from '../../lang/defined.ts'
import type { NodeState } from '../../model/node-state.ts'
import { type Attempt, lookAt } from '../../node/collect-node.ts'
import type { KubeletChoice } from '../../node/kubelet/find-kubelet.ts'
import { locateNode } from '../../node/locate-node.ts'
import { readMountTable } from '../../node/read-mountinfo.ts'
import type { DoctorFacts, Failure, Source } from '../facts.ts'
import { attempt, resultOf } from './attempt.ts'
import { type ApiChoice, gatherApi } from './gather-api.ts'
import { gatherHost } from './gather-host.ts'

/** Parts of a look whose failure a check reports; of the others, that the section is missing. */
const TOLD: ReadonlySet<string> = new Set<Source>(['mountinfo', 'tree', 'runtime', 'csiSockets', 'kubelet'])

/**
 * The facts of this node.
 *
 * @throws WrongNamespace where root has to enter another mount namespace first (S6)
 */
export async function gatherFacts(
  choice: KubeletChoice & ApiChoice & { readonly hostRoot?: string | undefined },
): Promise<DoctorFacts> {
  const { log = () => undefined, hostRoot } = choice
  const failures: Partial<Record<Source, Failure>> = {}
  const located = await attempt(() => locateNode(choice))
  const node = resultOf(located)
  log(`node ${node?.nodeName ?? located.failure?.message}`)
  if (node === undefined) {
    const table = await attempt(readMountTable)
    const { facts, failures: ofApi } = await gatherApi(choice, undefined)
    const host = await gatherHost(undefined, resultOf(table), undefined, hostRoot)
    Object.assign(failures, defined({ node: located.failure, mountinfo: table.failure }), ofApi)
    return { source: 'node', failures, api: facts, host }
  }
  /** A section that cannot be read is missing. */
  const noting: Attempt = async (part, read) => {
    const tried = await attempt(read)
    if (tried.failure !== undefined && TOLD.has(part)) failures[part as Source] = tried.failure
    return resultOf(tried)
  }
  let asked: Awaited<ReturnType<typeof gatherApi>> | undefined
  const { snapshot, mounts } = await lookAt(node, { attributes: 'plan', log }, noting, async (disk) => {
    await disk.read()
    asked = await gatherApi(choice, node)
    return asked.api
  })
  if (asked === undefined) throw new Error('the API was not asked')
  const table = failures.mountinfo === undefined ? mounts : undefined
  const host = await gatherHost(node, table, snapshot.kubelet?.pid, hostRoot)
  return {
    source: 'node',
    state: { snapshot, mounts },
    failures: { ...failures, ...asked.failures },
    api: asked.facts,
    host,
  }
}

/** A snapshot's facts. */
export function factsOfSnapshot(state: NodeState): DoctorFacts {
  return { source: 'snapshot', state, failures: {} }
}
