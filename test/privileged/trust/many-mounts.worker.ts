/** Mounts and mount namespaces that a user makes in a user namespace of its own, up to the limits of the kernel. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readOtherNamespaces, unseenNamespaces } from '../../../src/core/processes/mount-namespaces.ts'
import { runScenario } from '../../helpers/scenario.ts'
import { STRANGER } from './strangers.ts'

const MIB = 1 << 20
/** Each bind of the whole tree into itself doubles it. */
const DOUBLE =
  'mount -t tmpfs t /mnt; i=0; while [ $i -lt 15 ]; do mkdir /mnt/d$i; mount --rbind /mnt /mnt/d$i; i=$((i+1)); done'
const COPIES = 8

/** A user's process with 32,768 mounts, and more of it with copies of them all. */
async function* strangersMounts(): AsyncGenerator<number> {
  const script = `${DOUBLE}; i=0; while [ $i -lt ${COPIES} ]; do unshare -m sleep 300 & i=$((i+1)); done; echo ready; wait`
  const as = ['--reuid', `${STRANGER}`, '--regid', `${STRANGER}`, '--clear-groups']
  const child = spawn('setpriv', [...as, 'unshare', '-U', '-r', '-m', 'sh', '-c', script], {
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  })
  try {
    await once(child.stdout, 'data')
    yield child.pid ?? 0
  } finally {
    process.kill(-(child.pid ?? 0), 'SIGKILL')
  }
}

await runScenario({
  async namespaces() {
    for await (const pid of strangersMounts()) {
      const before = process.memoryUsage().rss
      const begun = performance.now()
      const others = readOtherNamespaces(true)
      const ms = performance.now() - begun
      const unseen = others.filter((each) => each.unseen !== undefined)
      return {
        pid,
        ms,
        mib: Math.round((process.memoryUsage().rss - before) / MIB),
        said: unseenNamespaces(others).map(({ text }) => text),
        unseen: unseen.length,
        kept: Math.round(others.reduce((sum, { table }) => sum + table.text.length, 0) / MIB),
      }
    }
    return undefined
  },
})
