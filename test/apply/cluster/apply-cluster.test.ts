/** Applies over HTTPS, with an external attacher that is a process of its own. */
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { takeLeaseLock } from '../../../src/core/apply/cluster/lease-lock.ts'
import {
  type ApiObject,
  ATTACHMENTS,
  CLAIMS,
  CSI_NODES,
  LEASES,
  NODES,
  PODS,
  type Resource,
  VOLUMES,
} from '../../../src/core/kube/api/objects.ts'
import { ApiError } from '../../../src/core/kube/api-error.ts'
import type { KubeClient } from '../../../src/core/kube/kube-client.ts'
import { startAttacher } from '../../cluster/attacher.ts'
import { startApiServer, type TestApiServer } from '../../helpers/api-server/start.ts'
import { defaultUsers, rightsFor, rightsOf } from '../../helpers/api-server/users.ts'
import { endOf } from '../../helpers/apply-plan.ts'
import { operationsOf } from '../../helpers/cluster-plan.ts'
import { failureOf } from '../../kube/connect.ts'
import {
  type Applied,
  apply,
  attached,
  attachmentOf,
  base,
  beforeChange,
  changing,
  claimed,
  clientOf,
  controllerLease,
  DRIVER,
  intercepted,
  node,
  planOf,
  pod,
} from './scene.ts'

const GONE = { nodeGone: ['gone'] }

let api: TestApiServer
beforeAll(async () => {
  const user = { name: 'cluster-apply', user: 'cluster-apply', login: 'token', roles: [ROLE] } as const
  api = await startApiServer({ detachDelayMs: -1, users: [...defaultUsers('here'), user] })
})
afterAll(() => api.stop())

/** The server with exactly these objects. */
async function given(...objects: object[]): Promise<void> {
  api.setFaults()
  for (const resource of [PODS, NODES, CLAIMS, VOLUMES, ATTACHMENTS, CSI_NODES, LEASES]) {
    for (const { kind, metadata } of (await admin().list(resource as Resource<ApiObject>)).items)
      api.remove(kind ?? '', metadata.name, metadata.namespace)
  }
  api.put(...base(), ...node('busy'), ...claimed('other'), pod('other-0', 'busy', 'other'), attached('other', 'busy'))
  api.put(...objects)
  api.clearRequests()
}

const admin = () => clientOf(api)
const gonePlan = () => planOf(admin(), GONE)
const applyGone = (plan: Parameters<typeof apply>[1]) => apply(admin(), plan, { options: GONE })

/** `done`, `refused Changed` */
function ends({ result }: Applied): string[] {
  return result.outcomes.map(endOf)
}

function messages({ events }: Applied): string {
  return events.map(({ message }) => message).join('\n')
}

/** Changes of attachments that the server was asked for. */
function changes(): string[] {
  return api
    .requests()
    .filter(({ method, path, user }) => method !== 'GET' && path.includes('/volumeattachments') && user !== undefined)
    .map(({ method, status }) => `${method} ${status}`)
}

const ROLE = fileURLToPath(new URL('../../../deploy/clusterrole-cluster-apply.yaml', import.meta.url))

/** The same client, which calls this right before the first look at a single operation. */
function afterFirstLook(client: KubeClient, hook: () => unknown): KubeClient {
  let isCalled = false
  return intercepted(client, (key, [resource], call) => {
    // Only such a look reads one Node.
    if (key === 'find' && (resource as Resource<ApiObject>).plural === 'nodes' && !isCalled) {
      isCalled = true
      hook()
    }
    return call()
  })
}

/** Web-0 was moved from a node that is gone to one that is ready. */
const moved = () => [...node('here'), ...claimed('data'), pod('web-0', 'here', 'data'), attached('data', 'gone')]

