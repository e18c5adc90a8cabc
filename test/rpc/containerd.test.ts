import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readRuntime } from '../../src/core/rpc/read-runtime.ts'
import { containerdMissing, startContainerd } from './containerd/start.ts'

test('S9: a real containerd: a pod that runs, whose container ends, that stops, and that is gone', {
  timeout: 120_000,
}, async ({ skip }) => {
  const missing = containerdMissing()
  skip(missing !== undefined, missing)
  // A runtime's own socket paths are long: not below a deep temporary directory.
  const directory = mkdtempSync(join('/tmp', 'volctl-ctd-'))
  const containerd = await startContainerd(directory)
  try {
    const { endpoint } = containerd
    const read = () => readRuntime({ endpoints: [endpoint], expected: true, deadlineMs: 10_000 })
    const pod = { uid: '11111111-2222-3333-4444-555555555555', namespace: 'ns', name: 'pod' }
    const seen = (state: string, container: string) => ({
      source: 'cri',
      endpoint,
      pods: [
        { ...pod, state, containers: [{ name: 'c', state: container, id: expect.stringMatching(/^[0-9a-f]{64}$/) }] },
      ],
    })
    await expect(read()).resolves.toEqual({ source: 'cri', endpoint, pods: [] })
    const { sandboxId, containerId } = await containerd.runPod(pod)
    await expect(read()).resolves.toEqual(seen('SANDBOX_READY', 'CONTAINER_RUNNING'))
    await containerd.stopContainer(containerId)
    await expect(read()).resolves.toEqual(seen('SANDBOX_READY', 'CONTAINER_EXITED'))
    await containerd.stopSandbox(sandboxId)
    await expect(read()).resolves.toEqual(seen('SANDBOX_NOTREADY', 'CONTAINER_EXITED'))
    await containerd.removeSandbox(sandboxId)
    await expect(read()).resolves.toEqual({ source: 'cri', endpoint, pods: [] })
  } finally {
    await containerd.stop()
    rmSync(directory, { recursive: true, force: true })
  }
})
