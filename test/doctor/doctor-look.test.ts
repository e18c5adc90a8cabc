/** Doctor beside a real API server: with each credential, and where plan gives up. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Check, type CheckId, type Doctor, diagnose } from '../../src/core/explain/doctor/diagnose.ts'
import { lookForDoctor } from '../../src/core/explain/doctor/doctor-look.ts'
import { thisRun, within } from '../../src/core/trust/run.ts'
import { startApiServer, type TestApiServer } from '../helpers/api-server/start.ts'
import { HEALTHY } from '../helpers/captures.ts'
import { planOptions } from '../helpers/plan-options.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { takeTestHost } from '../helpers/test-host.ts'
import { until } from '../helpers/until.ts'
import { startWarmNode, type WarmNode } from '../helpers/warm-node.ts'

let node: WarmNode
let server: TestApiServer
let untrusted: TestApiServer
beforeAll(async () => {
  node = await startWarmNode(HEALTHY)
  server = node.api
  untrusted = await startApiServer({ data: [HEALTHY], nodeName: 'pg-node', untrusted: true })
})
afterAll(async () => {
  await untrusted.stop()
  await node[Symbol.asyncDispose]()
})
beforeEach(() => {
  takeTestHost()
  vi.stubEnv('VOLCTL_TEST_HOST', node.env.VOLCTL_TEST_HOST)
})
afterEach(() => vi.unstubAllEnvs())

async function doctor(kubeconfig = server.kubeconfig('admin'), more: object = {}): Promise<Doctor> {
  const look = await lookForDoctor({ kubeconfig, ...more, log: () => undefined })
  return diagnose(look, planOptions(), '2026-11-21T12:00:00Z')
}

function of({ checks }: Doctor, id: CheckId): Check {
  const found = checks.find((check) => check.id === id)
  if (found === undefined) throw new Error(`no check ${id}`)
  return found
}

/** A copy of a kubeconfig, with something changed. */
function changed(path: string, change: (text: string) => string): string {
  const copy = join(temporaryDirectory(), 'changed.kubeconfig')
  writeFileSync(copy, change(readFileSync(path, 'utf8')), { mode: 0o600 })
  return copy
}

describe('a live node', () => {
  it('control: with an administrator’s credential nothing about the API, the node or the host is wrong', async () => {
    const answer = await doctor()
    const wrong = answer.checks.filter(({ state }) => state === 'failed' || state === 'unknown')
    // As a test's host it stands beside the machine's real namespaces; its CSINode has drivers without sockets.
    expect(wrong.map(({ id }) => id).filter((id) => !['Root', 'CsiDriver'].includes(id))).toEqual([])
    expect(answer).toMatchObject({ node: 'pg-node', works: { plan: true } })
    expect(of(answer, 'ApiServer').message).toMatch(/^https:\S+ answers to \S+, by \S+: \d+ pods of this node$/)
    expect(of(answer, 'CsiDriver')).toMatchObject({ about: 'hostpath.csi.k8s.io', state: 'failed' })
    expect(of(answer, 'Clock')).toMatchObject({ state: 'ok' })
  })

  it.each([
    { user: 'plan', apply: 'warning' },
    { user: 'apply', apply: 'ok' },
  ])('the rights that ship: $user', async ({ user, apply }) => {
    const answer = await doctor(server.kubeconfig(user))
    expect(of(answer, 'ApplyRights').state).toBe(apply)
    expect(answer.works.plan).toBe(true)
  })

  it("the kubelet's own credential", async () => {
    const answer = await doctor(server.kubeconfig('kubelet'))
    expect(answer.works.plan).toBe(true)
    expect(of(answer, 'PlanRights').state).toBe('ok')
    expect(of(answer, 'ApplyRights')).toMatchObject({
      state: 'warning',
      next: expect.stringContaining('system:node:pg-node'),
    })
  })
})

describe('where plan gives up, everything else is still answered', () => {
  /** What does not depend on the API server. */
  const LOCAL: readonly CheckId[] = ['NodeFound', 'KubeletState']

  it.each<{ name: string; kubeconfig: () => string; says: string; next: string }>([
    {
      name: 'somebody without a right',
      kubeconfig: () => server.kubeconfig('nobody'),
      says: 'forbidden',
      next: 'Give this identity the right',
    },
    {
      name: 'no API server',
      kubeconfig: () =>
        changed(server.kubeconfig('admin'), (text) =>
          text.replace(/"server": "[^"]+"/, '"server": "https://127.0.0.1:1"'),
        ),
      says: '127.0.0.1:1',
      next: 'API server',
    },
    {
      name: 'a server that is not shown to be the right one',
      kubeconfig: () => untrusted.kubeconfig('admin'),
      says: 'TLS',
      next: 'certificate-authority',
    },
    {
      name: 'a credential that is not accepted',
      kubeconfig: () =>
        changed(server.kubeconfig('plan'), (text) => text.replace(/"token": "[^"]+"/, '"token": "wrong"')),
      says: 'Unauthorized',
      next: 'Log in again',
    },
    { name: 'no kubeconfig', kubeconfig: () => '/nonexistent', says: '/nonexistent', next: 'Check the path.' },
  ])('$name', async ({ kubeconfig, says, next }) => {
    const answer = await doctor(kubeconfig())
    expect(answer.works).toEqual({ plan: false, apply: false })
    expect(of(answer, 'ApiServer')).toMatchObject({
      state: 'failed',
      message: expect.stringContaining(says),
      next: expect.stringContaining(next),
    })
    expect(LOCAL.map((id) => of(answer, id).state)).toEqual(LOCAL.map(() => 'ok'))
  })

  it('the mounts of the container in which volctl was started, since that volctl has ended', async () => {
    await using asked = await startApiServer({ data: [HEALTHY], nodeName: 'pg-node' })
    // Linux gives no process so high a number.
    const caller = { pid: 2 ** 22 + 1, depth: 1, directory: '/' }
    const answer = await within({ ...thisRun(), caller }, () => {
      takeTestHost()
      return doctor(asked.kubeconfig('admin'), { hostRoot: '/host' })
    })
    expect(of(answer, 'NodeRead')).toMatchObject({
      state: 'failed',
      message: expect.stringContaining(`/proc/${caller.pid}/mountinfo`),
    })
    expect([of(answer, 'ApiServer').state, answer.works.plan]).toEqual(['ok', false])
    // Sooner than the server ends those that are idle.
    expect(await until(() => asked.openConnections() === 0, 3000)).toBe(true)
  })

  it.each([
    { credential: 'one', kubeconfig: () => server.kubeconfig('admin'), api: 'unknown' },
    { credential: 'none', kubeconfig: () => '/nonexistent', api: 'failed' },
  ])('no root directory: whether there is a credential is said all the same: $credential', async (given) => {
    const answer = await doctor(given.kubeconfig(), { rootDir: '/nowhere' })
    expect(of(answer, 'NodeFound')).toMatchObject({ state: 'failed', next: expect.stringContaining('--root-dir') })
    expect(of(answer, 'ApiServer').state).toBe(given.api)
    expect(answer).toMatchObject({ works: { plan: false, apply: false } })
    expect(answer.node).toBeUndefined()
  })

  it('S1: a node that the cluster does not have', async () => {
    server.remove('Node', 'pg-node')
    const answer = await doctor()
    expect(of(answer, 'ApiServer')).toMatchObject({
      state: 'failed',
      message: expect.stringContaining('no node "pg-node"'),
    })
    expect(answer.works.plan).toBe(false)
  })
})
