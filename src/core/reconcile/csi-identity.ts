/**
 * Driver and handle of a CSI volume found on disk, and where they came from (S16, S17, C95, O5, O9, O22).
 *
 * A state file says it; without one, a name alone never does: a PersistentVolume may have been made anew, and an inline
 * volume may bear a PV's name. The staging directory's name is the hash of the handle: that confirms.
 */
import type { BlockVolume, StagedVolume } from '../actual/devices.ts'
import type { PodVolume } from '../actual/pod-volumes.ts'
import { readStateFile } from '../actual/state-file.ts'
import { csiSourceOf } from '../desired/csi-translation/csi-source.ts'
import { csiGlobalDir, sha256Hex, unescapeQualifiedName } from '../names.ts'
import type { PlanContext } from './context.ts'
import type { Obstacle } from './draft.ts'

export interface CsiIdentity {
  readonly driver: string
  readonly handle: string
  readonly from: string
}

export type Identified = { readonly identity: CsiIdentity } | { readonly unconfirmed: string; readonly hint: string }

/** S17: nothing is undone under a name that may be another volume's. */
export function identityObstacle(identified: Identified | undefined): Obstacle | undefined {
  if (identified === undefined || 'identity' in identified) return undefined
  return { code: 'IdentityUnconfirmed', message: identified.unconfirmed, hint: identified.hint }
}

/** Identity of a pod's file system volume. */
export function identifyPodVolume(context: PlanContext, volume: PodVolume): Identified {
  const { stateFile } = volume
  if (stateFile?.data !== undefined) {
    const { driverName: driver, volumeHandle: handle } = stateFile.data
    return { identity: { driver, handle, from: 'vol_data.json' } }
  }
  const lost =
    stateFile === undefined ? 'its vol_data.json is lost' : `its vol_data.json tells nothing: ${stateFile.corrupt}`
  const given = givenHandle(context, volume.name)
  if (given !== undefined) return given
  return byDevice(context, volume, lost) ?? byConfirmedName(context, volume, lost)
}

function byDevice(context: PlanContext, volume: PodVolume, lost: string): Identified | undefined {
  const top = volume.layers.at(-1)
  if (top === undefined) return undefined
  const same = context.staged.filter((staged) =>
    staged.layers.some((layer) => layer.dev === top.dev && sameRoot(layer.root, top.root)),
  )
  const identities = same.map((staged) => identifyStaged(context, staged))
  const found = identities.flatMap((each) => ('identity' in each ? [each.identity] : []))
  const [first] = found
  if (first !== undefined && found.length === identities.length && found.every((each) => sameVolume(each, first))) {
    return { identity: { ...first, from: `the global mount on the same device (${first.from})` } }
  }
  return unconfirmed(
    context,
    volume.name,
    `${lost}, and no staged volume on device ${top.dev} confirms driver and handle`,
  )
}

function sameRoot(staged: string, published: string): boolean {
  return staged === published || staged === '/' || published.startsWith(`${staged}/`)
}

/** Nothing is mounted, so there is no device to compare: the PV's name, confirmed by the staging directory (O6). */
function byConfirmedName(context: PlanContext, volume: PodVolume, lost: string): Identified {
  const named = identityOfPersistentVolume(context, unescapeQualifiedName(volume.name))
  if (named !== undefined) {
    const dir = csiGlobalDir(named.driver, named.handle)
    const data = readStateFile(context.inputs.tree.get(`${dir}/vol_data.json`))?.data
    if (data?.volumeHandle === named.handle && data.driverName === named.driver) {
      return { identity: { ...named, from: `PersistentVolume ${volume.name}, confirmed by the staging directory` } }
    }
  }
  return unconfirmed(context, volume.name, `${lost}, and nothing on disk confirms driver and handle`)
}

