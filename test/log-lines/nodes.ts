/** Nodes in the states that lines are about. */
import { claimOf, type NodeBuilder, node, uid } from '../helpers/node-builder.ts'

export const GONE = uid(9)
export const LIVING = uid(1)

/** A pod that was deleted, and its volume: published, staged, attached. */
export function orphan(): NodeBuilder {
  return node().left(GONE)
}

/** web-0 wants its volume, which is attached and not mounted. */
export function unmounted(): NodeBuilder {
  return node().persistentVolume('pv-1').pod(LIVING, 'web-0', [claimOf()], { phase: 'Pending' })
}

/** The same, and the volume is not attached. */
export function unattached(): NodeBuilder {
  return node().persistentVolume('pv-1', { attached: false }).pod(LIVING, 'web-0', [claimOf()], { phase: 'Pending' })
}

export function withoutDriver(): NodeBuilder {
  const built = unmounted().with({ csiSockets: [] })
  return built
}

/** web-0 wants a config map that does not exist. */
export function contentMissing(): NodeBuilder {
  const config = { name: 'config', configMap: { name: 'web-config' } }
  const built = node().pod(LIVING, 'web-0', [config], { phase: 'Pending' })
  const missing = { resource: 'configmaps', namespace: 'default', name: 'web-config' }
  built.withApi({ errors: [{ ...missing, status: 404, reason: 'NotFound', message: 'not found' }] })
  return built
}

/** The volume is attached, and no pod of this node wants it. */
export function unwanted(): NodeBuilder {
  return node().persistentVolume('pv-1')
}
