/** S33: what a FUSE file system of another user says proves nothing. */
import { chmodSync, closeSync } from 'node:fs'
import { expect } from 'vitest'
import { checkTrusted } from '../../../src/core/trust/files.ts'
import { it } from '../../helpers/machine.ts'
import { noRoot } from '../../helpers/namespace.ts'
import { describeUnless } from '../describe-unless.ts'
import { mountFuse } from '../fuse/start.ts'
import { STRANGER } from './strangers.ts'

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
      // Its daemon is gone: it must be known without asking it.
      closeSync(mountFuse(`${directory}/fuse`, { type, source, uid: STRANGER }))
      const why = `${directory}/fuse is a FUSE file system of another user`
      expect(() => checkTrusted(`${directory}/fuse/kubeconfig`)).toThrow(why)
    },
  )
})
