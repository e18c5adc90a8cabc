/** Plans of one or two operations and a context made of fakes, for tests of apply. */
import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, vi } from 'vitest'
import { applyPlan } from '../../src/core/apply/apply-plan.ts'
import { openJournal } from '../../src/core/apply/journal/write-journal.ts'
import type { ApplyContext, CsiNode } from '../../src/core/apply/operation/step.ts'
import type { Node, Pod, VolumeAttachment } from '../../src/core/kube/api/objects.ts'
import type { Cluster } from '../../src/core/node/api/node-objects.ts'
import type { ApplyEvent, ApplyResult, Outcome } from '../../src/core/plan/events.ts'
import type { Operation, Plan, VolumeRef } from '../../src/core/plan/plan.ts'
import type { Witness } from '../../src/core/rules/machine-facts.ts'
import type { UnresolvedVolume, VolumeSpec, VolumeToMount } from '../../src/core/volumes/desired-state.ts'
import type { DeviceSource } from '../../src/core/volumes/plugin.ts'
import { onDiskUid } from '../../src/core/volumes/pods.ts'
import type { ControllerWanted } from '../../src/core/volumes/populate.ts'
import type { Step, StepOp } from '../../src/core/volumes/steps.ts'
import { bareOperation, barePlan, endOf } from '../helpers/apply-plan.ts'
import { reported } from '../helpers/objects.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { UNASKED_CLUSTER, UNASKED_DRIVER } from '../helpers/unasked.ts'
import { FakeHost } from './fake-host.ts'

export const ROOT = '/var/lib/kubelet'
export const POD = '11111111-1111-4111-8111-111111111111'

export const DEVICE = '/dev/sdb'

export function localVolume(name: string, mode: 'Filesystem' | 'Block' = 'Filesystem') {
  const plugin = 'kubernetes.io/local-volume'
  return { name, plugin, uniqueName: `${plugin}/${name}`, mode }
}

export function step(op: StepOp, target: string, detail?: string): Step {
  return { op, target, detail } as Step
}

export function operation(id: string, given: Partial<Operation> = {}): Operation {
  return bareOperation(id, POD, given.steps ?? [], given)
}

export function planOf(operations: readonly Operation[], given: Partial<Plan> = {}): Plan {
  return barePlan(ROOT, operations, given)
}

/** In this file the pauses between two looks are over at once; deadlines are not. */
export function withoutPauses(): void {
  const real = globalThis.setTimeout
  const isPause = (ms = 0): boolean => ms > 50 && ms <= 1000
  beforeEach(() => {
    vi.spyOn(globalThis, 'setTimeout').mockImplementation(((call: () => void, ms?: number) =>
      real(call, isPause(ms) ? 0 : ms)) as typeof setTimeout)
  })
  afterEach(() => {
    vi.restoreAllMocks()
  })
}

export class Fixture {
  readonly host = new FakeHost()
  readonly events: ApplyEvent[] = []
  readonly calls: string[] = []
  readonly directory = temporaryDirectory()
  kubelet = { running: false, mayReturn: false }
  witness: Witness = { listed: new Set(), alive: new Set(), apiPods: [] }
  wanted = new Set<string>()
  sources: readonly DeviceSource[] | undefined = []
  attachment: VolumeAttachment | undefined
  otherAttachments: readonly VolumeAttachment[] = []
  pods: Pod[] = []
  volumes: VolumeToMount[] = []
  /** What the driver does beside answering; throws to fail. */
  driver: ((method: string, path: string) => void | Promise<void>) | undefined = () => {}
  afterDelete: VolumeAttachment | undefined
  given: Partial<ApplyContext> = {}
  /** The Node reports all that the plan is about. */
  #status: NonNullable<Node['status']> = {}

  apply(given: Plan | readonly Operation[], fresh?: Plan | ((look: number) => Plan)): Promise<ApplyResult> {
    const plan = 'operations' in given ? given : planOf(given)
    const names = plan.operations.flatMap(({ volume }) => volume?.uniqueName ?? [])
    this.#status = reported(names)
    const again = fresh ?? ((look) => (look === 0 ? plan : planOf([])))
    return applyPlan(plan, this.context(again), (event) => this.events.push(event))
  }

  /** At whatever path a step looks is the device. @param programs all but what looks there @param stat what else is there */
  onDevice(programs: FakeHost['programs'] = () => ({}), stat = '61b0 8 10'): this {
    this.host.programs = (program, args, input) => {
      if (program === 'stat') return { stdout: `${stat} ${args.at(-1)}\n` }
      return program === 'readlink' ? { stdout: `${DEVICE}\n` } : programs(program, args, input)
    }
    return this
  }

