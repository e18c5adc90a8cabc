/** S33: what a FUSE file system of another user says proves nothing. */
import { spawnSync } from 'node:child_process'
import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs'
import { expect } from 'vitest'
import { checkTrusted } from '../../../src/core/trust/files.ts'
import { it } from '../../helpers/machine.ts'
import { noRoot } from '../../helpers/namespace.ts'
import { describeUnless } from '../describe-unless.ts'
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

describeUnless(noRoot, 'mounts of another user', () => {
  it.for<readonly [type: string, source: string]>([
    ['fuse', 'source'],
    ['fuse.a b', 'a b'],
    ['fuse.a\rb', 'a\rb'],
    ['fuse.a\u00a0b', 'source'],
  ])(
    'S33: a FUSE file system is not trusted, whatever its type and source are called: %j',
    ([type, source], { directory }) => {
      chmodSync(directory, 0o1777)
      mountFuse(type, source, `${directory}/fuse`)
      const why = `${directory}/fuse is a FUSE file system of another user`
      expect(() => checkTrusted(`${directory}/fuse/kubeconfig`)).toThrow(why)
    },
  )
})
