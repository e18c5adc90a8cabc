/** Doctor beside a real API server: with each credential, and where plan gives up. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Check, type CheckId, type Doctor, diagnose } from '../../src/core/explain/doctor/diagnose.ts'
import { lookForDoctor } from '../../src/core/explain/doctor/doctor-look.ts'
import { readSnapshot } from '../../src/core/plan/documents/snapshot-file.ts'
import { thisRun, within } from '../../src/core/trust/run.ts'
import { startApiServer, type TestApiServer } from '../helpers/api-server/start.ts'
import { planOptions } from '../helpers/plan-options.ts'
import { takeTestHost } from '../helpers/test-host.ts'
import { until } from '../helpers/until.ts'
import { fixture } from '../node/helpers/fixture.ts'

const CAPTURE = new URL('../fixtures/captures/healthy/node.json', import.meta.url).pathname

let server: TestApiServer
let untrusted: TestApiServer
beforeAll(async () => {
  const options = { data: [CAPTURE], nodeName: 'pg-node' }
  ;[server, untrusted] = await Promise.all([startApiServer(options), startApiServer({ ...options, untrusted: true })])
})
afterAll(async () => {
  await Promise.all([server.stop(), untrusted.stop()])
})
afterEach(() => vi.unstubAllEnvs())

/** A fake host of the capture's node, with one directory of a pod that lives. */
async function host(extra: object = {}) {
  const { snapshot } = await readSnapshot(CAPTURE)
  const { machineID, systemUUID, bootID, bootTime } = snapshot
  const living = snapshot.api?.pods.find((pod) => pod.metadata.name === 'p-ro')?.metadata.uid ?? ''
  const dir = fixture({ [`root/pods/${living}/etc-hosts`]: '', 'manifests/s.yaml': 'kind: Pod\nmetadata: {name: s}\n' })
  mkdirSync(join(dir.path, 'root/plugins'))
  const given = {
    ...{ machineID, systemUUID, bootID, bootTime, nodeName: 'pg-node', rootDir: join(dir.path, 'root') },
    ...{ kubelet: { running: false, mayReturn: false }, staticPodPath: join(dir.path, 'manifests') },
    ...{ runtimeEndpoints: [], runtimeExpected: false, processes: [living], journalDir: join(dir.path, 'journal') },
    kubeconfig: server.kubeconfig('admin'),
    ...extra,
  }
  writeFileSync(join(dir.path, 'host.json'), JSON.stringify(given))
  takeTestHost()
  vi.stubEnv('VOLCTL_TEST_HOST', join(dir.path, 'host.json'))
  return dir
}

async function doctor(kubeconfig?: string, hostRoot?: string): Promise<Doctor> {
  const look = await lookForDoctor({ kubeconfig, hostRoot, log: () => undefined })
  return diagnose(look, planOptions(), '2026-11-21T12:00:00Z')
}

function of({ checks }: Doctor, id: CheckId): Check {
  const found = checks.find((check) => check.id === id)
  if (found === undefined) throw new Error(`no check ${id}`)
  return found
}

/** A copy of a kubeconfig, with something changed. */
function changed(directory: string, path: string, change: (text: string) => string): string {
  const copy = join(directory, 'changed.kubeconfig')
  writeFileSync(copy, change(readFileSync(path, 'utf8')), { mode: 0o600 })
  return copy
}

describe('a live node', () => {
  it('control: with an administrator’s credential nothing about the API, the node or the host is wrong', async () => {
    using _ = await host()
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
    using _ = await host()
    const answer = await doctor(server.kubeconfig(user))
    expect(of(answer, 'ApplyRights').state).toBe(apply)
    expect(answer.works.plan).toBe(true)
  })

  it("the kubelet's own credential", async () => {
    using _ = await host()
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

  it.each<{ name: string; kubeconfig: (directory: string) => string; says: string; next: string }>([
    {
      name: 'somebody without a right',
      kubeconfig: () => server.kubeconfig('nobody'),
      says: 'forbidden',
      next: 'Give this identity the right',
    },
    {
      name: 'no API server',
      kubeconfig: (directory) =>
        changed(directory, server.kubeconfig('admin'), (text) =>
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
      kubeconfig: (directory) =>
        changed(directory, server.kubeconfig('plan'), (text) => text.replace(/"token": "[^"]+"/, '"token": "wrong"')),
      says: 'Unauthorized',
      next: 'log in again',
    },
    { name: 'no kubeconfig', kubeconfig: () => '/nonexistent', says: '/nonexistent', next: 'Check the path.' },
  ])('$name', async ({ kubeconfig, says, next }) => {
    using dir = await host()
    const answer = await doctor(kubeconfig(dir.path))
    expect(answer.works).toEqual({ plan: false, apply: false })
    expect(of(answer, 'ApiServer')).toMatchObject({
      state: 'failed',
      message: expect.stringContaining(says),
      next: expect.stringContaining(next),
    })
    expect(LOCAL.map((id) => of(answer, id).state)).toEqual(LOCAL.map(() => 'ok'))
  })

  it('S1: a node that the cluster does not have', async () => {
    using _ = await host({ nodeName: 'other' })
    const answer = await doctor()
    expect(of(answer, 'ApiServer')).toMatchObject({
      state: 'failed',
      message: expect.stringContaining('no node "other"'),
    })
    expect(answer.works.plan).toBe(false)
  })

  it('the mounts of the container in which volctl was started, since that volctl has ended', async () => {
    const asked = await startApiServer({ data: [CAPTURE], nodeName: 'pg-node' })
    using _ = await host({ kubeconfig: asked.kubeconfig('admin') })
    // Linux gives no process so high a number.
    const caller = { pid: 2 ** 22 + 1, depth: 1, directory: '/' }
    try {
      const answer = await within({ ...thisRun(), caller }, () => {
        takeTestHost()
        return doctor(undefined, '/host')
      })
      expect(of(answer, 'NodeRead')).toMatchObject({
        state: 'failed',
        message: expect.stringContaining(`/proc/${caller.pid}/mountinfo`),
      })
      expect([of(answer, 'ApiServer').state, answer.works.plan]).toEqual(['ok', false])
      // Sooner than the server ends those that are idle.
      expect(await until(() => asked.openConnections() === 0, 3000)).toBe(true)
    } finally {
      await asked.stop()
    }
  })

  it.each([
    { credential: 'one', kubeconfig: () => server.kubeconfig('admin'), api: 'unknown' },
    { credential: 'none', kubeconfig: () => '/nonexistent', api: 'failed' },
  ])('no root directory: whether there is a credential is said all the same: $credential', async (given) => {
    using _ = await host({ rootDir: '/nowhere' })
    const answer = await doctor(given.kubeconfig())
    expect(of(answer, 'NodeFound')).toMatchObject({ state: 'failed', next: expect.stringContaining('--root-dir') })
    expect(of(answer, 'ApiServer').state).toBe(given.api)
    expect(answer).toMatchObject({ works: { plan: false, apply: false } })
    expect(answer.node).toBeUndefined()
  })
})
