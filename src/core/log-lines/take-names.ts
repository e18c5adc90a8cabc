/**
 * What a line names: pods, volumes, paths, attachments, drivers, nodes. Patterns begin with a fixed text or a set of characters
 * that they then pass over once, so that they take time in proportion to the line.
 */
import { UID } from '../names/uid.ts'
import type { LogLine } from './log-line.ts'

/** podVolume: what a pod calls it, or its directory there; volume: its unique name. */
export type NameKind =
  | 'podVolume'
  | 'volume'
  | 'attachment'
  | 'path'
  | 'device'
  | 'persistentVolume'
  | 'claim'
  | 'podUid'
  | 'pod'
  | 'driver'
  | 'node'

/** Something that a line names. */
export interface LineName {
  readonly kind: NameKind
  readonly name: string
  /** Of a podVolume: UIDs and names of the pods that the line names. One of them has the volume. */
  readonly pods?: readonly string[]
}

const MOST_NAMES = 40

/** Each once, in the order in which they were found. */
export function namesIn(line: LogLine): LineName[] {
  const names = new Names()
  takePaths(line.said, names)
  takeUniqueNames(line.said, names)
  takePods(line.said, names)
  takeNodes(line.said, names)
  takeObjects(line.said, names)
  takeVolumes(line.said, names)
  takeHandles(line.said, names)
  return names.all.slice(0, MOST_NAMES)
}

class Names {
  readonly #found = new Map<string, LineName>()

  add(kind: NameKind, name: string | undefined): void {
    // With its namespace it says more.
    if (name === undefined || name === '' || this.of(kind).some((known) => known.endsWith(`/${name}`))) return
    this.#found.set(`${kind} ${name}`, { kind, name })
  }

  addPodVolume(name: string, pods: readonly string[]): void {
    const key = `podVolume ${name}`
    const before = this.#found.get(key)?.pods ?? []
    this.#found.set(key, { kind: 'podVolume', name, pods: [...new Set([...before, ...pods])] })
  }

  drop(kind: NameKind, name: string): void {
    this.#found.delete(`${kind} ${name}`)
  }

  of(kind: NameKind): string[] {
    return this.all.filter((each) => each.kind === kind).map(({ name }) => name)
  }

