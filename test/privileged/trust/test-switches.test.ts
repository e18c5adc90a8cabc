/** S34: what volctl tells itself nobody else can tell it. */
import { describe, expect, it } from 'vitest'
import { inNamespace } from '../../helpers/in-namespace.ts'
import { noRoot } from '../../helpers/namespace.ts'

const WORKER = new URL('./test-switches.worker.ts', import.meta.url)

interface Lied {
  readonly container: { readonly status: number }
  readonly saved: object
  readonly lies: readonly object[]
}

describe.skipIf(noRoot !== undefined)(
  `switches in the environment${noRoot === undefined ? '' : ` (${noRoot})`}`,
  () => {
    it('S34: VOLCTL_REENTERED and VOLCTL_CALLER change nothing', async () => {
      const { lies, ...truth } = await inNamespace<Lied>(WORKER, 'ownVariables')
      expect(truth).toMatchObject({
        container: { status: 0, stderr: '', says: { node: 'node-1', pods: { gone: 1 } } },
        saved: { status: 0, here: true, there: false },
      })
      expect(lies).toEqual([truth, truth, truth, truth])
    })
  },
)
