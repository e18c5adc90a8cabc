/**
 * A node whose disk and mounts are real and whose API, runtime and kubelet are given: plans and applies as volctl does,
 * for tests with real mounts. To be used inside a namespace (see scenario.ts).
 */

import { mkdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { applyPlan } from '../../src/core/apply/apply-plan.ts'
import { openJournal } from '../../src/core/apply/journal/write-journal.ts'
import type { ApplyContext, CsiNode } from '../../src/core/apply/operation/step.ts'
import type {
  ApiObject,
  ConfigMap,
  CsiDriver,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
} from '../../src/core/kube/api/objects.ts'
import { digestedConfigMap, digestedSecret } from '../../src/core/kube/api/resources.ts'
import type { ClaimStatusPatch } from '../../src/core/kube/writes.ts'
import { loopDevices, readBackingFile } from '../../src/core/linux/block/device-use.ts'
import type { MountInfo, MountTable } from '../../src/core/linux/mount-table.ts'
import { parseMountinfo } from '../../src/core/linux/parse-mountinfo.ts'
import { withoutCopies } from '../../src/core/linux/propagation.ts'
import { isInUserNamespace } from '../../src/core/linux/standing.ts'
import type { Cluster } from '../../src/core/node/api/node-objects.ts'
import { hostPaths } from '../../src/core/node/host-paths.ts'
import { mountTableReader } from '../../src/core/node/read-mountinfo.ts'
import { scanTree } from '../../src/core/node/tree/read-tree.ts'
import { structureLinks } from '../../src/core/node/tree/structure-links.ts'
import type { ApplyEvent, ApplyResult } from '../../src/core/plan/events.ts'
import type { Operation, Plan, PlanOptions } from '../../src/core/plan/plan.ts'
import { planNode } from '../../src/core/reconcile/plan-node.ts'
import { csiNodeClient } from '../../src/core/rpc/csi-node-client.ts'
import { discoverCsiSockets } from '../../src/core/rpc/discover-csi-sockets.ts'
import { endpointPath } from '../../src/core/rpc/endpoints.ts'
import { type Host, linuxHost } from '../../src/core/rules/host.ts'
import { apiLookup } from '../../src/core/volumes/api-lookup.ts'
import { onDiskUid } from '../../src/core/volumes/pods.ts'
import { desiredStateOfPods } from '../../src/core/volumes/populate.ts'
import type { ApiSnapshot, NodeState, TreeEntry } from '../../src/core/volumes/snapshot.ts'
import { attachmentName, csiUniqueName, parseCsiUniqueName } from '../../src/core/volumes/volume-names.ts'
import { endOf } from './apply-plan.ts'
import { DescribedNode, DRIVER } from './described-node.ts'
import { ready } from './objects.ts'
import { planOptions } from './plan-options.ts'
import { type Mounted, makeEntry, mountAt } from './pod-files.ts'
import { PROCESS_READER } from './process-reader/command.ts'
import { nodeProgram } from './programs.ts'
import { strategicMerge } from './strategic-merge.ts'
import { UNASKED_CLUSTER } from './unasked.ts'

const WALKER = new URL('./walker/main.ts', import.meta.url)

/** A secret as in the API server. */
export interface FullSecret {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly uid: string }
  /** base64 */
  readonly data: Readonly<Record<string, string>>
}

/** UIDs for pods that a test gives it. */
export const POD = '00000000-0000-4000-8000-000000000001'
export const OTHER = '00000000-0000-4000-8000-000000000002'
const WITNESS = '00000000-0000-4000-8000-00000000000a'

export class LiveNode extends DescribedNode {
  readonly root: string
  readonly configMaps: ConfigMap[] = []
  secrets: FullSecret[] = []
  readonly csiDrivers: CsiDriver[] = []
  cluster: Partial<Cluster> = {}
  context: Partial<ApplyContext> = {}
  /** Called first with every patch of a claim's status; an error that it throws is the answer. */
  onClaimPatch: (patch: ClaimStatusPatch) => void = () => {}

  /** @param directory of the scenario; the root directory is made below it */
  constructor(directory: string) {
    super()
    this.root = `${directory}/kubelet`
    // One pod always runs, so that the witnesses can prove that they see pods.
    for (const path of ['plugins', `pods/${WITNESS}`]) mkdirSync(`${this.root}/${path}`, { recursive: true })
    this.pod(WITNESS, 'witness').running(WITNESS)
  }

  override entry(entry: TreeEntry): this {
    makeEntry(this.root, entry)
    return this
  }

  override mount(path: string, given: Mounted = {}): this {
    mountAt(`${this.root}/${path}`, given)
    return this
  }

  override pod(...[uid, name, volumes, given]: Parameters<DescribedNode['pod']>): this {
    return super.pod(uid, name, volumes, { phase: 'Pending', ...given })
  }

  setClaimStatus(name: string, status: PersistentVolumeClaim['status']): void {
    const index = this.claims.findIndex((each) => each.metadata.name === name)
    this.claims[index] = { ...(this.claims[index] as PersistentVolumeClaim), ...(status && { status }) }
  }

