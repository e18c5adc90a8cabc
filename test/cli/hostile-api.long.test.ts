/** S34: a whole plan by the built program, with something else in the API server's place. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApiServer, type TestApiServer } from '../helpers/api-server/start.ts'
import type { TrickName } from '../helpers/api-server/tricks.ts'
import { BROKEN } from '../helpers/captures.ts'
import { TEST_BUNDLE } from '../helpers/volctl-program.ts'
import { startWarmNode, type WarmNode } from '../helpers/warm-node.ts'

let node: WarmNode
let server: TestApiServer
beforeAll(async () => {
  node = await startWarmNode(BROKEN)
  server = await startApiServer()
})
afterAll(async () => {
  await node[Symbol.asyncDispose]()
  await server.stop()
})

interface Watched {
  readonly status: number | null
  readonly stderr: string
  /** MB: the most memory that it had, as the kernel counts it. */
  readonly peak: number
}

async function plan(kubeconfig: string): Promise<Watched> {
  const child = spawn(TEST_BUNDLE, ['plan', '--kubeconfig', kubeconfig], {
    env: { ...process.env, ...node.env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let peak = 0
  // It only ever grows, so that the last look is the right one.
  const watch = setInterval(() => {
    peak = Math.max(peak, peakOf(child.pid))
  }, 2)
  const stderr = text(child.stderr)
  const [status] = (await once(child, 'exit')) as [number | null]
  clearInterval(watch)
  return { status, stderr: await stderr, peak }
}

/** 0 where it has ended. */
function peakOf(pid: number | undefined): number {
  try {
    return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1000
  } catch {
    return 0
  }
}

describe('ends with one clear line, and has less than 500 MB of memory all the time', () => {
  it.each<{ trick: TrickName }>([
    { trick: 'a list without end' },
    { trick: 'a few bytes that unpack without end' },
    { trick: 'ever new pages' },
    { trick: 'ever new pages, each large' },
    { trick: 'large lists of small objects' },
    { trick: 'one large list of small objects' },
    { trick: 'one list of long texts' },
    { trick: 'brackets without end' },
    { trick: 'a failure without end' },
  ])('$trick', async ({ trick }) => {
    server.setFaults({ action: { type: 'trick', trick } })
    const { status, stderr, peak } = await plan(server.kubeconfig('nobody'))
    expect(stderr).toMatch(/^volctl: .+\n {8}.+\n$/)
    expect(status).toBe(1)
    expect(peak).toBeGreaterThan(50)
    expect(peak).toBeLessThan(500)
  })
})

it('packed answers are unpacked without a word of Node.js', async () => {
  const blob = 'x'.repeat(200_000)
  const big = { kind: 'PersistentVolume', metadata: { name: 'big', annotations: { blob } }, spec: {} }
  // 0.0.0.0 reaches this host without being a loopback address, to which nothing is packed.
  await using server = await startApiServer({ data: [BROKEN], objects: [big], host: '0.0.0.0' })
  const { status, stderr } = await plan(server.kubeconfig('admin'))
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
})
