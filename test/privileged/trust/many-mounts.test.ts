/** S34: what any user can fill is read within bounds, and what is not read is named, and in use (S3). */
import { describe, expect, it } from 'vitest'
import { inNamespace } from '../../helpers/in-namespace.ts'
import { noRoot } from '../../helpers/namespace.ts'

const WORKER = new URL('./many-mounts.worker.ts', import.meta.url)

describe.skipIf(noRoot !== undefined)(
  `many mounts in the namespaces of another user${noRoot === undefined ? '' : ` (${noRoot})`}`,
  () => {
    it('S34: are read until it is enough, and the namespaces beyond are named', async () => {
      const { said, unseen, kept, mib } = await inNamespace<{
        said: string[]
        unseen: number
        kept: number
        mib: number
      }>(WORKER, 'namespaces')
      expect(said).toEqual([
        expect.stringMatching(/^the mount namespace of \S+ \(pid \d+\) and of \d others could not be read: /),
      ])
      expect(unseen).toBeGreaterThan(1)
      expect(kept).toBeLessThanOrEqual(16)
      expect(mib).toBeLessThan(150)
    })
  },
)
