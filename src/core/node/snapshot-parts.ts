/** Sections of a snapshot that a whole look and doctor's, of which any part may fail, make in the same way. */
import type { ApiSnapshot, KubeletSnapshot, NodeSnapshot } from '../model/snapshot.ts'
import { allDoubts } from '../trust/doubts.ts'
import { withSignsOfLife } from './kubelet/signs-of-life.ts'
import type { LocatedNode } from './locate-node.ts'

type Heading = Pick<NodeSnapshot, 'apiVersion' | 'kind' | 'capturedAt' | 'nodeName' | 'rootDir'>

/** @param capturedAt RFC 3339 */
export function headingOf({ nodeName, rootDir }: LocatedNode, capturedAt: string): Heading {
  return { apiVersion: 'volctl.io/v1', kind: 'NodeSnapshot', capturedAt, nodeName, rootDir }
}

/** What was not trusted so far. Of a test's host only doubts about files count: processes and ports are this machine's. */
export function doubtsOf({ places }: LocatedNode): Pick<NodeSnapshot, 'notBelieved'> {
  const doubts = allDoubts().filter(({ what }) => places === undefined || what.startsWith('/'))
  return doubts.length > 0 ? { notBelieved: doubts } : {}
}

/** The kubelet as the host shows it, with what the API server saw of it, and the name that it gives its node. */
export function kubeletOf(
  { ownName }: LocatedNode,
  local: KubeletSnapshot,
  api: ApiSnapshot | undefined,
  capturedAt: string,
): KubeletSnapshot {
  const named = ownName === undefined ? {} : { nodeName: ownName.name, nodeNameFrom: ownName.from }
  return { ...withSignsOfLife(local, api, Date.parse(capturedAt)), ...named }
}
