/** A plugin of kubectl runs on workstations, which are no nodes: said at once, with what to do there. */
import { existsSync } from 'node:fs'
import { VolctlError } from '../errors/errors.ts'
import { places } from '../node/places.ts'
import { isPlugin, PLUGIN } from '../trust/called-as.ts'
import type { NodeChoice } from './node-flags.ts'

/** @throws VolctlError NoNodeHere */
export async function requireNodeHere({ hostRoot, rootDir, node = 'NODE' }: NodeChoice): Promise<void> {
  if (!isPlugin() || hostRoot !== undefined || rootDir !== undefined) return
  if (places() !== undefined) return
  const { KNOWN_ROOT_DIRS } = await import('../node/kubelet/find-kubelet.ts')
  if (KNOWN_ROOT_DIRS.some((path) => existsSync(path))) return
  throw new VolctlError('NoNodeHere', 'this machine is no node: there is no kubelet here', {
    hint: `Name the node, as in ${PLUGIN} on ${node} plan; or give a snapshot of the node with --snapshot.`,
  })
}