  growVolume(name: string, capacity: { readonly storage: string }): void {
    const index = this.volumes.findIndex((each) => each.metadata.name === name)
    const volume = this.volumes[index] as PersistentVolume
    this.volumes[index] = { ...volume, spec: { ...volume.spec, capacity } }
  }

  /** A secret in the namespace `default`, replacing one of this name. */
  addSecret(name: string, data: Readonly<Record<string, string>>): void {
    const encoded = Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')])
    const metadata = { name, namespace: 'default', uid: `secret-${name}` }
    this.secrets = [
      ...this.secrets.filter((secret) => secret.metadata.name !== name),
      { metadata, data: Object.fromEntries(encoded) },
    ]
  }

  /** The state before a mount, made by the controller and a kubelet: attached, and reported in use. */
  override attach(volume: string, handle = volume): this {
    const status = { attached: true, attachmentMetadata: { path: `disk-${handle}` } }
    super.attach(volume, handle, 'node-1', { status })
    this.inUse.push(csiUniqueName(DRIVER, handle))
    return this
  }

  /** Deletes a pod from the API; nothing of it runs any more. */
  forget(uid: string): void {
    this.pods = this.pods.filter((pod) => pod.metadata.uid !== uid)
    this.processes = this.processes.filter((each) => each !== uid)
    this.sandboxes = this.sandboxes.filter((each) => each.uid !== uid)
  }

  mounts(): MountTable {
    const table = parseMountinfo(readFileSync('/proc/self/mountinfo'))
    return table.withLinks(structureLinks(this.root, table).links)
  }

  /** Everything below the root directory, each mount once, however often the table shows it (O35). */
  mounted(): MountInfo[] {
    const table = this.mounts()
    return table
      .under(this.root)
      .filter((each) => each.mountPoint !== this.root && withoutCopies(table, each.mountPoint).includes(each))
  }

  override api(): ApiSnapshot {
    const api = super.api()
    const allocatable = { memory: '64Mi', cpu: '2' }
    return {
      ...api,
      node: api.node && {
        ...api.node,
        status: { ...api.node.status, ...ready(new Date().toISOString()), allocatable },
      },
      csiDrivers: this.csiDrivers,
      configMaps: this.configMaps.map((each) => digestedConfigMap(structuredClone(each))),
      secrets: this.secrets.map((each) => digestedSecret(structuredClone(each))),
    }
  }

  async look(): Promise<NodeState> {
    const mounts = this.mounts()
    const scan = await scanTree({ rootDir: this.root, mounts, attributes: 'all' })
    const snapshot = this.snapshot({
      capturedAt: new Date().toISOString(),
      rootDir: this.root,
      kernelVersion: '6.12.0',
      ...(isInUserNamespace() && { userNamespace: true }),
      mountinfo: mounts.text,
      tree: scan.complete(new Map()),
      blockDevices: ownLoops(loopDevices(), dirname(this.root)),
      csiSockets: await discoverCsiSockets(this.root, scan.listed()),
      hostPaths: await hostPaths(this.api(), mounts, (uid) => this.processes.includes(uid)),
    })
    return { snapshot, mounts }
  }

  async plan(options: Partial<PlanOptions> = {}): Promise<Plan> {
    return planNode(await this.look(), planOptions(options))
  }

  async operations(options: Partial<PlanOptions> = {}): Promise<readonly Operation[]> {
    return (await this.plan(options)).operations
  }

  async outcomes(...given: Parameters<LiveNode['apply']>): Promise<ApplyResult['outcomes']> {
    return (await this.apply(...given)).outcomes
  }

  /** How each operation of an apply ended: `done`, or `refused HeldBy`. */
  async applied(...given: Parameters<LiveNode['apply']>): Promise<string[]> {
    return (await this.outcomes(...given)).map(endOf)
  }

  /** The same with its kind: `MountVolume done`. */
  async ended(...given: Parameters<LiveNode['apply']>): Promise<string[]> {
    return (await this.outcomes(...given)).map((each) => `${each.kind} ${endOf(each)}`)
  }

