/** A FUSE file system that another user has mounted in a directory like /tmp, under names of that user's choice. */
import { spawnSync } from 'node:child_process'
import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs'
import { checkTrusted } from '../../../src/core/trust/files.ts'
import { runScenario } from '../../helpers/scenario.ts'
import { STRANGER } from './strangers.ts'

/** Its daemon is gone: it must be known without asking it. */
function mountFuse(type: string, source: string, path: string): void {
  mkdirSync(path)
  const device = openSync('/dev/fuse', 'r+')
  const options = `fd=3,rootmode=40000,user_id=${STRANGER},group_id=${STRANGER},allow_other`
  const { status, stderr } = spawnSync('mount', ['-i', '-t', type, '-o', options, source, path], {
    stdio: ['ignore', 'pipe', 'pipe', device],
    encoding: 'utf8',
  })
  closeSync(device)
  if (status !== 0) throw new Error(`mount -t ${type}: ${stderr}`)
}

const NAMES: Readonly<Record<string, readonly [type: string, source: string]>> = {
  plain: ['fuse', 'source'],
  'a blank': ['fuse.a b', 'a b'],
  'a carriage return in its source': ['fuse', 'a\rb'],
  'a carriage return in its type': ['fuse.a\rb', 'source'],
  'a no-break space in its type': ['fuse.a\u00a0b', 'source'],
}

await runScenario({
  names(directory) {
    const shared = `${directory}/shared`
    mkdirSync(shared)
    chmodSync(shared, 0o1777)
    const said = Object.entries(NAMES).map(([name, [type, source]], index) => {
      mountFuse(type, source, `${shared}/${index}`)
      try {
        checkTrusted(`${shared}/${index}/kubeconfig`)
        return [name, 'trusted']
      } catch (error) {
        return [name, (error as Error).message.replace(`${shared}/${index}`, 'it')]
      }
    })
    return Object.fromEntries(said)
  },
})
