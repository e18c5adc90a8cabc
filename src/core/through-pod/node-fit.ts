/** Whether a Pod would start on a node, by its Node object. Pure. */
import { VolctlError } from '../errors/errors.ts'
import { kept, keptList, keptRecord, needed, nullable, type ShapeOf, text } from '../json/shape.ts'

export const nodeShape = kept({
  metadata: needed(kept({ labels: keptRecord(text) })),
  status: kept({
    conditions: keptList(
      kept({
        type: needed(text),
        status: needed(text),
        reason: text,
        message: text,
        lastTransitionTime: nullable(text),
      }),
    ),
  }),
})

export interface NodeToRunOn extends ShapeOf<typeof nodeShape> {}

/** Does not keep a Pod in the node's own network from starting. */
const NETWORK_ONLY = 'container runtime network not ready'

/** @throws VolctlError PodNotStarted. @param command of the node, for the message */
export function requireFit(name: string, node: NodeToRunOn, command: string): void {
  const hint = `Log in, and run the executable there: ssh ${name} sudo volctl ${command}`
  if (node.metadata.labels?.['kubernetes.io/os'] === 'windows')
    throw new VolctlError('PodNotStarted', `${name} is a Windows node, and volctl is for Linux`)
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready')
  if (ready?.status === 'True') return
  const { status, message = '', lastTransitionTime } = ready ?? {}
  if (status === 'False' && message.includes(NETWORK_ONLY) && !message.includes('PLEG')) return
  const since = lastTransitionTime ? ` since ${lastTransitionTime}` : ''
  const why = status === 'False' ? `: ${message || 'the kubelet says so'}` : ': its kubelet does not report'
  throw new VolctlError('PodNotStarted', `${name} is not ready${since}${why}. No Pod would start there`, { hint })
}