  get all(): LineName[] {
    return [...this.#found.values()]
  }
}

const WHOLE_UID = new RegExp(`^(?:${UID}|[0-9a-f]{32})$`)
const BARE_PATH = new RegExp(`(?<![\\w/-])${UID}/volumes/[^\\s"]+`, 'g')
const PATH = /(?<=^|[\s"'`[({<=:,])\/[^\s"'`\])},;<>]+/g
/** A method of a driver, a route of a server. */
const NO_PATH = /^\/(?:\/|csi\.v\d|api\/|apis\/|healthz|runtime\.v1)/

function takePaths(text: string, names: Names): void {
  for (const [found] of text.matchAll(PATH)) {
    const path = found.replace(/[.:]{1,4}$/, '')
    if (NO_PATH.test(path) || !path.includes('/', 1)) continue
    names.add(path.startsWith('/dev/') ? 'device' : 'path', path)
    inPath(path, names)
  }
  // "Setting volume ownership for UID/volumes/kubernetes.io~csi/NAME/mount"
  for (const [found] of text.matchAll(BARE_PATH)) inPath(`/pods/${found}`, names)
}

/** Pod and volume of the kubelet's own directories. */
function inPath(path: string, names: Names): void {
  const parts = path.split('/')
  const uid = parts[parts.indexOf('pods') + 1] ?? ''
  if (!parts.includes('pods') || !WHOLE_UID.test(uid)) return
  names.add('podUid', uid)
  const [kind, ...below] = parts.slice(parts.indexOf('pods') + 2)
  const name =
    kind === 'volumes' || kind === 'volumeDevices' ? below[1] : kind === 'volume-subpaths' ? below[0] : undefined
  if (name !== undefined && name !== '') names.addPodVolume(name, [uid])
}

const UNIQUE = /(?<![\w/.~-])(?:kubernetes\.io\/[a-z0-9-]+|flexvolume-[\w.-]+)\/[^\s"“”]+/g
const PER_POD = new RegExp(`^(?:kubernetes\\.io|flexvolume-[^/]+)/[^/]+/(${UID})-(.+)$`)

function takeUniqueNames(text: string, names: Names): void {
  for (const [found] of text.matchAll(UNIQUE)) {
    const name = found.replace(/[),;:\]]{1,4}$/, '')
    const [, uid, own] = PER_POD.exec(name) ?? []
    const caret = name.indexOf('^')
    if (uid !== undefined && own !== undefined && !name.startsWith('kubernetes.io/csi/')) {
      names.add('podUid', uid)
      names.addPodVolume(own, [uid])
    } else names.add('volume', name)
    if (caret > 0 && name.startsWith('kubernetes.io/csi/'))
      names.add('driver', name.slice('kubernetes.io/csi/'.length, caret))
  }
}

/** A name of an object, with its namespace or without. */
const OBJECT = /^(?:[a-z0-9][a-z0-9-]{0,62}\/)?[a-z0-9][a-z0-9.-]{0,252}$/
/** klog's old way: name_namespace(uid). */
const OLD_POD = new RegExp(`^([a-z0-9.-]+)_([a-z0-9-]+)\\((${UID})\\)$`)
const POD_KEYS = 'podUID|podUid|UID|pod|pods|podName|kubernetes\\.io/pod'

function takePods(said: string, names: Names): void {
  for (const each of valuesOf(said, POD_KEYS)) addPod(each, names)
  for (const [, object = ''] of said.matchAll(/\bobject="([^"]{1,320})" (?:fieldPath="[^"]{0,320}" )?kind="Pod"/g))
    addPod(object, names)
  // The object of an event.
  for (const [, own] of said.matchAll(/(?<![\w/.-])[Pp]od\/([a-z0-9.-]{1,253})/g)) names.add('pod', own)
  for (const [, quoted = ''] of said.matchAll(/\b[Pp]od "([^"]{1,320})"/g)) addPod(quoted, names)
  for (const [, bare = ''] of said.matchAll(
    /\b(?:podName:|pod |pod\(s\) |pod\.UID |podUID=|UID:? "?|for ")([\w./()-]{1,320})/g,
  )) {
    if (bare.includes('/') || WHOLE_UID.test(bare) || OLD_POD.test(bare)) addPod(bare, names)
  }
}