describe('detach elsewhere, then attach', () => {
  it('waits until the attachment is really gone, creates the exact object, and leaves nothing to do', async () => {
    await given(...moved())
    let isSaid = false
    await using _ = await startAttacher(api, { driver: DRIVER, when: () => isSaid })
    const plan = await gonePlan()
    expect(operationsOf(plan)).toEqual(['DetachVolume gone', 'AttachVolume here'])
    const applied = await apply(admin(), plan, { options: GONE }, ({ message }) => {
      isSaid ||= message?.includes('waiting for the external attacher') === true
    })
    expect(ends(applied)).toEqual(['done', 'done'])
    expect(applied.result).toMatchObject({ exit: 0, left: [], interrupted: false })
    expect(await admin().get(ATTACHMENTS, { name: attachmentOf('data', 'here') })).toMatchObject({
      metadata: { annotations: { 'volctl.io/created-by': 'volctl 0.1.0' } },
      spec: { attacher: DRIVER, nodeName: 'here', source: { persistentVolumeName: 'pv-data' } },
      status: { attached: true },
    })
    expect(messages(applied)).toContain('waiting for the external attacher (external-attacher/disk-csi-example-com)')
  })

  it('an attach whose plan was edited, to another node, is refused: the volume is never on two nodes', async () => {
    await given(...moved())
    await using _ = await startAttacher(api, { driver: DRIVER, detachError: 'the disk is busy' })
    const plan = await gonePlan()
    const operations = plan.operations.map((each) => (each.kind === 'AttachVolume' ? { ...each, node: 'other' } : each))
    const applied = await apply(admin(), { ...plan, operations }, { options: GONE, timeoutMs: 500 })
    expect(ends(applied)).toEqual(['failed TimedOut', 'refused Changed'])
    expect(messages(applied)).toContain('the last attempt to detach failed: the disk is busy')
    expect(changes()).not.toContain('POST 200')
    expect(applied.result.outcomes[1]?.differences).toHaveLength(1)
  })
})

describe('what came in between', () => {
  it('a pod between the first look of the apply and the operation: refused', async () => {
    await given(...node('off', { isOutOfService: true, ready: 'Unknown' }), ...claimed('data'), attached('data', 'off'))
    const plan = await planOf(admin())
    const late = afterFirstLook(admin(), () => api.put(pod('web-0', 'off', 'data')))
    expect(ends(await apply(late, plan))).toEqual(['refused Changed'])
    expect(changes()).toEqual([])
  })

  it('a pod in the window between the look and the DELETE: done, and said', async () => {
    const off = node('off', { isOutOfService: true, ready: 'Unknown', inUse: ['data'] })
    await given(...off, ...claimed('data'), attached('data', 'off'))
    await using _ = await startAttacher(api, { driver: DRIVER })
    const late = beforeChange(admin(), (method) => {
      if (method === 'delete') api.put(pod('web-0', 'off', 'data'))
    })
    const applied = await apply(late, await planOf(admin()))
    expect(applied.events).toContainEqual(
      expect.objectContaining({
        code: 'AttachmentDeleting',
        message: 'pod shop/web-0 wants the volume on node off, and appeared while the volume was being detached',
      }),
    )
  })

  it('another version of the attachment: nothing is deleted', async () => {
    await given(...moved())
    const late = beforeChange(admin(), (method) => {
      if (method === 'delete') api.put(attached('data', 'gone'))
    })
    const applied = await apply(late, await gonePlan(), { options: GONE })
    expect(ends(applied)).toEqual(['refused Changed', 'skipped Predecessor'])
    expect(changes()).toEqual(['DELETE 409'])
  })

  it('the same attachment by somebody else: taken as it is', async () => {
    await given(...node('here'), ...claimed('data'), pod('web-0', 'here', 'data'))
    const late = beforeChange(admin(), (method, path) => {
      if (method === 'create' && path.endsWith('volumeattachments')) api.put(attached('data', 'here'))
    })
    expect(ends(await apply(late, await planOf(admin())))).toEqual(['done'])
    expect(changes()).toEqual(['POST 409'])
  })

  it('an attachment of that name by somebody else, of another volume: refused at once, whatever the API says of it then', async () => {
    await given(...node('here'), ...claimed('data'), pod('web-0', 'here', 'data'))
    const path = `/volumeattachments/${attachmentOf('data', 'here')}`
    const late = beforeChange(admin(), (method, to) => {
      if (method !== 'create' || !to.endsWith('volumeattachments')) return
      api.put(attached('other', 'here', { name: attachmentOf('data', 'here') }))
      api.setFaults({ method: 'GET', path, skip: 1, action: { type: 'status', status: 403 } })
    })
    const applied = await apply(late, await planOf(admin()), { timeoutMs: 1000 })
    expect(ends(applied)).toEqual(['refused Changed'])
    expect(messages(applied)).not.toContain('the change was made')
  })

  it('the controller, in mid-apply: nothing more is done', async () => {
    await given(...moved())
    await using _ = await startAttacher(api, { driver: DRIVER })
    const late = beforeChange(admin(), (method) => {
      if (method === 'delete') api.put(controllerLease(0))
    })
    const applied = await apply(late, await gonePlan(), { options: GONE })
    // The first operation had begun; it ends.
    expect(ends(applied)).toEqual(['done', 'refused ControllerRunning'])
    expect(applied.result.exit).toBe(3)
    expect(changes()).not.toContain('POST 200')
  })

  it('what only a controller writes, on the node of an operation right after its DELETE: the next, on another node, is not begun', async () => {
    const lost = (name: string) => [...node(name, { isOutOfService: true, ready: 'Unknown' }), ...claimed(name)]
    await given(...lost('off-1'), ...lost('off-2'), attached('off-1', 'off-1'), attached('off-2', 'off-2'))
    await using _ = await startAttacher(api, { driver: DRIVER })
    const late = beforeChange(admin(), (method, path) => {
      if (method !== 'delete') return
      const name = path.endsWith(attachmentOf('off-1', 'off-1')) ? 'off-1' : 'off-2'
      const [its = {}] = node(name, { isOutOfService: true, ready: 'Unknown' }) as { status?: object }[]
      api.put({ ...its, status: { ...its.status, volumesAttached: [{ name: 'new', devicePath: '' }] } })
    })
    expect(ends(await apply(late, await planOf(admin())))).toEqual(['done', 'refused ControllerRunning'])
  })

  it('a node that is back right after the DELETE, with the volume in use: the volume is not attached elsewhere', async () => {
    const off = { isOutOfService: true, inUse: ['data'] }
    await given(
      ...[...node('off', { ...off, ready: 'Unknown' }), ...node('here'), ...claimed('data')],
      ...[pod('web-0', 'here', 'data'), attached('data', 'off')],
    )
    await using _ = await startAttacher(api, { driver: DRIVER })
    const late = beforeChange(admin(), (method) => {
      if (method === 'delete') api.put(...node('off', { ...off, ready: 'True' }))
    })
    expect(ends(await apply(late, await planOf(admin())))).toEqual(['done', 'refused Changed'])
  })

  it('the controller, before the first operation: everything is refused', async () => {
    await given(...moved())
    const plan = await gonePlan()
    const late = afterFirstLook(admin(), () => api.put(controllerLease(0)))
    const { result } = await apply(late, plan, { options: GONE })
    expect(result).toMatchObject({ exit: 4, refused: { rule: 'S11', code: 'ControllerRunning' } })
    expect(changes()).toEqual([])
  })
})

