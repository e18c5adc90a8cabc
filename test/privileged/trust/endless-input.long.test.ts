/** S34: whatever sends it, it is read to a bound: in bytes raw and unpacked, in time, and in depth. */
import { describe, expect, it } from 'vitest'
import { inNamespace } from '../../helpers/in-namespace.ts'
import { noRoot } from '../../helpers/namespace.ts'
import type { Bounded } from './endless-input.worker.ts'
import { DEADLINE_MS, LIMIT_MIB } from './limits.ts'

const WORKER = new URL('./endless-input.worker.ts', import.meta.url)

const ONE_LINE = { status: 1, ended: 'itself', said: 'one line' }

function expectBounded(found: Readonly<Record<string, Bounded>>): void {
  for (const [name, { seconds, peakMiB, code, ...rest }] of Object.entries(found)) {
    // Without the Node nobody knows whether this is its machine (S1).
    expect.soft(rest, name).toEqual({ ...ONE_LINE, status: name.endsWith('of the Node') ? 4 : 1 })
    expect.soft(code, name).not.toBe(undefined)
    expect.soft(seconds, name).toBeLessThan(DEADLINE_MS / 1000)
    expect.soft(peakMiB, name).toBeLessThan(LIMIT_MIB)
    expect.soft(peakMiB, name).toBeGreaterThan(0)
  }
}

describe.skipIf(noRoot !== undefined)(`input that does not end${noRoot === undefined ? '' : ` (${noRoot})`}`, () => {
  it("S34: an API server's answer is one line", async () => {
    const found = await inNamespace<Record<string, Bounded>>(WORKER, 'answers')
    expect(Object.keys(found)).toHaveLength(8)
    expectBounded(found)
  })

  it('S34: a snapshot is one line', async () => {
    const found = await inNamespace<Record<string, Bounded>>(WORKER, 'snapshots')
    expect(Object.keys(found)).toHaveLength(12)
    expectBounded(found)
  })

  it("S34: a credential plugin's output is one line", async () => {
    const found = await inNamespace<Record<string, Bounded>>(WORKER, 'plugins')
    expect(Object.keys(found)).toHaveLength(4)
    expectBounded(found)
  })

  it('S34: a credential plugin is told what the kubeconfig says, and nothing of the caller', async () => {
    const { code, told } = await inNamespace<{ code: string; told: string }>(WORKER, 'pluginEnvironment')
    expect(code).toBe('CredentialFailed')
    const variables = new Map(told.split('\n').map((line) => [line.split('=')[0], line]))
    expect(variables.get('OWN')).toBe('OWN=of the kubeconfig')
    expect(variables.has('KUBERNETES_EXEC_INFO')).toBe(true)
    expect(told).not.toContain('of the caller')
    expect(told).not.toContain('bin-of-the-caller')
    for (const name of ['SECRET', 'NODE_OPTIONS', 'LD_LIBRARY_PATH']) expect(variables.has(name)).toBe(false)
  })
})
