import { expect, it } from 'vitest'
import { requireStanding } from '../../src/core/cli/carry-out.ts'
import type { CollectedNode } from '../../src/core/node/collect-node.ts'
import { addDoubt } from '../../src/core/trust/files.ts'

const HERE = { node: { standing: [] } } as unknown as CollectedNode
const drop = { what: '/etc/systemd/system/kubelet.service.d/x.conf', why: 'this file is ignored', hint: 'Look at it.' }

it('S33: what is only passed over refuses no apply; what the kubelet may obey does', () => {
  addDoubt({ ...drop, what: 'process 812 (kubelet)' })
  expect(() => requireStanding(HERE)).not.toThrow()
  addDoubt({ ...drop, unknown: true })
  expect(() => requireStanding(HERE)).toThrow(
    expect.objectContaining({ rule: 'S33', code: 'NotBelieved', exit: 4, message: expect.stringContaining('x.conf') }),
  )
})
