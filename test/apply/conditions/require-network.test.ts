/** What is mounted over a container's network would hang as soon as the container ends. */
import { expect, it } from 'vitest'
import { requireNetwork } from '../../../src/core/apply/conditions/require.ts'
import type { Step } from '../../../src/core/plan/plan.ts'
import { operation } from '../apply-fixture.ts'
import { FakeHost } from '../fake-host.ts'

const target = '/kubelet/pods/uid/volumes/p/v'

it.each<{ name: string; step: Step; needs: boolean }>([
  { name: 'NFS', step: { op: 'mount', target, source: 'a:/b', fsType: 'nfs' }, needs: true },
  { name: 'tmpfs', step: { op: 'mount', target, source: 'tmpfs', fsType: 'tmpfs' }, needs: false },

  { name: 'a CSI call: the driver mounts', step: { op: 'NodePublishVolume', target }, needs: false },
])('$name', ({ step, needs }) => {
  const host = new FakeHost()
  const mounting = operation('a', { kind: 'MountVolume', steps: [step] })
  expect(() => requireNetwork(mounting, host)).not.toThrow()
  host.inContainersNetwork = true
  if (needs)
    expect(() => requireNetwork(mounting, host)).toThrow(
      expect.objectContaining({ code: 'WrongNamespace', message: expect.stringMatching(/network/) }),
    )
  else expect(() => requireNetwork(mounting, host)).not.toThrow()
})
