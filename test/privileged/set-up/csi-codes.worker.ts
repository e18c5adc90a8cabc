/** A gRPC code as the answer to a call that changes something, again and again, then once, then no more. */

import type { VolumeMode } from '../../../src/core/names/volume-names.ts'
import type { ApplyResult } from '../../../src/core/plan/events.ts'
import type { PlanOptions } from '../../../src/core/plan/plan.ts'
import type { CsiDriver } from '../../helpers/csi-driver/start.ts'
import {
  addVolume,
  blockLink,
  claim,
  DRIVER,
  handleOf,
  OTHER,
  POD,
  present,
  presentBlock,
  states,
  withDriver,
} from '../../helpers/csi-scene.ts'
import type { LiveNode } from '../../helpers/live-node.ts'
import { runScenario, sh } from '../../helpers/scenario.ts'

const VOLUME = 'pv-1'
const MIB = 1 << 20

/** How the operations of an apply ended, and what is there after it. */
type Attempt = readonly [states: readonly string[], there: readonly unknown[]]

interface Course {
  /** Twice while the fault strikes always, once where it strikes once more. */
  readonly failing: readonly Attempt[]
  /** The apply after it: by then the fault is over by itself. */
  readonly next: Attempt
  readonly planned: number
}

/** One volume, brought before the call that is to fail, through all of it, and back. */
interface Way {
  readonly options: Partial<PlanOptions>
  before(): Promise<void>
  there(): unknown[]
  /** The controller's part where it has to do something before the next try. */
  retry?(): void
  after(): Promise<void>
}

async function course(node: LiveNode, driver: CsiDriver, fault: string, way: Way): Promise<Course> {
  await way.before()
  const attempt = async (): Promise<Attempt> => {
    way.retry?.()
    return [states(await node.apply(way.options)), way.there()]
  }
  driver.setFaults(fault)
  const failing = [await attempt(), await attempt()]
  driver.setFaults(`${fault}:once`)
  failing.push(await attempt())
  const next = await attempt()
  const planned = (await node.plan(way.options)).operations.length
  driver.setFaults()
  await way.after()
  return { failing, next, planned }
}

/** The volume is wanted, attached, and not set up. */
function want(node: LiveNode): void {
  if (node.attachments.length === 0) node.attach(DRIVER, handleOf(VOLUME), VOLUME)
  node.pod(POD, 'a', [claim(VOLUME)])
}

async function takeDown(node: LiveNode): Promise<void> {
  node.forget(POD)
  await node.apply({ orphans: true })
}

const settingUp = (node: LiveNode): Way => ({
  options: {},
  before: async () => want(node),
  there: () => present(node, VOLUME),
  after: () => takeDown(node),
})

const takingDown = (node: LiveNode): Way => ({
  options: { orphans: true },
  async before() {
    want(node)
    await node.apply()
    node.forget(POD)
  },
  there: () => present(node, VOLUME),
  after: async () => undefined,
})

/** A raw block volume, which grows without a file system that would have to. */
class Growing implements Way {
  readonly options = { expand: true }
  readonly #node: LiveNode
  readonly #volume: string
  readonly #pod: string
  #size = 16

  constructor(node: LiveNode, volume: string, pod: string) {
    this.#node = node
    this.#volume = volume
    this.#pod = pod
  }

