import { expect, it } from 'vitest'
import { requireStanding } from '../../src/core/cli/may-apply.ts'
import type { LocatedNode } from '../../src/core/node/locate-node.ts'
import { addDoubt } from '../../src/core/trust/doubts.ts'

const HERE: Pick<LocatedNode, 'standing'> = { standing: [] }
const drop = { what: '/etc/systemd/system/kubelet.service.d/x.conf', why: 'this file is ignored', hint: 'Look at it.' }

it('S33: what is only passed over refuses no apply; what the kubelet may obey does', () => {
  addDoubt({ ...drop, what: 'process 812 (kubelet)' })
  expect(() => requireStanding(HERE as LocatedNode)).not.toThrow()
  addDoubt({ ...drop, unknown: true })
  expect(() => requireStanding(HERE as LocatedNode)).toThrow(
    expect.objectContaining({ rule: 'S33', code: 'NotBelieved', exit: 4, message: expect.stringContaining('x.conf') }),
  )
})
