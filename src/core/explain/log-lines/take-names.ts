/**
 * What a line names: pods, volumes, paths, attachments, drivers, nodes. Patterns begin with a fixed text or a set of characters
 * that they then pass over once, so that they take time in proportion to the line.
 */
import { UID } from '../../kube/api/names.ts'
import type { LogLine } from './log-line.ts'

/**
 * The kinds of names, and how each is asked for. The nearer to one volume of one pod, the more a name says, and the earlier it stands.
 *
 * podVolume: what a pod calls it, or its directory there; volume: its unique name.
 */
export const ASKED_AS = {
  podVolume: ['pv/', 'volume/'],
  volume: ['volume/'],
  attachment: ['va/'],
  persistentVolume: ['pv/'],
  claim: ['pvc/'],
  path: [''],
  device: [''],
  podUid: ['pod/'],
  pod: ['pod/'],
  driver: ['driver/'],
  node: [],
} satisfies Readonly<Record<string, readonly string[]>>

export type NameKind = keyof typeof ASKED_AS

/** Something that a line names. */
export interface LineName {
  readonly kind: NameKind
  readonly name: string
  /** Of a podVolume: UIDs and names of the pods that the line names. One of them has the volume. */
  readonly pods?: readonly string[]
}

const MOST_NAMES = 40

/** Each once, in the order in which they were found. */
export function namesIn({ said }: LogLine): LineName[] {
  const names = new Names()
  for (const [take, patterns, keys] of TAKEN) for (const each of found(said, patterns, keys)) take(each, names)
  return names.all.slice(0, MOST_NAMES)
}

/** What becomes of a text that was found. */
type Take = (found: string, names: Names) => void

class Names {
  readonly #found = new Map<string, LineName>()

  add(kind: NameKind, name: string): void {
    // With its namespace it says more.
    if (!this.of(kind).some((known) => known.endsWith(`/${name}`))) this.#found.set(`${kind} ${name}`, { kind, name })
  }

  addPodVolume(name: string, pods: readonly string[]): void {
    const key = `podVolume ${name}`
    const before = this.#found.get(key)?.pods ?? []
    this.#found.set(key, { kind: 'podVolume', name, pods: [...new Set([...before, ...pods])] })
  }

  dropPath(path: string): void {
    this.#found.delete(`path ${path}`)
  }

  of(...kinds: readonly NameKind[]): string[] {
    return this.all.filter(({ kind }) => kinds.includes(kind)).map(({ name }) => name)
  }

  get all(): LineName[] {
    return [...this.#found.values()]
  }
}

/**
 * The first group of each pattern, and each value of key=value and key="value", of which klog writes several as ["a","b"] or [a b];
 * without the marks of a sentence behind; of a list that was cut off nothing.
 *
 * @param keys as alternatives of a pattern
 */
function found(said: string, patterns: readonly RegExp[], keys?: string): string[] {
  const values =
    keys === undefined
      ? []
      : said.matchAll(
          new RegExp(String.raw`\b(?:${keys})=(?:\[([^\]]{0,8000})\]|"([^"]{0,320})"|((?!\[)[^\s",}\]]{1,320}))`, 'g'),
        )
  return [
    ...[...values].flatMap(([, list, quoted, bare = '']) => list?.split(/[\s",]+/) ?? quoted ?? bare),
    ...patterns.flatMap((pattern) => [...said.matchAll(pattern)].map(([, name = '']) => name)),
  ]
    .map((name) => name.replace(/[.:,;)\]-]{1,4}$/, ''))
    .filter((name) => name !== '')
}

const WHOLE_UID = new RegExp(`^(?:${UID}|[0-9a-f]{32})$`)
/** "Setting volume ownership for UID/volumes/kubernetes.io~csi/NAME/mount" */
const BARE_PATH = new RegExp(`(?<![\\w/-])(${UID}/volumes/[^\\s"]+)`, 'g')
const PATH = /(?<=^|[\s"'`[({<=:,])(\/[^\s"'`\])},;<>]+)/g
/** A method of a driver, a route of a server. */
const NO_PATH = /^\/(?:\/|csi\.v\d|api\/|apis\/|healthz|runtime\.v1)/

const takePath: Take = (path, names) => {
  if (NO_PATH.test(path) || !path.includes('/', 1)) return
  names.add(path.startsWith('/dev/') ? 'device' : 'path', path)
  inPath(path, names)
}

/** Pod and volume of the kubelet's own directories. */
const inPath: Take = (path, names) => {
  const parts = path.split('/')
  const uid = parts[parts.indexOf('pods') + 1] ?? ''
  if (!parts.includes('pods') || !WHOLE_UID.test(uid)) return
  names.add('podUid', uid)
  const [kind, ...below] = parts.slice(parts.indexOf('pods') + 2)
  const name =
    kind === 'volumes' || kind === 'volumeDevices' ? below[1] : kind === 'volume-subpaths' ? below[0] : undefined
  if (name !== undefined && name !== '') names.addPodVolume(name, [uid])
}

const UNIQUE = /(?<![\w/.~-])((?:kubernetes\.io\/[a-z0-9-]+|flexvolume-[\w.-]+)\/[^\s"“”]+)/g
const PER_POD = new RegExp(`^(?:kubernetes\\.io|flexvolume-[^/]+)/[^/]+/(${UID})-(.+)$`)
const OF_CSI = 'kubernetes.io/csi/'

const takeUniqueName: Take = (name, names) => {
  const isCsi = name.startsWith(OF_CSI)
  const [, uid, own] = PER_POD.exec(name) ?? []
  if (uid !== undefined && own !== undefined && !isCsi) {
    names.add('podUid', uid)
    names.addPodVolume(own, [uid])
  } else names.add('volume', name)
  if (isCsi && name.includes('^')) names.add('driver', name.slice(OF_CSI.length, name.indexOf('^')))
}

/** A name of an object, with its namespace or without. */
const OBJECT = /^(?:[a-z0-9][a-z0-9-]{0,62}\/)?[a-z0-9][a-z0-9.-]{0,252}$/
const PODS = [
  /\bobject="([^"]{1,320})" (?:fieldPath="[^"]{0,320}" )?kind="Pod"/g,
  // The object of an event.
  /(?<![\w/.-])[Pp]od\/([a-z0-9.-]{1,253})/g,
  /\b[Pp]od "([^"]{1,320})"/g,
]
/** Any word may stand there. */
const BARE_POD = /\b(?:podName:|pod |pod\(s\) |pod\.UID |podUID=|UID:? "?|for ")([\w./-]{1,320})/g

const takePod: Take = (each, names) => {
  if (WHOLE_UID.test(each)) names.add('podUid', each)
  else if (OBJECT.test(each)) names.add('pod', each)
}

const takeBarePod: Take = (each, names) => {
  if (each.includes('/') || WHOLE_UID.test(each)) takePod(each, names)
}

/** Without quotes a word may stand there, as in "node: timed out": a name has a digit, a dot or a dash. */
const BARE_NODE = String.raw`((?=[a-z]*[\d.-])[a-z0-9][a-z0-9.-]{0,252})`
/** What the cloud calls its machine, and a UID. */
const NO_NODE = new RegExp(`^i-[0-9a-f]{4,}$|${WHOLE_UID.source}`)

const takeObject =
  (kind: NameKind): Take =>
  (name, names) => {
    if (OBJECT.test(name) && !(kind === 'node' && NO_NODE.test(name))) names.add(kind, name)
  }

const VOLUME = /\bvolume "([^"/^]{1,253})"/g

