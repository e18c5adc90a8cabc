/** The program of a flexVolume driver, by what is installed on the node (P85). */
import type { NodeSnapshot } from '../model/snapshot.ts'

/** @returns its absolute path, or why it cannot be called */
export function flexProgram(
  { flexDrivers }: Pick<NodeSnapshot, 'flexDrivers'>,
  plugin: string,
): { readonly executable: string } | { readonly why: string } {
  const driver = flexDrivers?.find(({ name }) => name === plugin)
  if (driver !== undefined && driver.error === undefined) return { executable: driver.executable }
  if (flexDrivers === undefined) return { why: 'was not searched for' }
  if (driver === undefined) return { why: 'is not installed on this node' }
  return { why: `cannot be run: ${driver.executable}: ${driver.error}` }
}
