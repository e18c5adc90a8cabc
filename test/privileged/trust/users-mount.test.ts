/** S33: what a FUSE file system of another user says of owners and modes proves nothing. */
import { describe, expect, it } from 'vitest'
import { inNamespace } from '../../helpers/in-namespace.ts'
import { noRoot } from '../../helpers/namespace.ts'

const WORKER = new URL('./users-mount.worker.ts', import.meta.url)

describe.skipIf(noRoot !== undefined)(
  `a FUSE file system of another user${noRoot === undefined ? '' : ` (${noRoot})`}`,
  () => {
    it('S33: is not trusted, whatever its type and source are called', async () => {
      const said = await inNamespace<Record<string, string>>(WORKER, 'names')
      expect(Object.keys(said)).toHaveLength(5)
      for (const [name, why] of Object.entries(said)) expect(why, name).toBe('it is a FUSE file system of another user')
    })
  },
)
