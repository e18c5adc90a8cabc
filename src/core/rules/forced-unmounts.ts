/** What a forced or a lazy unmount would take from others (S19, S20). */

import { ofTheNode } from '../linux/mount-namespaces.ts'
import type { MountInfo } from '../linux/mount-table.ts'
import { goesWith } from '../linux/propagation.ts'
import { describeProcess, userAmong } from '../users/describe-holders.ts'
import { fileSystemsAt } from '../users/find-holders.ts'
import { describeMount, expectedIds } from './expected-mounts.ts'
import type { MachineFacts, Verdict } from './machine-facts.ts'

/** S19: a forced umount ends the connection of every mount of this file system, in every namespace. */
export function sharedConnection(facts: MachineFacts): Verdict | undefined {
  const { around, operation, context } = facts
  const own = expectedIds(operation)
  for (const layer of layersToUnmount('force', facts)) {
    const here = around.table
      .ofDevice(layer.dev)
      .find((mount) => !own.has(mount.id) && !goesWith(around.table, layer, mount))
    const elsewhere = ofTheNode(around.others).find(({ table }) => table.ofDevice(layer.dev).length > 0)
    const who =
      (here && describeMount(here)) ??
      (elsewhere && `the mount namespace of ${describeProcess(elsewhere, context.nameOf)}`)
    if (who === undefined) continue
    const message = `a forced unmount of ${layer.mountPoint} would also cut off ${who}`
    return { code: 'SharedConnection', message }
  }
  return undefined
}

/** S20: lazily only if the mount is shown to be dead, and nobody holds it. */
export async function aliveOrHeld(facts: MachineFacts): Promise<Verdict | undefined> {
  const { host, waiting, around, context } = facts
  for (const layer of layersToUnmount('lazy', facts)) {
    const { mountPoint: path } = layer
    // For a dead mount this check takes its whole limit, which does not count as waiting of the operation.
    if (!(await host.isDead(layer, Math.min(waiting.limitMs, 5000))))
      return { code: 'FlagWithoutEffect', message: `${path} answers, so it is not dead` }
    const { table, others, loops } = around
    const uses = await around.uses({ fileSystems: fileSystemsAt(table, [path]) })
    // A copy in another namespace is a separate mount, and is not touched.
    const holders = { ...host.findHolders({ table, paths: [path], others, loops, uses }), namespaces: [] }
    const user = userAmong(holders, context.nameOf)
    if (user === undefined) continue
    if ('who' in user) return { code: 'HeldBy', message: `${path} is held by ${user.who}`, users: user.users ?? [] }
    return {
      code: 'UsersUnknown',
      message: `the holders of ${path} could not be determined: ${user.text}`,
      hint: `volctl unmounts nothing lazily that may be in use. ${user.hint}`,
    }
  }
  return undefined
}

function layersToUnmount(how: 'force' | 'lazy', { operation, around }: MachineFacts): MountInfo[] {
  const steps = operation.steps.filter(({ op, detail }) => op === 'umount' && detail === how)
  return [...new Set(steps.map(({ target }) => target))].flatMap((target) => around.table.top(target) ?? [])
}
