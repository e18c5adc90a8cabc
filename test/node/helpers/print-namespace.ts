/** Says in which mount namespace it runs; when told to, enters another one first. */
import { readlinkSync } from 'node:fs'
import { namespaceReentry, reenter } from '../../../src/core/node/reenter.ts'

const [wanted, ...rest] = process.argv.slice(2)
const namespace = readlinkSync('/proc/self/ns/mnt')
const target = readlinkSync(wanted ?? '')
if (namespace === target) {
  console.log(JSON.stringify({ namespace, rest, depth: process.env.VOLCTL_REENTERED }))
  process.exit(7)
}
process.exit(await reenter(namespaceReentry(wanted ?? '')))