  /** Plans and applies, with real system calls and programs. */
  async apply(
    options: Partial<PlanOptions> = {},
    onEvent: (event: ApplyEvent) => void = () => {},
  ): Promise<ApplyResult> {
    const { links } = structureLinks(this.root, parseMountinfo(readFileSync('/proc/self/mountinfo')))
    const plan = await this.plan(options)
    const context = liveContext(this.root, {
      freshPlan: plan,
      look: async () => planNode(await this.look(), planOptions(options), 'again'),
      readMounts: mountTableReader(this.root, links),
      witness: async () => ({
        listed: new Set(this.pods.map(onDiskUid)),
        alive: new Set(this.processes),
        apiPods: this.pods,
      }),
      csi: (driver) => this.csiNode(driver),
      csiDriver: (name) => apiLookup(this.api()).csiDriver(name),
      cluster: {
        ...UNASKED_CLUSTER,
        deleteVolumeAttachment: async ({ name }) => this.#detach(name),
        getVolumeAttachment: async (name) => this.attachments.find(({ metadata }) => metadata.name === name),
        getClaim: async (namespace, name) => this.claims.find((each) => isNamed(each, namespace, name)),
        patchClaimStatus: async (namespace, name, patch) => this.#patchClaim(namespace, name, patch),
        listVolumeAttachments: async () => this.attachments,
        getNode: async () => this.api().node as Node,
        listNodePods: async () => this.pods,
        getPod: async (namespace, name) => this.pods.find((pod) => isNamed(pod, namespace, name)),
        getConfigMap: async (namespace, name) => this.configMaps.find((each) => isNamed(each, namespace, name)),
        getSecret: async (namespace, name) => this.secrets.find((each) => isNamed(each, namespace, name)),
        ...this.cluster,
      },
      wanted: (pod, uniqueName) =>
        desiredStateOfPods([pod], this.api()).volumes.find((volume) => volume.uniqueName === uniqueName),
      walker: nodeProgram(WALKER).flat(),
      ...this.context,
    })
    return applyPlan(plan, context, onEvent)
  }

  #patchClaim(namespace: string, name: string, patch: ClaimStatusPatch): PersistentVolumeClaim {
    const index = this.claims.findIndex((each) => isNamed(each, namespace, name))
    const claim = this.claims[index]
    if (claim === undefined) throw new Error(`no claim ${namespace}/${name}`)
    this.onClaimPatch(patch)
    const patched = { ...claim, status: strategicMerge(claim.status ?? {}, patch.status) }
    this.claims[index] = patched
    return patched
  }

  /** What attacher and controller do about a deleted attachment. */
  #detach(name: string): void {
    this.attachments = this.attachments.filter(({ metadata }) => metadata.name !== name)
    const isOther = (uniqueName: string): boolean => {
      const volume = parseCsiUniqueName(uniqueName)
      return volume === undefined || attachmentName(volume.handle, volume.driver, 'node-1') !== name
    }
    this.attached = this.attached.filter(isOther)
    this.inUse = this.inUse.filter(isOther)
  }

  /** The driver that answers at the moment, found like a real one. */
  async csiNode(driver: string): Promise<CsiNode | undefined> {
    const scan = await scanTree({ rootDir: this.root, mounts: this.mounts(), attributes: 'plan' })
    const sockets = await discoverCsiSockets(this.root, scan.listed())
    const socket = sockets.find((each) => each.driver === driver && each.registered)
    const path = socket === undefined ? undefined : endpointPath(this.root, socket)
    return path === undefined ? undefined : csiNodeClient(driver, path)
  }
}

function isNamed({ metadata }: ApiObject, namespace: string, name: string): boolean {
  return metadata.namespace === namespace && metadata.name === name
}

/** Of an apply on real mounts and devices, where nobody lives and nobody is asked, but for what is given. */
export function liveContext(
  root: string,
  given: Partial<ApplyContext> & Pick<ApplyContext, 'look' | 'readMounts'>,
): ApplyContext {
  return {
    kubeletState: () => ({ running: false, mayReturn: false }),
    renewedLease: async () => undefined,
    isDone: () => false,
    witness: async () => ({ listed: new Set(), alive: new Set(), apiPods: [] }),
    csi: () => undefined,
    csiDriver: () => ({ state: 'Absent' }),
    cluster: UNASKED_CLUSTER,
    wantedOf: () => ({ names: new Map(), volumes: [], unresolved: [] }),
    wanted: () => undefined,
    processReader: PROCESS_READER,
    lockFile: `${root}.lock`,
    openJournal: () => openJournal(`${root}.journal`),
    parallel: 8,
    timeoutMs: 20_000,
    ...given,
    host: withOwnDevices(given.host ?? linuxHost, dirname(root)),
  }
}

/**
 * Loop devices on a file below a scenario's directory, or on such a loop device or its partition. They are the machine's, and so are the
 * file systems on them: those of another test, or of a killed one, may have a backing file that is not visible here, and be anyone's.
 */
function ownLoops<T extends { readonly backingFile?: string }>(loops: readonly T[], directory: string): T[] {
  const isOwn = (file = ''): boolean => {
    const [, below] = /^\/dev\/(loop\d+)/.exec(file) ?? []
    return file.startsWith(`${directory}/`) || (below !== undefined && isOwn(readBackingFile(below)))
  }
  return loops.filter(({ backingFile }) => isOwn(backingFile))
}

/** The real host, without the devices of other scenarios. */
function withOwnDevices(host: Host, directory: string): Host {
  const own: Partial<Host> = {
    loops: () => ownLoops(host.loops(), directory),
    hiddenFileSystems: (tables) =>
      host
        .hiddenFileSystems(tables)
        .filter(({ device }) => ownLoops([{ backingFile: readBackingFile(device) ?? '' }], directory).length > 0),
  }
  // Properties of a host that is itself a proxy are only read when used.
  return new Proxy(host, {
    get: (target, key, receiver) => Reflect.get(own, key) ?? Reflect.get(target, key, receiver),
  })
}
