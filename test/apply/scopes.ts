/** An apply of a node and one of a cluster, each of two operations, of which the second comes after the first. */
import { readFileSync, writeFileSync } from 'node:fs'
import { openJournal } from '../../src/core/journal/write-journal.ts'
import type { ApplyEvent, ApplyResult, ClusterApplyResult } from '../../src/core/plan/events.ts'
import type { Refusal } from '../../src/core/plan/plan.ts'
import { failureOf } from '../api/connect.ts'
import {
  ago,
  apply as applyToCluster,
  attached,
  attachmentOf,
  base,
  beforeChange,
  claimed,
  clientOf,
  controllerLease,
  DRIVER,
  node,
  planOf as planOfCluster,
  pod,
} from '../cluster/apply/scene.ts'
import { startApiServer, type TestApiServer } from '../helpers/api-server/start.ts'
import { startAttacher } from '../helpers/attacher/start.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { Fixture, operation, planOf, ROOT, step } from './apply-fixture.ts'

export interface Given {
  /** How the plan that was reviewed differs from the one that was made. */
  readonly reviewed?: 'refused' | 'first blocked' | 'without the first' | 'first edited'
  /** What is otherwise since the plan was made. */
  readonly since?: 'refused' | 'first done' | 'first not needed' | 'API away'
  /** The first operation cannot be carried out. */
  readonly firstFails?: boolean
  /** Called when the first change is about to be made. */
  readonly during?: () => unknown
  /** The API server does not answer any more once everything has been done. */
  readonly isAwayAtTheEnd?: boolean
  readonly signal?: AbortSignal
  /** The directory of the journal cannot be made. */
  readonly noJournal?: boolean
}

export interface Ended {
  readonly result: ApplyResult | ClusterApplyResult
  readonly events: readonly ApplyEvent[]
}

export interface Scope extends AsyncDisposable {
  apply(given?: Given): Promise<Ended>
  /** The error of one more apply of this scope. */
  failureOfAnother(): Promise<{ readonly code: string }>
  /** What was changed until now. */
  changes(): Promise<readonly string[]>
  journal(): readonly { readonly type: string; readonly [key: string]: unknown }[]
  /** Whoever else does this work is there again. */
  comeBack(): unknown
  /** An apply has died, and its lock is left. */
  leaveLock(): unknown
}

const REFUSED: Refusal = { rule: 'S29', code: 'OutageSuspected', message: 'the API lists no pod' }
const AWAY = 'the API server does not answer'

