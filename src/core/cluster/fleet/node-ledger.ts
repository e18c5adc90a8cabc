/**
 * What one node's snapshot shows of volumes that could be attached, in a few hundred bytes: the snapshot itself is dropped, so that a
 * thousand of them fit into memory one after another.
 */

import type { ActualInputs } from '../../actual/actual-inputs.ts'
import type { BlockMapping } from '../../actual/block-volume.ts'
import { isWithin } from '../../files/path-within.ts'
import { compareText } from '../../lang/compare-text.ts'
import { defined } from '../../lang/defined.ts'
import { uniqueNameOfRow, type VolumeRow } from '../../ledger/row.ts'
import type { NodeState } from '../../model/node-state.ts'
import type { NodeSnapshot } from '../../model/snapshot.ts'
import { locate } from '../../mountinfo/location.ts'
import type { MountInfo } from '../../mountinfo/mount-table.ts'
import { CSI_PLUGIN, csiUniqueName } from '../../names/volume-names.ts'
import type { FoundOnNode } from '../../plan/cluster-plan.ts'
import { DEFAULT_SETTLE_MS, type PlanOptions } from '../../plan/plan.ts'
import { PLUGINS } from '../../plugins/registry.ts'
import { unreadParts } from '../../reconcile/context/unread.ts'
import { makeContext } from '../../reconcile/plan-context.ts'

export interface NodeLedger {
  /** Where the snapshot was read from: a file, or its place in a stream. */
  readonly source: string
  readonly node: string
  /** RFC 3339, in the API server's clock where the snapshot knows how far this host's is from it (S28). */
  readonly capturedAt: string
  readonly bootID?: string
  readonly bootTime?: string
  readonly machineID?: string
  readonly systemUUID?: string
  readonly server?: string
  /** UID of the Node object that the snapshot has. */
  readonly nodeUID?: string
  /** What the look could not see; empty: what is not in `volumes` is not on the node. */
  readonly unseen: readonly string[]
  readonly volumes: readonly LedgerVolume[]
}

export interface LedgerVolume {
  /** Absent: nothing proves which volume it is; it may be any of `driver`, or any at all. */
  readonly uniqueName?: string
  readonly driver?: string
  readonly handle?: string
  /** What proves driver and handle, or why nothing does. */
  readonly identity: string
  /** Empty: only wanted. */
  readonly found: readonly FoundOnNode[]
  /** By a pod of the node, when the snapshot was taken. */
  readonly wanted: boolean
}

/** Nothing narrows what is looked at. */
const OPTIONS: PlanOptions = {
  ...{ orphans: false, remount: false, expand: false, settleMs: DEFAULT_SETTLE_MS },
  ...{ driverGone: [], handles: {}, forceUnmount: [], lazy: [], volctlVersion: '' },
}

/** @param source what messages call the snapshot */
export function nodeLedger(state: NodeState, source: string): NodeLedger {
  const { snapshot } = state
  const context = makeContext(state, OPTIONS)
  const { inputs } = context
  const volumes = context.ledger.all
  const known = volumes.flatMap((volume) => ledgerVolume(inputs, volume) ?? [])
  const ledger: NodeLedger = {
    ...{ source, node: snapshot.nodeName, capturedAt: serverTime(snapshot) },
    ...defined({ bootID: snapshot.bootID, bootTime: snapshot.bootTime }),
    ...defined({ machineID: snapshot.machineID, systemUUID: snapshot.systemUUID }),
    ...defined({ server: snapshot.api?.server, nodeUID: snapshot.api?.node?.metadata.uid }),
    unseen: unseenOf(inputs),
    volumes: [...known, ...unclaimed(inputs, volumes), ...detachedLazily(snapshot)].toSorted((a, b) =>
      compareText(`${a.uniqueName ?? ''} ${a.found[0]?.path ?? ''}`, `${b.uniqueName ?? ''} ${b.found[0]?.path ?? ''}`),
    ),
  }
  // A text that was cut out of the mount table would keep the whole of it in memory.
  return JSON.parse(JSON.stringify(ledger)) as NodeLedger
}

function serverTime({ capturedAt, api }: NodeSnapshot): string {
  const time = Date.parse(capturedAt) + (api?.clockSkewMs ?? 0)
  return Number.isNaN(time) ? capturedAt : new Date(time).toISOString().replace(/\.\d+/, '')
}

