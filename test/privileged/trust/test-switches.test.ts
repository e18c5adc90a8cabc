/** S34: what tests switch off stays on where a real node could be, and what volctl tells itself nobody else can tell it. */
import { describe, expect, it } from 'vitest'
import { inNamespace, noRoot } from '../../helpers/namespace.ts'
import type { Answer } from './test-switches.worker.ts'

const WORKER = new URL('./test-switches.worker.ts', import.meta.url)

const REFUSED: Answer = { status: 4, code: 'TestHostOnRealNode' }
const BOTH_REFUSED = { plan: REFUSED, apply: REFUSED, kept: true }

interface Lied {
  readonly container: { readonly status: number }
  readonly saved: object
  readonly lies: readonly object[]
}

describe.skipIf(noRoot !== undefined)(
  `switches in the environment${noRoot === undefined ? '' : ` (${noRoot})`}`,
  () => {
    it("S34: VOLCTL_TEST_HOST is refused on the root directory of a kubelet's unit", async () => {
      // In the PID namespace of the machine, whose first process stands elsewhere.
      expect(await inNamespace(WORKER, 'unit')).toEqual({
        without: { status: 0 },
        named: BOTH_REFUSED,
        byAnotherPath: BOTH_REFUSED,
      })
    })

    it('S34: VOLCTL_REENTERED and VOLCTL_CALLER change nothing', async () => {
      const { lies, ...truth } = await inNamespace<Lied>(WORKER, 'ownVariables', true)
      expect(truth).toMatchObject({
        container: { status: 0, stderr: '', says: { node: 'node-1', pods: { gone: 1 } } },
        saved: { status: 0, here: true, there: false },
      })
      expect(lies).toEqual([truth, truth, truth, truth])
    })
  },
)