/** Of the pod of the line. */
const takeVolume: Take = (name, names) => names.addPodVolume(name, names.of('podUid', 'pod'))

/** What a driver calls its volume stands bare, after few words. */
const HANDLES = [
  /\b[Oo]peration with the given [Vv]olume(?: ID)?(?:=| )"?([^\s"]{1,253})/g,
  /(?:\b[Vv]olume \[|\[volume=)([^\s\];]{1,253})/g,
  /\b(?:at|de)tach(?:ing|ment timeout for)? volume ([^\s"[]{1,253})/g,
  // A unique name stands there too: takeUniqueName has that.
  /\bvolume "(?!kubernetes\.io\/|flexvolume-)([^"\s]{0,253}[/^][^"\s]{1,253})"/g,
]

const takeHandle: Take = (handle, names) => {
  // "failed to attach volume to node": a word is no handle.
  if (!/[\d_^./:-]/.test(handle)) return
  // Some are written like paths.
  names.dropPath(handle)
  if (!names.of('podVolume', 'persistentVolume', 'volume').includes(handle)) names.add('volume', handle)
}

/** In this order: what comes later knows what came before. */
const TAKEN: readonly (readonly [take: Take, patterns: readonly RegExp[], keys?: string])[] = [
  [takePath, [PATH]],
  [(path, names) => inPath(`/pods/${path}`, names), [BARE_PATH]],
  [takeUniqueName, [UNIQUE]],
  [takePod, PODS, 'podUID|podUid|UID|pod|pods|podName|kubernetes\\.io/pod'],
  [takeBarePod, [BARE_POD]],
  [
    takeObject('node'),
    [
      /\bnode(?:Name)?(?:=|:? )["']([a-z0-9][a-z0-9.-]{0,252})/g,
      new RegExp(String.raw`\b(?:(?:from|on|to) node |node=|nodeName:|system:node:|CSINode )${BARE_NODE}`, 'g'),
    ],
    'node|nodeName|attachedTo|nodes',
  ],
  [takeObject('attachment'), [/\b(csi-[0-9a-f]{64})\b/g], 'attachment'],
  [
    takeObject('persistentVolume'),
    [
      new RegExp(`(?<![\\w-])(pvc-${UID})(?![\\w-])`, 'g'),
      /\b[Pp]ersistent ?[Vv]olumes? "([^"]{1,253})"/g,
      /\bPV "?([a-z0-9][a-z0-9.-]{1,252})/g,
    ],
    'pv|PV',
  ],
  [
    takeObject('claim'),
    [
      /\b(?:PVC|[Pp]ersistentvolumeclaim) "?([a-z0-9-]+\/[a-z0-9][a-z0-9.-]*)/g,
      /\b[Pp]ersistent[Vv]olume[Cc]laims? "([^"]{1,253})"/g,
    ],
    'pvc|PVC',
  ],
  [
    takeObject('driver'),
    [
      /\b(?:driver name|external-attacher of|does not contain driver) ([\w.-]{1,253})/g,
      /\b(?:CSI|csi) driver "([\w.-]{1,253})"/g,
      /\bdriver(?:Name)?[=:] ?"?([a-z][\w-]*\.[\w.-]{1,253})/g,
    ],
  ],
  [takeVolume, [VOLUME]],
  // The lists of a time-out.
  [takeVolume, [], '(?:unmounted|unattached|to process) volumes'],
  [takeHandle, HANDLES, 'volumeID|volumeId|volume_id|volumeHandle'],
]
