/** S33, S6: a path means the file of the namespace and the directory in which it was said. */
import { describe, expect, it } from 'vitest'
import { inNamespace } from '../../helpers/in-namespace.ts'
import { noRoot } from '../../helpers/namespace.ts'

const WORKER = new URL('./re-entry.worker.ts', import.meta.url)

describe.skipIf(noRoot !== undefined)(
  `a kubelet with a mount namespace of its own${noRoot === undefined ? '' : ` (${noRoot})`}`,
  () => {
    it('S33: what was typed are files of the place where it was typed', async () => {
      expect(await inNamespace(WORKER, 'typed')).toEqual({
        status: [0, 0, 0, 0, 0],
        stderr: '',
        same: true,
        here: [true, true, true],
        there: [false, false, false],
        journal: 1,
      })
    })

    it.each([
      ['kubelets', 'elsewhere'],
      ['kubeletsHere', 'here'],
    ])("S33: the kubelet's relative --kubeconfig is that of its own directory (%s)", async (scenario) => {
      expect(await inNamespace(WORKER, scenario)).toMatchObject({
        status: 0,
        stderr: '',
        says: { node: 'node-1', pods: { gone: 1 } },
        ran: '',
      })
    })
  },
)
