/** Finds what was on this machine before a node is made on it (strangers.ts). */
import { readFileSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { readBackingFile, readDiskSequence } from '../../src/core/linux/block/device-use.ts'
import { parseMountinfo } from '../../src/core/linux/parse-mountinfo.ts'
import { linuxHost } from '../../src/core/rules/host.ts'
import type { MachineFacts } from '../../src/core/rules/machine-facts.ts'
import { ownOf } from '../../src/core/rules/node-stack.ts'
import { STRANGERS, type Stranger } from './strangers.ts'

/** Notes them for the tests of this run. */
export function noteStrangers(): void {
  process.env[STRANGERS] = JSON.stringify(strangersHere())
}

/** Every block device that is not below the system's own directories, or the temporary one. */
export function strangersHere(): readonly Stranger[] {
  const { blockTree } = linuxHost
  const table = parseMountinfo(readFileSync('/proc/self/mountinfo'))
  const own = ownOf({
    around: { table, others: [] },
    plan: { rootDir: realpathSync(tmpdir()) },
    host: linuxHost,
  } as unknown as MachineFacts).devices
  return blockTree.names().flatMap((name) => {
    const node = own.has(name) || isFree(name) ? undefined : blockTree.node(name)
    // A partition goes with its disk, unless the disk stays for another one.
    if (node === undefined || (node.disk !== undefined && !own.has(node.disk))) return []
    return { dev: node.dev, sequence: readDiskSequence(node.dev) }
  })
}

/** Memory, and loop devices of nobody: the tests take these. */
function isFree(name: string): boolean {
  return /^z?ram\d+$/.test(name) || (/^loop\d+$/.test(name) && readBackingFile(name) === undefined)
}