/** Undefined: it is of a plugin whose volumes are never attached, or nothing of it is there. */
function ledgerVolume(inputs: ActualInputs, volume: VolumeRow): LedgerVolume | undefined {
  const { identity, unidentified, wanted, unresolved } = volume
  const uniqueName = uniqueNameOfRow(volume)
  if (isNeverAttached(volume, uniqueName)) return undefined
  const found = foundOf(inputs, volume)
  const isWanted = wanted.length + unresolved.length > 0
  if (uniqueName === undefined && unidentified === undefined && volume.mounts.every((each) => isOfHost(inputs, each)))
    return undefined
  if (found.length === 0 && !isWanted) return undefined
  const driver = identity?.driver ?? driverOf(volume)
  return {
    ...defined({ uniqueName, driver, handle: identity?.handle }),
    identity: identity?.from ?? unidentified ?? (uniqueName === undefined ? 'nothing names it' : 'its directory'),
    found,
    wanted: isWanted,
  }
}

/** A part of the file system on which the kubelet's directories are, or in memory: no volume that was attached. */
function isOfHost({ mounts, rootDir }: ActualInputs, { dev, fsType }: MountInfo): boolean {
  return fsType === 'tmpfs' || dev === locate(mounts, rootDir)?.dev
}

const KNOWN_PLUGINS: ReadonlySet<string> = new Set(PLUGINS.map(({ name }) => name))

/** Inline CSI volumes, and plugins without a device, whose volumes are named after their pod. */
function isNeverAttached(volume: VolumeRow, uniqueName: string | undefined): boolean {
  const { identity, unidentified, globals, maps, staged, onDisk, wanted, unresolved } = volume
  if (identity !== undefined) return uniqueName !== csiUniqueName(identity.driver, identity.handle)
  if (unidentified !== undefined || globals.length + maps.length + staged.length > 0) return false
  const plugins = [...onDisk, ...wanted].map(({ plugin }) => plugin)
  // What nothing names may be attached, and a plugin that volctl does not know may attach.
  return (
    plugins.length > 0 &&
    unresolved.length === 0 &&
    plugins.every((plugin) => KNOWN_PLUGINS.has(plugin) && plugin !== CSI_PLUGIN)
  )
}

/** The directory of a staged volume names its driver even where the handle is lost. */
function driverOf({ staged }: VolumeRow): string | undefined {
  const drivers = new Set(staged.map(({ driverDir }) => driverDir))
  const [driver] = drivers
  return drivers.size === 1 && driver !== 'pv' ? driver : undefined
}

function foundOf(inputs: ActualInputs, volume: VolumeRow): FoundOnNode[] {
  const { staged, globals, onDisk, leaked, maps } = volume
  const subPaths = [...onDisk.flatMap((each) => each.subPaths ?? []), ...leaked.map((each) => each.subPaths)]
  const found = [
    ...staged.flatMap(({ layers, foreign, stateFile, dir }) => [
      ...mounted(inputs, 'staged', [...layers, ...foreign]),
      // A driver may stage without a mount (C20).
      ...(stateFile === undefined || layers.length > 0 ? [] : [maybe(inputs, 'staged', dir)]),
    ]),
    ...globals.flatMap(({ layers, foreign }) => mounted(inputs, 'staged', [...layers, ...foreign])),
    ...onDisk.flatMap(({ layers, foreign, stateFile, content, dir }) => [
      ...mounted(inputs, 'mounted', [...layers, ...foreign]),
      ...(layers.length > 0 || (stateFile === undefined && content.every(({ type }) => type === 'dir'))
        ? []
        : [maybe(inputs, 'mounted', dir)]),
    ]),
    ...subPaths.flatMap(({ leaves, foreign }) =>
      mounted(inputs, 'mounted', [...foreign, ...leaves.flatMap(({ layers }) => layers)]),
    ),
    ...maps.flatMap(({ block, mappings }) => [
      ...mounted(inputs, 'staged', [...(block.staging?.mounts ?? []), ...block.foreign]),
      ...(block.stateFile === undefined ? [] : [maybe(inputs, 'mapped', block.dir)]),
      ...mappings.flatMap((mapping) => mappedBy(inputs, mapping)),
    ]),
  ]
  const seen = new Map<string, FoundOnNode>()
  // What is certain goes before what may be.
  for (const each of found.toSorted((a, b) => Number(b.certain) - Number(a.certain)))
    if (!seen.has(`${each.how} ${each.path}`)) seen.set(`${each.how} ${each.path}`, each)
  return [...seen.values()].toSorted((a, b) => compareText(a.path, b.path))
}