it('a plan that is refused as a whole: nothing is done', async () => {
  await given(...moved())
  const refused = { rule: 'S29', code: 'OutageSuspected', message: 'the API lists no pod' } as const
  const { result } = await apply(admin(), { ...(await gonePlan()), refused }, { options: GONE })
  expect(result).toMatchObject({ exit: 4, refused })
  expect(changes()).toEqual([])
})

describe('failures of the API', () => {
  it('a DELETE whose answer is lost was carried out', async () => {
    await given(...moved())
    await using _ = await startAttacher(api, { driver: DRIVER })
    const plan = await gonePlan()
    api.setFaults({ method: 'DELETE', times: 1, action: { type: 'lose' } })
    expect(ends(await applyGone(plan))).toEqual(['done', 'done'])
  })

  it('a server that goes away after the DELETE: waited for', async () => {
    await given(...moved())
    let isSaid = false
    await using _ = await startAttacher(api, { driver: DRIVER, when: () => isSaid })
    const plan = await gonePlan()
    let isFirst = true
    const late = changing(admin(), async (method, _path, send) => {
      const answer = await send()
      const isAway = method === 'delete' && isFirst
      isFirst &&= !isAway
      const path = `/volumeattachments/${attachmentOf('data', 'gone')}`
      if (isAway) api.setFaults({ method: 'GET', path, skip: 1, times: 4, action: { type: 'status', status: 403 } })
      return answer
    })
    const applied = await apply(late, plan, { options: GONE }, ({ message }) => {
      isSaid ||= message?.includes('could not be read') === true
    })
    expect(ends(applied)).toEqual(['done', 'done'])
    expect(messages(applied)).toContain('the change was made; what became of it could not be read')
  })

  it('a look that fails: nothing is done', async () => {
    await given(...moved())
    const plan = await gonePlan()
    const broken = { path: 'fieldSelector=spec.nodeName', action: { type: 'status', status: 403 } } as const
    api.setFaults(broken)
    const applied = await applyGone(plan)
    expect(ends(applied)[0]).toBe('failed Forbidden')
    expect(changes()).toEqual([])
  })
})

