/** The built `volctl check` under the contract of node-problem-detector: exit status, one line, always an end. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { CAPTURES } from '../helpers/captures.ts'
import { node as built, claimOf, uid } from '../helpers/node-builder.ts'
import { type Result, volctl } from '../helpers/run-main.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { startWarmNode, type WarmNode } from '../helpers/warm-node.ts'

let node: WarmNode
let idle: WarmNode
beforeAll(async () => {
  node = await startWarmNode(join(CAPTURES, 'empty-dirs', 'before.json'))
  idle = await startWarmNode(idleNode())
})
afterAll(async () => {
  await idle[Symbol.asyncDispose]()
  await node[Symbol.asyncDispose]()
})

/** The snapshot of a node with nothing to do: one pod, with a volume that needs no mount. */
function idleNode(): string {
  // Just created, so that it does not wait too long if its volume is not known.
  const metadata = { creationTimestamp: new Date().toISOString() }
  const { snapshot } = built()
    .persistentVolume('host', { source: { hostPath: { path: '/srv' } } })
    .livingPod(uid(7), 'web', [claimOf('host')], { metadata })
    .build()
  const path = join(temporaryDirectory(), 'idle.json')
  writeFileSync(path, JSON.stringify(snapshot))
  return path
}

const checkOn = (on: WarmNode, ...args: string[]): Promise<Result> => volctl(['check', ...args], { env: on.env })
const check = (...args: string[]): Promise<Result> => checkOn(node, ...args)

/** What the detector makes of it: the whole of standard output, trimmed, at most 80 bytes. */
function expectAnswer({ status, stdout }: Result, want: number, line: RegExp): void {
  expect(stdout).toMatch(/^[ -~]{1,80}\n$/)
  expect(stdout).toMatch(line)
  expect(status).toBe(want)
}

describe('a node with orphaned pods', () => {
  it('not ok, in both looks: that it looks again is said at once, beside the answer', async () => {
    const result = await check('--confirm=100ms')
    expectAnswer(result, 1, /^not ok: .*orphaned pod/)
    expect(result.stderr).toMatch(/not ok: .*orphaned pod.*; looking again in 100ms\n/)
  })

  it('gauges are of one look, unless another is asked for', async () => {
    const once = await check('-o', 'prometheus')
    expect({ status: once.status, stderr: once.stderr }).toEqual({ status: 1, stderr: '' })
    expect((await check('-o', 'prometheus', '--confirm=100ms')).stderr).toContain('looking again in 100ms')
  })
})

describe('unknown', () => {
  const answerNothing = () => node.api.setFaults({ action: { type: 'hang' } })
  afterEach(() => node.api.setFaults())

  const hideClaims = () =>
    idle.api.setFaults({
      path: '/persistentvolumeclaims',
      action: { type: 'status', status: 403, reason: 'Forbidden' },
    })
  const podLists = () => idle.api.requests().filter(({ path }) => path.startsWith('/api/v1/pods?')).length

  it('only where the second look, too, does not see everything', async () => {
    hideClaims()
    idle.api.clearRequests()
    const answer = checkOn(idle, '--confirm=5s')
    // The list that comes before the disk is read and, at the end of the first look, the one for the pods whose volumes could
    // not be resolved.
    await vi.waitFor(() => expect(podLists()).toBe(2), { timeout: 30_000, interval: 20 })
    idle.api.setFaults()
    expectAnswer(await answer, 0, /^ok: /)

    hideClaims()
    expectAnswer(await checkOn(idle, '--confirm=100ms'), 2, /^unknown: MayBeInUse: /)
    expect(podLists()).toBe(2 + 1 + 2 + 2)
    idle.api.setFaults()
  })

  it('an API server that accepts, and never answers: it ends in time', async () => {
    answerNothing()
    const result = await check('--timeout=1500ms')
    expectAnswer(result, 2, /^unknown: TimedOut: no answer within 2s/)
    expect(result.stderr).toContain('--timeout')
  })

  it('that stands in the gauges, too', async () => {
    answerNothing()
    const { status, stdout } = await check('--timeout=500ms', '-o=prometheus')
    expect(status).toBe(2)
    expect(stdout).toMatch(/^volctl_check_status 2$/m)
    expect(stdout).not.toContain('volctl_volumes')
  })

  it('an API server that is not there', async () =>
    expectAnswer(await check('--kubeconfig', '/nonexistent'), 2, /^unknown: \w+: /))

  it('a usage error is no answer about the node', async () =>
    expectAnswer(await check('--timeout=soon'), 2, /^unknown: \w+: /))
})
