/** What lies at an absolute path, or on a device: a volume's, a pod's, the kubelet's own, or something unrelated. */

import { didYouMean, unlessEmpty } from '../base/text.ts'
import type { VolumeRow } from '../facts/row.ts'
import { containingMount, fileSystemText, type Location, locationIn } from '../linux/location.ts'
import { deadWords, type MountInfo } from '../linux/mount-table.ts'
import { isWithin, plainPath, undeletedRoot } from '../linux/paths.ts'
import { withoutCopies } from '../linux/propagation.ts'
import { said, VolctlError } from '../messages/findings.ts'
import type { PlanContext } from '../rules/context.ts'
import { placesUnseen } from '../rules/pods/pod-classes.ts'
import { type ActualInputs, rootPathOf } from '../volumes/on-disk/actual-inputs.ts'
import { loopsBackedBy } from '../volumes/on-disk/block-volume.ts'
import type { Asked } from './concern.ts'
import type { Fact, Place, Subject } from './explanation.ts'

/** @param given an absolute path, or "major:minor" @throws VolctlError NotFound */
export function placeTarget(context: PlanContext, given: string): Asked {
  const device = NUMBER.test(given) || given.startsWith('/dev/') ? deviceTarget(context, given) : undefined
  if (device !== undefined) return device
  const { inputs } = context
  const path = rootPathOf(inputs, plainPath(given))
  if (!path.startsWith('/')) throw notFound(context, given, 'NotFound.number')
  return isWithin(path, inputs.rootDir) ? belowRoot(context, path) : elsewhere(context, path)
}

function belowRoot(context: PlanContext, path: string): Asked {
  const { inputs, classes } = context
  const relative = inputs.relative(path)
  const [top, uid = ''] = relative.split('/')
  const pod = top === 'pods' ? classes.of(uid) : undefined
  const isWhole = relative === '.' || relative === 'pods' || relative === 'plugins'
  const found = isWhole ? [] : context.ledger.at(relative)
  const isThere = inputs.tree.has(relative) || inputs.mounts.under(path).length > 0
  if (pod === undefined && found.length === 0 && !isThere) {
    throw notFound(context, path, 'NotFound.below')
  }
  const inside = isInside(context, path)
  // A path in a volume is about the volume; one above several, or beside them, about the pod.
  const directories = found.flatMap((volume) => volume.directories)
  const isInVolume = directories.some((each) => isWithin(inputs.absolute(relative), inputs.absolute(each)))
  const pods = pod === undefined || isInVolume ? [] : [pod.uid]
  return {
    subject: subjectOf(context, path),
    identity: inside === undefined ? [] : [inMount(inside)],
    places: [placeAt(inputs, path, inside && `inside the mount on ${inside.mountPoint}, which volctl does not enter`)],
    scope: { pods, volumes: found, paths: [path] },
    because: isWhole ? `everything there is as it should be: ${counts(context)}` : 'no volume of this node is there',
  }
}

function counts({ inputs, ledger }: PlanContext): string {
  const here = ledger.all.filter(({ directories }) => directories.some((path) => inputs.tree.has(path)))
  return `${inputs.tree.childDirs('pods').length} pod directories, ${here.length} volumes`
}

function subjectOf({ inputs }: PlanContext, path: string): Subject {
  return { kind: inputs.mounts.at(path).length > 0 ? 'Mount' : 'Path', name: path }
}

/** The mount below which it lies, where that is one of the root directory's own. */
function isInside({ inputs }: PlanContext, path: string): MountInfo | undefined {
  if (inputs.mounts.at(path).length > 0) return undefined
  const mount = containingMount(inputs.mounts, path)
  if (mount === undefined || inputs.tree.get(inputs.relative(mount.mountPoint))?.realPath !== undefined)
    return undefined
  return isWithin(mount.mountPoint, `${inputs.rootDir}/`) && mount.mountPoint !== inputs.rootDir ? mount : undefined
}

function inMount(mount: MountInfo): Fact {
  const { mountPoint, dev, root } = mount
  return inTable('Inside', `${fileSystemText(mount)} (${dev} ${root}) on ${mountPoint}`)
}

function inTable(label: string, value: string): Fact {
  return { label, value, from: 'mount table' }
}

function elsewhere(context: PlanContext, path: string): Asked {
  const { inputs } = context
  const layers = inputs.mounts.at(path)
  const mount = inputs.mounts.top(path) ?? layers.at(-1) ?? containingMount(inputs.mounts, path)
  const root = inputs.mounts.top('/')
  const isOwn = mount !== undefined && mount.dev !== root?.dev
  const shown = isOwn
    ? context.ledger.all.filter((volume) => showsSame(volume, mount, layers.length > 0, locationIn(mount, path)))
    : []
  const sources = context.ledger.all.filter((volume) => isSource(volume, path))
  const place = placeAt(inputs, path, layers.length === 0 ? 'outside the directories that volctl reads' : undefined)
  if (layers.length === 0 && shown.length + sources.length === 0 && place.loops === undefined) {
    throw notFound(context, path, mount === undefined ? 'NotFound.elsewhere' : 'NotFound.inside', mount)
  }
  return {
    subject: subjectOf(context, path),
    identity: layers.length > 0 || mount === undefined ? [] : [inMount(mount)],
    places: [place],
    scope: { pods: [], volumes: [...new Set([...sources, ...shown])], paths: [path] },
    because: 'no volume of this node is there',
  }
}

/** The path lies in what the volume shows; or it is a mount that shows all of it. A device file is no part of /dev's. */
function showsSame(volume: VolumeRow, { root }: MountInfo, isMount: boolean, at: Location): boolean {
  return volume.mounts.some(
    (mount) =>
      mount.dev === at.dev &&
      (isWithin(at.path, mount.root) || (isMount && mount.fsType !== 'devtmpfs' && isWithin(mount.root, root))),
  )
}