describe('one apply at a time', () => {
  it('the second is refused in one line while the first is at work', async () => {
    await given(...moved())
    await using _ = await startAttacher(api, { driver: DRIVER })
    const plan = await gonePlan()
    let second: Promise<{ code: string; message: string }> | undefined
    const first = beforeChange(admin(), async (method) => {
      if (method !== 'delete') return
      second ??= failureOf(applyGone(plan))
      await second
    })
    expect(ends(await apply(first, plan, { options: GONE }))[0]).toBe('done')
    expect(await second).toMatchObject({
      code: 'Locked',
      message: expect.stringMatching(
        /^another apply is at work on this cluster: .* pid \d+ holds lease kube-system\/volctl-cluster-apply$/,
      ),
    })
    // The lease was released: the next one begins at once.
    expect((await applyGone(plan)).result.outcomes.map(({ code }) => code)).toEqual(['AlreadyDone', 'AlreadyDone'])
  })

  it('the lease of a dead apply is taken over once its duration has passed', async () => {
    const dead = (seconds: number): object => ({
      kind: 'Lease',
      metadata: { namespace: 'kube-system', name: 'volctl-cluster-apply' },
      spec: {
        holderIdentity: 'root@ws pid 1 9f1c2c1e-0000-4000-8000-000000000000',
        leaseDurationSeconds: 60,
        renewTime: new Date(Date.now() - seconds * 1000).toISOString(),
      },
    })
    await given(...moved())
    const plan = await gonePlan()
    api.put(dead(30))
    expect(await failureOf(applyGone(plan))).toMatchObject({ code: 'Locked' })
    expect(changes()).toEqual([])
    api.put(dead(70))
    await using _ = await startAttacher(api, { driver: DRIVER })
    const applied = await applyGone(plan)
    expect(applied.events[0]).toMatchObject({ code: 'Locked', message: expect.stringContaining('root@ws pid 1') })
    expect(ends(applied)[0]).toBe('done')
  })

  it('a renewal that never reached the server is none', async () => {
    await given()
    let isAway = false
    const client = changing(admin(), async (_method, _path, send) => {
      if (isAway)
        throw new ApiError({ code: 'ApiUnreachable', message: 'connection refused' }, { status: 0, reason: '' })
      return await send()
    })
    const lock = await takeLeaseLock(client)
    isAway = true
    const now = performance.now.bind(performance)
    using _ = vi.spyOn(performance, 'now').mockImplementation(() => now() + 61_000)
    expect(await failureOf(lock.keep())).toMatchObject({ code: 'Locked' })
  })

  it('a renewal whose answer was lost is one', async () => {
    await given()
    const client = changing(admin(), async (_method, _path, send) => {
      await send()
      throw new ApiError({ code: 'ApiUnreachable', message: 'connection reset' }, { status: 0, reason: '' })
    })
    const lock = await takeLeaseLock(client)
    const now = performance.now.bind(performance)
    for (const minutes of [1, 2]) {
      using _ = vi.spyOn(performance, 'now').mockImplementation(() => now() + minutes * 61_000)
      await lock.keep()
    }
  })

  it('a lease that somebody else has taken while an operation was looked at stops it before its change', async () => {
    await given(...moved())
    const now = performance.now.bind(performance)
    const slow = afterFirstLook(admin(), () => {
      vi.spyOn(performance, 'now').mockImplementation(() => now() + 61_000)
      api.put({
        kind: 'Lease',
        metadata: { namespace: 'kube-system', name: 'volctl-cluster-apply' },
        spec: { holderIdentity: 'other' },
      })
    })
    try {
      const plan = await gonePlan()
      expect(await failureOf(apply(slow, plan, { options: GONE }))).toMatchObject({ code: 'Locked' })
    } finally {
      vi.restoreAllMocks()
    }
    expect(changes()).toEqual([])
  })
})

it('the rights of deploy/clusterrole-cluster-apply.yaml: are enough for everything, and each of them is used', async () => {
  await given(...moved())
  await using _ = await startAttacher(api, { driver: DRIVER })
  const plan = await planOf(clientOf(api, 'cluster-apply'), GONE)
  api.clearRequests()
  const client = clientOf(api, 'cluster-apply')
  const applied = await apply(client, plan, { options: GONE })
  expect(ends(applied)).toEqual(['done', 'done'])
  const mine = api.requests().filter(({ user }) => user === 'cluster-apply')
  expect(mine.filter(({ status }) => status === 403)).toEqual([])
  expect(rightsFor(mine)).toEqual(rightsOf(ROLE))
})

it('interrupts: nothing more is started, and what was deleted is named', async () => {
  await given(...moved())
  const stop = new AbortController()
  const late = beforeChange(admin(), (method) => {
    if (method === 'delete') stop.abort()
  })
  const applied = await apply(late, await gonePlan(), { options: GONE, signal: stop.signal })
  expect(ends(applied)).toEqual(['interrupted StillAtWork', 'interrupted Interrupted'])
  expect(applied.result).toMatchObject({ exit: 130, interrupted: true })
})