/** Identity of a staged file system volume. */
export function identifyStaged(context: PlanContext, staged: StagedVolume): Identified {
  const { stateFile, driverDir, key } = staged
  const confirms = (driver: string, handle: string): boolean =>
    driverDir === 'pv' || (driver === driverDir && sha256Hex(handle) === key)
  if (stateFile?.data !== undefined) {
    const { driverName: driver, volumeHandle: handle } = stateFile.data
    if (confirms(driver, handle)) return { identity: { driver, handle, from: 'vol_data.json' } }
    return {
      unconfirmed: `vol_data.json in ${staged.dir} names ${driver}^${handle}, which is not what the directory's name is the hash of`,
      hint: 'Find out which volume is staged there before anything is undone.',
    }
  }
  const candidates = [
    ...handlesOnDisk(context),
    ...handlesGiven(context, driverDir),
    ...handlesOfPersistentVolumes(context),
  ]
  const match = candidates.find((each) => confirms(each.driver, each.handle) && driverDir !== 'pv')
  if (match !== undefined) return { identity: { ...match, from: `${match.from}, confirmed by the directory's hash` } }
  return {
    unconfirmed: `the staging directory ${staged.dir} has no readable vol_data.json, and no known handle has its hash`,
    hint: 'Give --handle NAME=HANDLE with the handle that the storage system shows for this volume.',
  }
}

/** Identity of a raw block volume: its state file, or a handle that a person gave (O22). */
export function identifyBlock(context: PlanContext, block: BlockVolume): Identified {
  const { stateFile } = block
  if (stateFile?.data !== undefined) {
    const { driverName: driver, volumeHandle: handle } = stateFile.data
    return { identity: { driver, handle, from: 'vol_data.json' } }
  }
  const given = givenHandle(context, block.name)
  if (given !== undefined) return given
  const lost =
    stateFile === undefined ? 'its vol_data.json is lost' : `its vol_data.json tells nothing: ${stateFile.corrupt}`
  return unconfirmed(context, block.name, `${lost}, and a name alone does not confirm driver and handle`)
}

/** What PersistentVolume `name` says, translated from in-tree where it must be. */
function identityOfPersistentVolume(context: PlanContext, name: string): CsiIdentity | undefined {
  const volume = context.objects.persistentVolume(name)
  const csi = volume === undefined ? undefined : csiSourceOf(volume)
  return csi === undefined
    ? undefined
    : { driver: csi.driver, handle: csi.volumeHandle, from: `PersistentVolume ${name}` }
}

function givenHandle(context: PlanContext, name: string): Identified | undefined {
  const handle = context.options.handles[name] ?? context.options.handles[unescapeQualifiedName(name)]
  if (handle === undefined) return undefined
  const staged = context.staged.find((each) => each.key === sha256Hex(handle))
  const driver = staged?.driverDir ?? identityOfPersistentVolume(context, name)?.driver
  if (driver === undefined) {
    return {
      unconfirmed: `the handle of ${name} was given, and neither a staging directory nor a PersistentVolume names its driver`,
      hint: 'Stage information is needed to know the driver; ask the storage system which driver serves this handle.',
    }
  }
  return { identity: { driver, handle, from: '--handle' } }
}

function handlesGiven(context: PlanContext, driver: string): CsiIdentity[] {
  return Object.values(context.options.handles).map((handle) => ({ driver, handle, from: '--handle' }))
}

function handlesOnDisk({ inputs }: PlanContext): CsiIdentity[] {
  return inputs.tree.childDirs('pods').flatMap((uid) =>
    inputs.tree.childDirs(`pods/${uid}/volumes/kubernetes.io~csi`).flatMap((name) => {
      const data = readStateFile(inputs.tree.get(`pods/${uid}/volumes/kubernetes.io~csi/${name}/vol_data.json`))?.data
      return data === undefined
        ? []
        : [{ driver: data.driverName, handle: data.volumeHandle, from: `vol_data.json of pod ${uid}` }]
    }),
  )
}

function handlesOfPersistentVolumes(context: PlanContext): CsiIdentity[] {
  return (context.inputs.snapshot.api?.persistentVolumes ?? []).flatMap((volume) => {
    const csi = csiSourceOf(volume)
    return csi === undefined
      ? []
      : [{ driver: csi.driver, handle: csi.volumeHandle, from: `PersistentVolume ${volume.metadata.name}` }]
  })
}

function unconfirmed(context: PlanContext, name: string, message: string): Identified {
  const named = identityOfPersistentVolume(context, unescapeQualifiedName(name))
  const guess = named === undefined ? 'HANDLE' : named.handle
  return {
    unconfirmed: message,
    hint: `Check the handle with the storage system, then give --handle ${name}=${guess}.`,
  }
}

function sameVolume(a: CsiIdentity, b: CsiIdentity): boolean {
  return a.driver === b.driver && a.handle === b.handle
}