  /** How an operation ends by itself. */
  async applyOne(given: Partial<Operation>): Promise<Outcome & { readonly end: string }> {
    const [outcome] = (await this.apply([operation('a', given)])).outcomes
    if (outcome === undefined) throw new Error('no outcome')
    return { ...outcome, end: endOf(outcome) }
  }

  context(fresh: Plan | ((look: number) => Plan)): ApplyContext {
    let looks = 0
    const csi: CsiNode = {
      ...UNASKED_DRIVER,
      nodeUnpublishVolume: async ({ volumeId, targetPath = '' }) => {
        this.calls.push(`NodeUnpublishVolume ${volumeId} ${targetPath}`)
        await this.driver?.('NodeUnpublishVolume', targetPath)
      },
      nodeUnstageVolume: async ({ volumeId, stagingTargetPath = '' }) => {
        this.calls.push(`NodeUnstageVolume ${volumeId} ${stagingTargetPath}`)
        await this.driver?.('NodeUnstageVolume', stagingTargetPath)
      },
    }
    const cluster: Cluster = {
      ...UNASKED_CLUSTER,
      deleteVolumeAttachment: async ({ name, ...preconditions }) => {
        this.calls.push(`DELETE ${name} ${JSON.stringify(preconditions)}`)
        this.attachment = this.afterDelete
      },
      getVolumeAttachment: async () => this.attachment,
      getNode: async () => ({ metadata: { name: 'node-1', uid: 'n' }, status: this.#status }),
      listNodePods: async () => this.pods,
      listVolumeAttachments: async () => this.otherAttachments,
    }
    const readMounts = () => this.host.readMounts()
    return {
      look: async () => (typeof fresh === 'function' ? fresh(looks++) : fresh),
      readMounts,
      kubeletState: () => this.kubelet,
      renewedLease: async () => undefined,
      isDone: () => false,
      witness: async () => this.witness,
      csi: () => (this.driver === undefined ? undefined : csi),
      csiDriver: () => ({ state: 'Absent' }),
      cluster,
      wantedOf: () => this.wantedOf(),
      wanted: (pod, uniqueName) => this.wantedVolume(pod, uniqueName),
      host: this.host,
      walker: ['walker'],
      lockFile: `${this.directory}/lock`,
      openJournal: () => openJournal(`${this.directory}/journal`),
      detachWaitMs: 0,
      parallel: 8,
      timeoutMs: 120_000,
      ...this.given,
    }
  }

  /** The pod is in the API, and wants this volume. */
  wants(volume: Pick<VolumeToMount, 'plugin' | 'uniqueName' | 'mode'>): this {
    const metadata = { name: 'p', namespace: 'n', uid: POD }
    this.witness = { listed: new Set([POD]), alive: new Set(), apiPods: [{ metadata, spec: {} }] }
    this.volumes = [{ ...volume, podUid: POD } as VolumeToMount]
    return this
  }

  /** The driver unmounts. @param mount absent: nothing is mounted there any more */
  unstage(volume: VolumeRef, target: string, mount?: Parameters<FakeHost['mount']>[1]): Operation {
    const expects = mount === undefined ? [] : [this.host.mount(target, { fsType: 'ext4', ...mount })]
    this.driver = () => {
      this.host.mounts = this.host.mounts.filter(({ path }) => path !== target)
    }
    return operation('unstage', { kind: 'UnmountDevice', volume, steps: [step('NodeUnstageVolume', target)], expects })
  }

  wantedOf(): ControllerWanted {
    return {
      names: new Map([...this.wanted].map((name) => [name, []])),
      volumes: (this.sources ?? []) as readonly VolumeSpec[],
      unresolved: this.sources === undefined ? [{ mayBe: 'any' } as UnresolvedVolume] : [],
    }
  }

  /** The one that the fixture was given for the pod. */
  wantedVolume(pod: Pod, uniqueName: string): VolumeToMount | undefined {
    return this.volumes.find((volume) => volume.podUid === onDiskUid(pod) && volume.uniqueName === uniqueName)
  }

  /** Entries of the journal, oldest first. */
  journal(): { type: string; [key: string]: unknown }[] {
    const text = readFileSync(`${this.directory}/journal/journal.jsonl`, 'utf8')
    return text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
  }
}