/** A hostPath or a local PersistentVolume whose directory it is, or lies in. */
function isSource({ wanted, persistentVolume }: VolumeRow, path: string): boolean {
  const paths = [
    persistentVolume?.spec.local?.path,
    persistentVolume?.spec.hostPath?.path,
    ...wanted.map(({ source }) => source?.hostPath?.path),
  ]
  return paths.some((each) => each !== undefined && plainPath(each) !== '/' && isWithin(path, each))
}

/** @param mount in which it lies, where that is said */
function notFound(
  { inputs }: PlanContext,
  path: string,
  sentence: `NotFound.${'number' | 'below' | 'elsewhere' | 'inside'}`,
  mount?: MountInfo,
): VolctlError {
  const { nodeName, tree = [] } = inputs.snapshot
  const known = [
    ...tree.map((entry) => inputs.absolute(entry.path)),
    ...inputs.mounts.all.map(({ mountPoint }) => mountPoint),
  ]
  const searched = { nodeName, rootDir: inputs.rootDir, mounts: inputs.mounts.all.length, files: tree.length }
  const inside = { fsType: mount?.fsType, mountPoint: mount?.mountPoint }
  return new VolctlError(said(sentence, { path, ...searched, ...inside }), {
    hint: `${didYouMean(path, known)}Give a path at, above or below a volume, or a mount point (findmnt lists them).`,
  })
}

/** What is there on one path, whatever it is. @param path absolute */
function placeAt(inputs: ActualInputs, path: string, state?: string): Place {
  const relative = inputs.relative(path)
  const layers = withoutCopies(inputs.mounts, path)
  const dead = inputs.deadError(relative)
  const loops = loopsBackedBy(inputs.snapshot, path)
  return {
    path,
    state: state ?? stateAt(inputs, relative, layers.length),
    exists: layers.length > 0 || inputs.tree.has(relative),
    mounts: layers.map(({ id, dev, root, fsType, source, options }) => {
      return { id, dev, root, fsType, source, readOnly: options.includes('ro') }
    }),
    loops: unlessEmpty(loops),
    dead: dead && deadWords(dead),
  }
}

function stateAt(inputs: ActualInputs, relative: string, layers: number): string {
  const { tree } = inputs
  if (layers > 1) return `mounted, ${layers} layers`
  if (layers === 1) return 'mounted'
  const entry = tree.get(relative)
  if (entry === undefined) return placesUnseen(inputs) === undefined ? 'not there' : 'not known'
  if (entry.error !== undefined) return `cannot be read (${entry.error})`
  if (entry.type === 'dir') return tree.children(relative).length === 0 ? 'an empty directory' : 'a directory'
  if (entry.type === 'link') return `a link to ${entry.target ?? 'an unknown target'}`
  if (entry.type === 'file') return entry.size === undefined ? 'a file' : `a file of ${entry.size} bytes`
  return `a ${NAMES[entry.type]}`
}

const NAMES = { block: 'block device', char: 'character device', fifo: 'named pipe', socket: 'socket' } as const

// What is mounted from a block device, what it backs, whose it is.

const NUMBER = /^\d+:\d+$/

/** Undefined: nothing here is of this device. */
function deviceTarget(context: PlanContext, given: string): Asked | undefined {
  const { inputs } = context
  const all = inputs.mounts.all
  // A mount in /dev is no device.
  if (inputs.mounts.at(given).length > 0 && !isDeviceFile(inputs.mounts.top(given))) return undefined
  const isNumber = NUMBER.test(given)
  const fromIt = isNumber ? inputs.mounts.ofDevice(given) : all.filter(({ source }) => source === given)
  const names = new Set(isNumber ? fromIt.map(({ source }) => source) : [given])
  names.delete('')
  const binds = all.filter((mount) => isDeviceFile(mount) && names.has(`/dev${undeletedRoot(mount.root)}`))
  const loops = (inputs.snapshot.blockDevices ?? []).filter(({ name }) => names.has(name) || names.has(`/dev/${name}`))
  const files = loops.flatMap(({ backingFile }) => backingFile ?? [])
  const mine = context.ledger.onDevice([...fromIt, ...binds], names, files)
  if (fromIt.length + binds.length + loops.length + mine.length === 0) return undefined
  const numbers = [...new Set(fromIt.map(({ dev }) => dev))]
  const facts: Fact[] = [
    ...[...names].filter((name) => name.startsWith('/')).map((name) => inTable('Device', name)),
    ...numbers.map((number) => inTable('Number', number)),
    ...loops.map(({ name, backingFile }) => ({
      label: 'Loop device',
      value: `${name}, backed by ${backingFile ?? 'nothing'}`,
      from: 'sysfs',
    })),
  ]
  const paths = [...new Set([...fromIt, ...binds].map(({ mountPoint }) => inputs.plain(mountPoint)))]
  return {
    subject: { kind: 'Device', name: given },
    identity: facts.length > 0 ? facts : [{ label: 'Device', value: given, from: "a pod's device link" }],
    places: paths.map((path) => placeAt(inputs, path)),
    scope: { pods: [], volumes: mine, paths: paths.filter((path) => isWithin(path, inputs.rootDir)) },
    devices: [...names].flatMap((name) => (name.startsWith('/dev/') ? [name.slice('/dev/'.length)] : [])),
    because: 'no volume of this node is on this device',
  }
}

export function isDeviceFile(mount: MountInfo | undefined): boolean {
  return mount?.fsType === 'devtmpfs' && mount.root !== '/'
}