  /** The volume is larger by now, and the claim says that the node's turn has come. */
  async before(): Promise<void> {
    this.#size += 16
    this.#node.growVolume(this.#volume, { storage: this.#wanted })
    this.#node.setClaimStatus(`claim-${this.#volume}`, {
      phase: 'Bound',
      capacity: { storage: `${this.#size - 16}Mi` },
      allocatedResources: { storage: this.#wanted },
      allocatedResourceStatuses: { storage: 'NodeResizePending' },
    })
  }

  /** What is infeasible waits for a person and the controller. */
  retry(): void {
    const { status } = this.#claim
    if (status?.allocatedResourceStatuses?.storage !== 'NodeResizeInfeasible') return
    this.#node.setClaimStatus(`claim-${this.#volume}`, {
      ...status,
      allocatedResourceStatuses: { storage: 'NodeResizePending' },
    })
  }

  /** What the claim says of the size, its resize and its error, and whether the device has grown. */
  there(): unknown[] {
    const { capacity, allocatedResourceStatuses, conditions = [] } = this.#claim.status ?? {}
    const bytes = Number(sh('blockdev', '--getsize64', blockLink(this.#node, this.#volume, this.#pod)))
    return [
      capacity?.storage === this.#wanted,
      allocatedResourceStatuses?.storage ?? 'none',
      ...conditions.map(({ type }) => type),
      bytes === this.#size * MIB,
    ]
  }

  async after(): Promise<void> {}

  get #wanted(): string {
    return `${this.#size}Mi`
  }

  get #claim() {
    const claim = this.#node.claims.find(({ metadata }) => metadata.name === `claim-${this.#volume}`)
    if (claim === undefined) throw new Error(`no claim of ${this.#volume}`)
    return claim
  }
}

/** A block volume that is set up. */
async function growing(node: LiveNode, volume = VOLUME, pod = POD): Promise<Growing> {
  node.setClaimStatus(`claim-${volume}`, { phase: 'Bound', capacity: { storage: '16Mi' } })
  node.pod(pod, `pod-of-${volume}`, [claim(volume)], { devices: true })
  await node.apply()
  return new Growing(node, volume, pod)
}

const add = (node: LiveNode, volume: string, volumeMode: VolumeMode): void =>
  addVolume(node, volume, { volumeMode, capacity: { storage: '16Mi' } })

const THIRD = '00000000-0000-4000-8000-000000000003'

/** How the operations that call the driver ended. */
function byVolume({ outcomes }: ApplyResult): string[] {
  return outcomes
    .filter(({ kind }) => /^(UnmountVolume|UnmountDevice|ExpandVolume)$/.test(kind))
    .map(({ kind, state, code }) => [kind, state, code].filter(Boolean).join(' '))
    .toSorted()
}

await runScenario({
  /** @param faults `fail RPC=CODE` of one RPC, by turns on the same volume */
  codes: (directory, [rpc = '', ...faults]) =>
    withDriver(directory, {}, async (node, driver) => {
      const expands = rpc === 'NodeExpandVolume'
      add(node, VOLUME, expands ? 'Block' : 'Filesystem')
      const way = expands ? await growing(node) : /Un/.test(rpc) ? takingDown(node) : settingUp(node)
      const seen: Record<string, Course> = {}
      for (const fault of faults) seen[fault] = await course(node, driver, fault, way)
      return { seen, violations: driver.violations() }
    }),

  /** One volume is to be unpublished, one unstaged, one expanded, while the driver is still at work on each. */
  pending: (directory) =>
    withDriver(directory, {}, async (node, driver) => {
      add(node, 'pv-1', 'Filesystem')
      add(node, 'pv-2', 'Filesystem')
      add(node, 'pv-3', 'Block')
      node.pod(POD, 'a', [claim('pv-1')])
      node.pod(OTHER, 'b', [claim('pv-2')])
      const volume = await growing(node, 'pv-3', THIRD)
      node.forget(OTHER)
      driver.setFaults('fail NodeUnstageVolume=INTERNAL')
      await node.apply({ orphans: true })
      node.forget(POD)
      await volume.before()
      const apply = async (times: string): Promise<unknown> => {
        const rpcs = ['NodeUnpublishVolume', 'NodeUnstageVolume', 'NodeExpandVolume']
        driver.setFaults(...rpcs.map((rpc) => `fail ${rpc}=ABORTED${times}`))
        const ends = byVolume(await node.apply({ orphans: true, expand: true }))
        return [ends, present(node, 'pv-1'), present(node, 'pv-2', OTHER), volume.there()]
      }
      const always = await apply('')
      const once = await apply(':once')
      const planned = (await node.plan({ orphans: true, expand: true })).operations.length
      const mapped = presentBlock(node, 'pv-3', THIRD).length
      return { always, once, planned, mapped, violations: driver.violations() }
    }),
})
