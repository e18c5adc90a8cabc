/**
 * kube-controller-manager's attach/detach controller, as far as the API sees it: it holds the lease, and attaches and detaches while
 * it leads. Nothing happens unasked.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { VolumeAttachment } from '../../../src/core/kube/api/objects.ts'
import { ATTACHMENTS, LEASES, listPath, NODES, objectPath } from '../../../src/core/kube/api/resources.ts'
import { ApiError } from '../../../src/core/kube/api-error.ts'
import { createKubeClient, type KubeClient } from '../../../src/core/kube/kube-client.ts'
import { discoverKubeConfig } from '../../../src/core/kube/kubeconfig/kube-config.ts'
import { type Action, decide, type Memory } from './decide.ts'
import { lookAtWorld } from './world.ts'

export interface ControllerPass {
  readonly leads: boolean
  /** Changes that the server made for it. */
  readonly did: readonly string[]
  /** Changes that somebody else made before. */
  readonly late: readonly string[]
  /** Attachments that it saw on the way: not attached yet, or not gone yet. */
  readonly open: number
}

const LEASE = objectPath(LEASES, { namespace: 'kube-system', name: 'kube-controller-manager' })
const IDENTITY = 'cp-1'

interface Lease {
  readonly spec: { readonly holderIdentity: string; readonly leaseDurationSeconds: number; readonly renewTime: string }
}

export class Controller {
  readonly #client: KubeClient
  readonly #memory: Memory = new Map()
  #isHalted = false
  #running: Promise<ControllerPass> | undefined
  #goOn = (): void => undefined

  constructor(kubeconfig: string) {
    this.#client = createKubeClient(discoverKubeConfig({ kubeconfig }))
  }

  /**
   * One attempt to get the lease, or to keep it. A candidate of client-go waits by its own clock from the last change that it saw;
   * this one by the times in the lease, so that a test can let time pass.
   *
   * @returns whether it leads
   */
  async renew(): Promise<boolean> {
    const lease = await this.#client.get<Lease>(LEASE)
    const { holderIdentity, renewTime, leaseDurationSeconds } = lease.spec
    const isHeld = Date.parse(renewTime) + leaseDurationSeconds * 1000 > Date.now()
    if (holderIdentity !== IDENTITY && isHeld) return false
    const spec = { ...lease.spec, holderIdentity: IDENTITY, renewTime: new Date().toISOString().replace('Z', '000Z') }
    await this.#client.send('replace', LEASE, { ...lease, spec })
    return true
  }

  /** The same; and, where it leads, one pass. @param before each change */
  async pass(before: (change: string) => Promise<void> | void = () => undefined): Promise<ControllerPass> {
    const [did, late]: [string[], string[]] = [[], []]
    if (!(await this.renew())) {
      // kube-controller-manager ends here, and what starts in its place remembers nothing.
      this.#memory.clear()
      return { leads: false, did, late, open: 0 }
    }
    const world = await lookAtWorld(this.#client)
    for (const action of decide(world, this.#memory, { now: Date.now(), longestWaitMs: 0 })) {
      const text = textOf(action)
      await before(text)
      const isDone = await this.#carryOut(action)
      ;(isDone ? did : late).push(text)
    }
    return { leads: true, did, late, open: world.attachments.filter(isOnTheWay).length }
  }

  /** Passes until it no longer leads or this says so. @returns all that it did */
  async #passesUntil(isOver: (last: ControllerPass) => boolean): Promise<ControllerPass> {
    const all = { leads: true, did: [] as string[], late: [] as string[], open: 0 }
    for (;;) {
      const last = await this.pass()
      all.leads &&= last.leads
      all.did.push(...last.did)
      all.late.push(...last.late)
      if (isOver(last)) return all
      await pause(20)
    }
  }

  /** Passes until there is nothing to do and nothing on the way. */
  settle(): Promise<ControllerPass> {
    return this.#passesUntil(({ leads, did, open }) => !leads || (did.length === 0 && open === 0))
  }

  /** Begins a pass, and stops it right before its first change. @returns the change */
  async stopBeforeChange(): Promise<string> {
    const stopped = Promise.withResolvers<string>()
    const goesOn = Promise.withResolvers<void>()
    this.#goOn = goesOn.resolve
    this.#running = this.pass((change) => {
      stopped.resolve(change)
      return goesOn.promise
    })
    return await stopped.promise
  }

  /** Makes the change before which it stopped, and ends the pass. */
  async goOn(): Promise<ControllerPass | undefined> {
    this.#goOn()
    return await this.#running
  }

  /** Passes all the time, until `halt`. */
  run(): void {
    this.#isHalted = false
    this.#running = this.#passesUntil(() => this.#isHalted)
  }

  async halt(): Promise<ControllerPass | undefined> {
    this.#isHalted = true
    return await this.#running
  }

  close(): void {
    this.#client.close()
  }

  /** No preconditions: so does the controller (R738, R745). @returns false: somebody else was first */
  async #carryOut(action: Action): Promise<boolean> {
    const client = this.#client
    try {
      switch (action.kind) {
        case 'report': {
          const volumesAttached = action.volumes.map((name) => ({ name, devicePath: '' }))
          await client.send('mergePatch', objectPath(NODES, { name: action.node }), { status: { volumesAttached } })
          return true
        }
        case 'detach':
          await client.send('delete', objectPath(ATTACHMENTS, { name: action.attachment }), { kind: 'DeleteOptions' })
          return true
        case 'attach':
          await client.send('create', listPath(ATTACHMENTS), {
            apiVersion: 'storage.k8s.io/v1',
            kind: 'VolumeAttachment',
            metadata: { name: action.attachment },
            spec: action.spec,
          })
          return true
        default:
          throw action satisfies never
      }
    } catch (error) {
      if (error instanceof ApiError && (error.status === 404 || error.status === 409)) return false
      throw error
    }
  }
}

function isOnTheWay({ metadata, status }: VolumeAttachment): boolean {
  return metadata.deletionTimestamp != null || status?.attached !== true
}

function textOf({ kind, node, ...action }: Action): string {
  return 'volume' in action ? `${kind} ${action.volume} ${node}` : `${kind} ${node}`
}