function entriesIn(directory: string): ReturnType<Scope['journal']> {
  const text = readFileSync(`${directory}/journal.jsonl`, 'utf8')
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

export class NodeScope implements Scope {
  readonly #fixture = new Fixture()

  static async start(): Promise<Scope> {
    return new NodeScope()
  }

  async apply({ reviewed, since, firstFails, during, isAwayAtTheEnd, signal, noJournal }: Given = {}): Promise<Ended> {
    const { host, events } = this.#fixture
    const dirs = ['one', 'two'].map((name) => `${ROOT}/pods/${name}/volumes/kubernetes.io~secret/token`)
    const [one, two] = dirs.map((dir, index) =>
      operation(`op-${index}`, {
        pod: { uid: `pod-${index}` },
        steps: [step('umount', dir), step('rmdir', dir)],
        expects: [host.mount(dir)],
        after: index === 0 ? [] : ['op-0'],
      }),
    ) as [ReturnType<typeof operation>, ReturnType<typeof operation>]
    const made = planOf([one, two])
    const plan = {
      made,
      refused: { ...made, refused: REFUSED },
      'first blocked': planOf([{ ...one, blocked: { code: 'HeldBy', message: 'held' } }, two]),
      'without the first': planOf([two]),
      'first edited': planOf([{ ...one, steps: [] }, two]),
    }[reviewed ?? 'made']
    const isGone = since === 'first done' || since === 'first not needed'
    const now = isGone ? planOf([{ ...two, after: [] }]) : { ...made, ...(since === 'refused' && { refused: REFUSED }) }
    if (firstFails) host.busy.add(dirs[0] ?? '')
    const { umount } = host
    let isBegun = false
    host.umount = async (...parameters) => {
      if (!isBegun) await during?.()
      isBegun = true
      return await umount.apply(host, parameters)
    }
    let looks = 0
    this.#fixture.given = {
      isDone: ({ id }) => since === 'first done' && id === one.id,
      ...(signal && { signal }),
      ...(noJournal && { journalDir: '/proc/volctl' }),
      look: async () => {
        if (since === 'API away' || (looks++ > 0 && isAwayAtTheEnd)) throw new Error(AWAY)
        return { snapshot: {} as never, mounts: host.readMounts() }
      },
    }
    const result = await this.#fixture.apply(plan, (look) => (look === 0 ? now : planOf([])))
    return { result, events }
  }

  async failureOfAnother(): Promise<{ code: string }> {
    return await failureOf(this.#fixture.apply(planOf([operation('another')])))
  }

  async changes(): Promise<readonly string[]> {
    return this.#fixture.host.log
  }

  journal(): ReturnType<Scope['journal']> {
    return entriesIn(`${this.#fixture.directory}/journal`)
  }

  comeBack(): void {
    this.#fixture.kubelet = { running: true, mayReturn: true }
  }

  leaveLock(): void {
    const bootID = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    const dead = { pid: process.pid, startTime: '1', bootID, user: 'root', since: '2026-11-24T00:00:00Z' }
    writeFileSync(`${this.#fixture.directory}/lock`, JSON.stringify(dead), { mode: 0o600 })
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

const GONE = { nodeGone: ['gone'] }

/** A pod was moved from a node that is gone: its volume is detached there, and then attached where it is now. */
export class ClusterScope implements Scope {
  readonly #api: TestApiServer
  readonly #directory = temporaryDirectory()

  private constructor(api: TestApiServer) {
    this.#api = api
  }

  static async start(): Promise<Scope> {
    const api = await startApiServer({ detachDelayMs: -1 })
    await api.put(
      ...[...base(), ...node('busy'), ...claimed('other'), pod('other-0', 'busy', 'other'), attached('other', 'busy')],
      ...[...node('here'), ...claimed('data'), pod('web-0', 'here', 'data'), attached('data', 'gone')],
    )
    return new ClusterScope(api)
  }

  async apply({ reviewed, since, firstFails, during, isAwayAtTheEnd, signal, noJournal }: Given = {}): Promise<Ended> {
    const client = clientOf(this.#api)
    const made = await planOfCluster(client, GONE)
    const [one, two] = made.operations as [(typeof made.operations)[0], (typeof made.operations)[0]]
    const plan = {
      made,
      refused: { ...made, refused: REFUSED },
      'first blocked': {
        ...made,
        operations: [{ ...one, blocked: { code: 'NotSettled' as never, message: 'held' } }, two],
      },
      'without the first': { ...made, operations: [two] },
      'first edited': { ...made, operations: [{ ...one, node: 'elsewhere' }, two] },
    }[reviewed ?? 'made']
    await this.#change(since)
    // Without an attacher nothing is ever gone: what is interrupted then was under way.
    await using _ = signal === undefined ? await this.#attacher(firstFails) : undefined
    let isBegun = false
    let isDone = false
    const asking = beforeChange(client, async (method) => {
      if (method !== 'delete' || isBegun) return
      isBegun = true
      await during?.()
    })
    const used = new Proxy(asking, {
      get: (target, key) => {
        const value = Reflect.get(target, key)
        const isAsking = typeof value === 'function' && key !== 'replace'
        return isAsking && isDone && isAwayAtTheEnd ? () => Promise.reject(new Error(AWAY)) : value
      },
    })
    const settings = {
      options: GONE,
      ...(firstFails && { timeoutMs: 300 }),
      ...(signal && { signal }),
      openJournal: () => openJournal(noJournal ? '/proc/volctl' : this.#directory),
    }
    return await applyToCluster(used, plan, settings, ({ type, id }) => {
      isDone ||= type === 'done' && id === two.id
    })
  }

  #attacher(fails = false): Promise<AsyncDisposable> {
    return startAttacher(this.#api, { driver: DRIVER, ...(fails && { detachError: 'the disk is busy' }) })
  }

  async #change(since: Given['since']): Promise<void> {
    const api = this.#api
    if (since === 'first done') await api.remove('VolumeAttachment', attachmentOf('data', 'gone'))
    else if (since === 'first not needed') await api.put(...node('gone'), pod('web-1', 'gone', 'data'))
    else if (since === 'API away') await api.setFaults({ action: { type: 'status', status: 401 } })
    else if (since === 'refused') {
      for (const name of ['other-0', 'web-0']) await api.remove('Pod', name, 'shop')
      await api.put(...node('busy', { inUse: ['other'] }))
    }
  }

  async failureOfAnother(): Promise<{ code: string }> {
    const client = clientOf(this.#api)
    return await failureOf(applyToCluster(client, await planOfCluster(client, GONE), { options: GONE }))
  }

  async changes(): Promise<readonly string[]> {
    const requests = await this.#api.requests()
    return requests
      .filter(({ method, path, status }) => method !== 'GET' && path.includes('/volumeattachments') && status < 300)
      .map(({ method, path }) => `${method} ${path}`)
  }

  journal(): ReturnType<Scope['journal']> {
    return entriesIn(this.#directory)
  }

  comeBack(): Promise<unknown> {
    return this.#api.put(controllerLease(0))
  }

  leaveLock(): Promise<unknown> {
    return this.#api.put({
      kind: 'Lease',
      metadata: { namespace: 'kube-system', name: 'volctl-cluster-apply' },
      spec: { holderIdentity: 'root@ws pid 1', leaseDurationSeconds: 60, renewTime: ago(2) },
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#api.stop()
  }
}
