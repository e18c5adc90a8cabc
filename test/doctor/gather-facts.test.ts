/** Doctor beside a real API server: with each credential, and where plan gives up. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import schema from '../../schema/doctor.schema.json' with { type: 'json' }
import type { Check, CheckId, Doctor } from '../../src/core/doctor/check.ts'
import { diagnose } from '../../src/core/doctor/diagnose.ts'
import { gatherFacts } from '../../src/core/doctor/gather/gather-facts.ts'
import { readSnapshot } from '../../src/core/snapshot/read-snapshot.ts'
import { startApiServer, type TestApiServer } from '../helpers/api-server/start.ts'
import { schemaCheck } from '../helpers/closed-schema.ts'
import { planOptions } from '../helpers/plan-options.ts'
import { takeTestHost } from '../helpers/test-host.ts'
import { fixture } from '../node/helpers/fixture.ts'

const CAPTURE = new URL('../fixtures/captures/healthy/node.json', import.meta.url).pathname
const defects = schemaCheck(schema)

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

async function doctor(choice: Parameters<typeof gatherFacts>[0] = {}): Promise<Doctor> {
  const answer = diagnose(await gatherFacts(choice), planOptions(), '2026-11-21T12:00:00Z')
  expect(defects(answer)).toEqual([])
  return answer
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
    expect(of(answer, 'PlanRights').message).toMatch(/^may list pods; get, list nodes; .*get leases/)
    expect(of(answer, 'CsiDriver')).toMatchObject({ about: 'hostpath.csi.k8s.io', state: 'failed' })
    expect(of(answer, 'Clock')).toMatchObject({ state: 'ok' })
    expect(of(answer, 'Space').message).toMatch(/free|of/)
  })

  it.each([
    { user: 'plan', plan: 'ok', detach: 'warning', mount: 'warning', expand: 'warning' },
    { user: 'apply', plan: 'ok', detach: 'ok', mount: 'ok', expand: 'ok' },
  ])('the rights that ship, by kind of operation: $user', async ({ user, ...states }) => {
    using _ = await host()
    const answer = await doctor({ kubeconfig: server.kubeconfig(user) })
    expect({
      plan: of(answer, 'PlanRights').state,
      detach: of(answer, 'DetachRights').state,
      mount: of(answer, 'MountRights').state,
      expand: of(answer, 'ExpandRights').state,
    }).toEqual(states)
    expect(answer.works.plan).toBe(true)
  })

  it("the kubelet's own credential is asked about what its pods use", async () => {
    using _ = await host()
    const answer = await doctor({ kubeconfig: server.kubeconfig('kubelet') })
    expect(answer.works.plan).toBe(true)
    expect(of(answer, 'PlanRights')).toMatchObject({
      state: 'ok',
      message: expect.stringMatching(/get nodes; get csinodes.*; get persistentvolumeclaims/),
    })
    expect(of(answer, 'MountRights').state).toBe('ok')
    expect(of(answer, 'DetachRights')).toMatchObject({
      state: 'warning',
      next: expect.stringContaining('system:node:pg-node'),
    })
    expect(of(answer, 'KubeletPodList').message).toContain("kubelet's own credential, so there is one list")
  })
})

describe('where plan gives up, everything else is still answered', () => {
  /** What does not depend on the API server, or on the node. */
  const LOCAL: readonly CheckId[] = ['MountTable', 'RootDirectory', 'StaticPods', 'Processes', 'Programs', 'MountLimit']

  it('somebody without a right', async () => {
    using _ = await host()
    const answer = await doctor({ kubeconfig: server.kubeconfig('nobody') })
    expect(answer.works).toEqual({ plan: false, apply: false })
    expect(of(answer, 'ApiReachable').state).toBe('ok')
    expect(of(answer, 'PodList')).toMatchObject({ state: 'failed', message: expect.stringContaining('forbidden') })
    expect(of(answer, 'NodeObject').state).toBe('failed')
    expect(of(answer, 'PlanRights')).toMatchObject({
      state: 'failed',
      message: expect.stringContaining('may not list pods'),
      next: expect.stringContaining('deploy/clusterrole-plan.yaml to nobody'),
    })
    expect(LOCAL.map((id) => of(answer, id).state)).toEqual(LOCAL.map(() => 'ok'))
  })

  it('no API server', async () => {
    using dir = await host()
    const nowhere = changed(dir.path, server.kubeconfig('admin'), (text) =>
      text.replace(/"server": "[^"]+"/, '"server": "https://127.0.0.1:1"'),
    )
    const answer = await doctor({ kubeconfig: nowhere })
    expect(answer.works.plan).toBe(false)
    expect(of(answer, 'ApiReachable')).toMatchObject({
      state: 'failed',
      message: expect.stringContaining('127.0.0.1:1'),
    })
    expect(of(answer, 'PlanRights').state).toBe('unknown')
    expect(LOCAL.map((id) => of(answer, id).state)).toEqual(LOCAL.map(() => 'ok'))
  })

  it('a server that is not shown to be the right one', async () => {
    using _ = await host()
    const answer = await doctor({ kubeconfig: untrusted.kubeconfig('admin') })
    expect(of(answer, 'ApiVerified')).toMatchObject({
      state: 'failed',
      next: expect.stringContaining('certificate-authority'),
    })
    expect(answer.works.plan).toBe(false)
  })

  it('a credential that is not accepted', async () => {
    using dir = await host()
    const token = changed(dir.path, server.kubeconfig('plan'), (text) =>
      text.replace(/"token": "[^"]+"/, '"token": "wrong"'),
    )
    const answer = await doctor({ kubeconfig: token })
    expect(of(answer, 'Credential')).toMatchObject({ state: 'failed', next: expect.stringContaining('log in again') })
    expect(of(answer, 'ApiReachable').state).toBe('ok')
  })

  it('no kubeconfig, or one that others may write to', async () => {
    using _ = await host()
    const answer = await doctor({ kubeconfig: '/nonexistent' })
    expect(of(answer, 'Credential')).toMatchObject({
      state: 'failed',
      message: expect.stringContaining('/nonexistent'),
    })
    expect(LOCAL.map((id) => of(answer, id).state)).toEqual(LOCAL.map(() => 'ok'))
  })

  it('S1: a node that the cluster does not have', async () => {
    using _ = await host({ nodeName: 'other' })
    const answer = await doctor()
    expect(of(answer, 'NodeObject')).toMatchObject({
      state: 'failed',
      message: expect.stringContaining('no node "other"'),
    })
    expect(answer.works.plan).toBe(false)
  })

  it('S1: another machine', async () => {
    using _ = await host({ machineID: 'other', systemUUID: 'other' })
    const answer = await doctor()
    expect(of(answer, 'Machine')).toMatchObject({ state: 'failed', message: expect.stringContaining('nothing proves') })
    expect(answer.works.plan).toBe(false)
  })

  it('no root directory: the credential and the host are checked all the same', async () => {
    using _ = await host({ rootDir: '/nowhere' })
    const answer = await doctor({ kubeconfig: server.kubeconfig('admin') })
    expect(of(answer, 'NodeFound')).toMatchObject({ state: 'failed', next: expect.stringContaining('--root-dir') })
    expect(of(answer, 'ApiReachable').state).toBe('ok')
    expect(of(answer, 'Programs').state).toBe('ok')
    expect(answer).toMatchObject({ works: { plan: false, apply: false } })
    expect(answer.node).toBeUndefined()
  })
})