function mounted(inputs: ActualInputs, how: 'staged' | 'mounted' | 'mapped', mounts: readonly MountInfo[]) {
  return mounts.map(({ mountPoint }): FoundOnNode => {
    const path = inputs.plain(mountPoint)
    const dead = inputs.deadError(inputs.relative(path))
    return { how, path, certain: true, ...defined({ dead }) }
  })
}

function maybe(inputs: ActualInputs, how: FoundOnNode['how'], path: string): FoundOnNode {
  return { how, path: inputs.absolute(path), certain: false }
}

function mappedBy(inputs: ActualInputs, mapping: BlockMapping): FoundOnNode[] {
  const { mapLayers, publishLayers, loops, symlink, mapFile } = mapping
  const at = symlink ?? mapFile
  return [
    ...mounted(inputs, 'mapped', [...mapLayers, ...publishLayers]),
    ...loops.map((loop): FoundOnNode => ({ how: 'open', path: loop, certain: true })),
    ...(at === undefined ? [] : [maybe(inputs, 'mapped', at)]),
  ]
}

/** Mounts below plugins/ that belong to no volume that volctl knows: of whichever driver they are, they may be any of its volumes. */
function unclaimed(inputs: ActualInputs, volumes: readonly VolumeRow[]): LedgerVolume[] {
  const claimed = volumes.flatMap(({ staged, globals, maps }) => [
    ...staged.map(({ dir }) => dir),
    ...globals.map(({ path }) => path),
    ...maps.flatMap(({ block }) => [block.dir, block.mapDir, block.stagingPath, block.publishDir]),
  ])
  const own = new Set(claimed.filter((path) => path !== undefined))
  return inputs.pluginMounts().flatMap((mount): LedgerVolume[] => {
    const path = inputs.relative(inputs.plain(mount.mountPoint))
    if (isClaimed(own, path) || isOfHost(inputs, mount)) return []
    const [, directory] = path.split('/')
    // A driver keeps its socket, and often its own mounts, in plugins/DRIVER.
    const driver = directory === 'kubernetes.io' ? undefined : directory
    const found = mounted(inputs, 'mounted', [mount])
    return [{ ...defined({ driver }), identity: 'nothing names the volume of this mount', found, wanted: false }]
  })
}

function isClaimed(own: ReadonlySet<string>, path: string): boolean {
  for (let each = path; each.includes('/'); each = each.slice(0, each.lastIndexOf('/'))) if (own.has(each)) return true
  return false
}

/** S20: a mount that was detached lazily may still be written to. */
function detachedLazily({ lazilyDetached = [] }: NodeSnapshot): LedgerVolume[] {
  return lazilyDetached.map(({ path, volume }) => ({
    ...(volume?.includes('^') === true && { uniqueName: volume }),
    identity: 'the journal of volctl',
    found: [{ how: 'open', path, certain: false }],
    wanted: false,
  }))
}

/** Without any of these a volume may be in use that the snapshot does not show. */
const NEEDED = ['tree', 'runtime', 'processes', 'deadMounts', 'blockDevices'] as const

function unseenOf(inputs: ActualInputs): string[] {
  const { snapshot, mounts } = inputs
  const { runtime, lazyMemory, userNamespace, notBelieved = [], rootDir, nestedProcesses = [] } = snapshot
  const isRootKnown = snapshot.tree?.some(({ path }) => path === 'pods' || isWithin(path, 'pods')) === true
  return [
    ...(mounts.size === 0 ? ['the mount table is missing'] : []),
    ...NEEDED.filter((section) => snapshot[section] === undefined).map((section) => `section ${section} is missing`),
    ...(snapshot.tree !== undefined && !isRootKnown ? [`${rootDir} has no directory pods`] : []),
    ...(runtime?.error === undefined ? [] : [`the container runtime did not answer (${runtime.error})`]),
    ...(runtime?.source === 'none' ? ['no container runtime was asked'] : []),
    ...(userNamespace === true ? ['the look was taken from within a user namespace'] : []),
    ...(nestedProcesses.length > 0 ? ['another kubelet runs in a pod of the node'] : []),
    ...(lazyMemory === undefined ? [] : [`what was detached lazily is not known (${lazyMemory.path})`]),
    ...notBelieved.filter(({ unknown }) => unknown).map(({ what }) => `${what} was ignored`),
    ...unreadParts(inputs).map(({ obstacle }) => obstacle.message),
  ].slice(0, MOST_UNSEEN)
}

const MOST_UNSEEN = 5
