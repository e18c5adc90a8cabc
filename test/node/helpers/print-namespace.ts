/** Says in which mount namespace it runs; when told to, enters another one first. */
import { readlinkSync } from 'node:fs'
import { reenter } from '../../../src/core/node/reenter.ts'
import { openNamespace, PinnedProcess } from '../../../src/core/trust/processes.ts'
import { acceptCaller, thisRun, within } from '../../../src/core/trust/run.ts'

const accepted = acceptCaller(process.argv.slice(2))
const [pid, ...rest] = accepted.args
const namespace = readlinkSync('/proc/self/ns/mnt')
using target = new PinnedProcess(Number(pid))
const wanted = target.link('ns/mnt') ?? ''
if (namespace === wanted && rest[0] !== 'again') {
  console.log(JSON.stringify({ namespace, rest, caller: accepted.caller }))
  process.exit(7)
}
const run = { ...thisRun(), argv: accepted.args, caller: accepted.caller }
process.exit(await within(run, () => reenter({ mountNamespace: openNamespace(target, wanted) })))
