/** S32: who bears the name of a container runtime, and is not root's or not of this node, is no witness of it. */
import { beforeAll, describe, expect, it } from 'vitest'
import { inNamespace } from '../../helpers/in-namespace.ts'
import { noRoot } from '../../helpers/namespace.ts'
import type { Done } from './fake-runtime.worker.ts'

const WORKER = new URL('./fake-runtime.worker.ts', import.meta.url)

const DONE = { plan: 0, status: 0, mounted: false }

describe.skipIf(noRoot !== undefined)(
  `a process that is called containerd${noRoot === undefined ? '' : ` (${noRoot})`}`,
  () => {
    let beside: Record<string, Done>
    beforeAll(async () => {
      beside = await inNamespace(WORKER, 'beside')
    })

    it('control: without one apply does its work', () => expect(beside.alone).toEqual(DONE))

    it.each([
      'of another user, in a mount namespace',
      'of another user, in mount and PID namespaces',
      "of root's, in a PID namespace, as docker in docker",
      'of another user, in a user namespace, as docker without root',
    ])('S32: refuses nothing: %s', (name) => expect(beside[name]).toEqual(DONE))

    it('control: one of root in the PID namespace of the node has to see what is mounted here (S6)', () => {
      expect(beside['control: of root, in the PID namespace of the node']).toEqual({
        plan: 4,
        status: 4,
        code: 'WrongNamespace',
        mounted: true,
      })
    })

    it("S32: one of another user does not make volctl's PID namespace the node's (S7)", async () => {
      const { stranger, root } = await inNamespace<Record<string, Done>>(WORKER, 'elsewhere')
      expect(stranger).toEqual({ plan: 0, status: 4, code: 'WrongNamespace', mounted: true })
      // Control: as in a node that is a container itself.
      expect(root).toEqual(DONE)
    })
  },
)
