/** Wordings that several findings share. */
import { firstFew } from '../../lang/first-few.ts'

const MOST_NODES = 5

/** `node a`; `nodes a, b`; `nodes a, b, c, d, e, and 3 more`. */
export function nodesText(nodes: readonly string[], most = MOST_NODES): string {
  return `${nodes.length === 1 ? 'node' : 'nodes'} ${firstFew(nodes, most, 'and ').join(', ')}`
}

/** Of an object that is being deleted: `, held by FINALIZER`, or nothing. */
export function heldBy(finalizers: readonly string[] | undefined): string {
  return finalizers === undefined || finalizers.length === 0 ? '' : `, held by ${finalizers.join(', ')}`
}