/** Of key=value and key="value"; klog writes several objects as ["a","b"] or [a b]. */
export function valuesOf(said: string, keys: string): string[] {
  const pairs = new RegExp(String.raw`\b(?:${keys})=(?:\[([^\]]{0,8000})\]|"([^"]{0,320})"|([^\s",}\]]{1,320}))`, 'g')
  return [...said.matchAll(pairs)]
    .flatMap(([, list, quoted, bare = '']) => list?.split(/[\s",]+/) ?? quoted ?? bare)
    .filter((each) => each !== '')
}

function addPod(text: string, names: Names): void {
  const [, name, namespace, uid] = OLD_POD.exec(text) ?? []
  if (uid !== undefined) {
    names.add('podUid', uid)
    names.add('pod', `${namespace}/${name}`)
  } else if (WHOLE_UID.test(text)) names.add('podUid', text)
  else if (OBJECT.test(text)) names.add('pod', text)
}

const NODE_KEYS = 'node|nodeName|attachedTo|nodes'
/** Without quotes a word may stand there, as in "node: timed out": a name has a digit, a dot or a dash. */
const BARE_NODE = String.raw`((?=[a-z]*[\d.-])[a-z0-9][a-z0-9.-]{0,252})`
const NODES = [
  /\bnode(?:Name)?(?:=|:? )["']([a-z0-9][a-z0-9.-]{0,252})/g,
  new RegExp(String.raw`\b(?:(?:from|on|to) node |node=|nodeName:|system:node:|CSINode )${BARE_NODE}`, 'g'),
]

function takeNodes(said: string, names: Names): void {
  const bare = NODES.flatMap((pattern) => [...said.matchAll(pattern)].map(([, name = '']) => name.replace(/[.-]$/, '')))
  // What the cloud calls its machine is no name of a node, nor is a UID.
  for (const name of [...bare, ...valuesOf(said, NODE_KEYS)])
    if (OBJECT.test(name) && !/^i-[0-9a-f]{4,}$/.test(name) && !WHOLE_UID.test(name)) names.add('node', name)
}

const OBJECTS: readonly (readonly [kind: NameKind, pattern: RegExp])[] = [
  ['attachment', /\b(csi-[0-9a-f]{64})\b/g],
  ['persistentVolume', new RegExp(`(?<![\\w-])(pvc-${UID})(?![\\w-])`, 'g')],
  ['persistentVolume', /\b[Pp]ersistent ?[Vv]olumes? "([^"]{1,253})"/g],
  ['persistentVolume', /\bPV "?([a-z0-9][a-z0-9.-]{1,252})/g],
  ['claim', /\b(?:PVC|[Pp]ersistentvolumeclaim) "?([a-z0-9-]+\/[a-z0-9][a-z0-9.-]*)/g],
  ['claim', /\b[Pp]ersistent[Vv]olume[Cc]laims? "([^"]{1,253})"/g],
  ['driver', /\bdriver name ([\w.-]{1,253}) not found/g],
  ['driver', /\bexternal-attacher of ([\w.-]{1,253}) CSI driver/g],
  ['driver', /\b(?:CSI|csi) driver "([\w.-]{1,253})"/g],
  ['driver', /\bdoes not contain driver ([\w.-]{1,253})/g],
  ['driver', /\bdriver(?:Name)?[=:] ?"?([a-z][\w-]*\.[\w.-]{1,253})/g],
]
const KEYS: readonly (readonly [NameKind, keys: string])[] = [
  ['claim', 'pvc|PVC'],
  ['persistentVolume', 'pv|PV'],
  ['attachment', 'attachment'],
]

function takeObjects(said: string, names: Names): void {
  for (const [kind, pattern] of OBJECTS)
    for (const [, found = ''] of said.matchAll(pattern)) names.add(kind, found.replace(/[.:]{1,4}$/, ''))
  for (const [kind, keys] of KEYS) for (const name of valuesOf(said, keys)) if (OBJECT.test(name)) names.add(kind, name)
}

/** `for volume "NAME"` and the lists of a time-out: names in the pod of the line. */
function takeVolumes(text: string, names: Names): void {
  const pods = [...names.of('podUid'), ...names.of('pod')]
  const quoted = [...text.matchAll(/\bvolume "([^"/^]{1,253})"/g)].map(([, name = '']) => name)
  const old = [...text.matchAll(/\bvolume\.SpecName ([\w.-]{1,253})/g)].map(([, name = '']) => name)
  const listed = [...text.matchAll(/\b(?:unmounted|unattached|to process) volumes=\[([^\]]{0,8000})\]/g)]
  for (const name of [...quoted, ...old, ...listed.flatMap(([, list = '']) => list.split(/[\s,]+/))])
    if (name !== '') names.addPodVolume(name, pods)
}

/** What a driver calls its volume stands bare, after few words. */
const HANDLES = [
  /\b[Oo]peration with the given [Vv]olume(?: ID)?(?:=| )"?([^\s"]{1,253})/g,
  /(?:\b[Vv]olume \[|\[volume=)([^\s\];]{1,253})/g,
  /\b(?:at|de)tach(?:ing|ment timeout for)? volume ([^\s"[]{1,253})/g,
  // A unique name stands there too: takeUniqueNames has that.
  /\bvolume "(?!kubernetes\.io\/|flexvolume-)([^"\s]{0,253}[/^][^"\s]{1,253})"/g,
]
const HANDLE_KEYS = 'volumeID|volumeId|volume_id|volumeHandle'
const VOLUME_KINDS: readonly NameKind[] = ['podVolume', 'persistentVolume', 'volume']

function takeHandles(said: string, names: Names): void {
  const bare = HANDLES.flatMap((pattern) => [...said.matchAll(pattern)].map(([, name = '']) => name))
  for (const each of [...bare, ...valuesOf(said, HANDLE_KEYS)]) {
    const handle = each.replace(/[.:,;)]{1,4}$/, '')
    // "failed to attach volume to node": a word is no handle.
    if (!/[\d_^./:-]/.test(handle)) continue
    // Some are written like paths.
    names.drop('path', handle)
    if (!VOLUME_KINDS.some((kind) => names.of(kind).includes(handle))) names.add('volume', handle)
  }
}
