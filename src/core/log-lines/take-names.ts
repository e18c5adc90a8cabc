/**
 * What a line names: pods, volumes, paths, attachments, drivers, nodes. Patterns begin with a fixed text or a set of characters
 * that they then pass over once, so that they take time in proportion to the line.
 */
import { UID } from '../names/uid.ts'
import type { LineName, NameKind } from './line-name.ts'
import type { LogLine } from './log-line.ts'

const MOST_NAMES = 40

/** Each once, in the order of NAME_KINDS' subjects as they were found. */
export function namesIn(line: LogLine): LineName[] {
  const text = line.said
  const names = new Names()
  takePaths(text, names)
  takeUniqueNames(text, names)
  takePods(line, names)
  takeUids(text, names)
  takeObjects(line, names)
  takeVolumes(text, names)
  takeHandles(line, names)
  return names.all.slice(0, MOST_NAMES)
}

class Names {
  readonly #found = new Map<string, LineName>()

  add(kind: NameKind, name: string | undefined): void {
    if (name === undefined || name === '') return
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
const POD_KEYS = ['pod', 'pods', 'podName', 'kubernetes.io/pod']
const UID_KEYS = ['podUID', 'podUid', 'UID', 'pod_uid']

function takePods({ said, values }: LogLine, names: Names): void {
  for (const key of UID_KEYS) addPod(values.get(key) ?? '', names)
  for (const key of POD_KEYS) for (const each of listOf(values.get(key) ?? '')) addPod(each, names)
  for (const [, quoted = ''] of said.matchAll(/\b[Pp]od "([^"]{1,320})"/g)) addPod(quoted, names)
  for (const [, bare = ''] of said.matchAll(
    /\b(?:podName:|pod |pod\(s\) |podUID=|UID:? "?|for ")([\w./()-]{1,320})/g,
  )) {
    if (bare.includes('/') || WHOLE_UID.test(bare) || OLD_POD.test(bare)) addPod(bare, names)
  }
}

/** klog writes several objects as ["a","b"] or [a b]. */
function listOf(value: string): string[] {
  return value.startsWith('[') ? value.split(/[\s[\]",]+/).filter((each) => each !== '') : [value]
}

function addPod(text: string, names: Names): void {
  const [, name, namespace, uid] = OLD_POD.exec(text) ?? []
  if (uid !== undefined) {
    names.add('podUid', uid)
    names.add('pod', `${namespace}/${name}`)
  } else if (WHOLE_UID.test(text)) names.add('podUid', text)
  else if (OBJECT.test(text)) names.add('pod', text)
}

const PROVISIONED = new RegExp(`(?<![\\w-])pvc-${UID}(?![\\w-])`, 'g')
const ORPHANED = new RegExp(`[Oo]rphaned pod "(${UID})`, 'g')

/** A UID alone is a pod's, where it is no part of another name. */
function takeUids(text: string, names: Names): void {
  for (const [pv] of text.matchAll(PROVISIONED)) names.add('persistentVolume', pv)
  for (const [, uid] of text.matchAll(ORPHANED)) names.add('podUid', uid)
}

const NODE_KEYS = ['node', 'nodeName', 'attachedTo', 'host', 'nodes']
const NODES = [
  // A driver calls the node by the name that the cloud has for it: 'to node "i-0a1b2c"'.
  /\b(?:(?:from|on|between) node ["']|node[=:] ?["']?)([a-z0-9][a-z0-9.-]{0,252})/g,
  /\bnodeName:([a-z0-9][a-z0-9.-]{0,252})/g,
  /\battached to node ([a-z0-9][a-z0-9.-]{0,252})/g,
  /\bsystem:node:([a-z0-9][a-z0-9.-]{0,252})/g,
  /\bCSINode ([a-z0-9][a-z0-9.-]{0,252}) does not contain/g,
  /\bnode "([a-z0-9][a-z0-9.-]{0,252})" has no NodeID/g,
]
const DRIVERS = [
  /\bdriver name ([\w.-]{1,253}) not found/g,
  /\bexternal-attacher of ([\w.-]{1,253}) CSI driver/g,
  /\b(?:CSI|csi) driver "([\w.-]{1,253})"/g,
  /\bdoes not contain driver ([\w.-]{1,253})/g,
  /\bdriver(?:Name)?[=:] ?"?([a-z][\w-]*\.[\w.-]{1,253})/g,
]

function takeObjects({ said, values }: LogLine, names: Names): void {
  for (const [attachment] of said.matchAll(/\bcsi-[0-9a-f]{64}\b/g)) names.add('attachment', attachment)
  for (const key of NODE_KEYS)
    for (const each of listOf(values.get(key) ?? '')) if (OBJECT.test(each)) names.add('node', each)
  addAll(said, NODES, 'node', names)
  for (const node of names.of('node')) if (!mayBeNode(node)) names.drop('node', node)
  addAll(said, DRIVERS, 'driver', names)
  addAll(said, [/\b(?:PVC|[Pp]ersistentvolumeclaim) "?([a-z0-9-]+\/[a-z0-9][a-z0-9.-]*)/g], 'claim', names)
  addAll(said, [/\b[Pp]ersistent[Vv]olume[Cc]laims? "([^"]{1,253})"/g], 'claim', names)
  addAll(
    said,
    [/\b[Pp]ersistent ?[Vv]olumes? "([^"]{1,253})"/g, /\bPV "?([a-z0-9][a-z0-9.-]{1,252})/g],
    'persistentVolume',
    names,
  )
  addAll(said, [/\bconfigMap ([a-z0-9-]{1,63}\/[a-z0-9.-]{1,253})/g], 'configMap', names)
  addAll(said, [/\bconfigmaps? "([^"]{1,253})"/g], 'configMap', names)
  takeKernelDevices(said, names)
  addAll(said, [/\bsecrets? "([^"]{1,253})"/g], 'secret', names)
  for (const [, namespace, name] of said.matchAll(/\bobject "([^"]{1,63})"\/"([^"]{1,253})" not registered/g))
    names.add(name === 'kube-root-ca.crt' ? 'configMap' : 'secret', `${namespace}/${name}`)
  const claim = values.get('pvc') ?? values.get('PVC') ?? values.get('claim')
  if (claim !== undefined && OBJECT.test(claim)) names.add('claim', claim)
  for (const [key, kind] of [
    ['pv', 'persistentVolume'],
    ['attachment', 'attachment'],
  ] as const) {
    const name = values.get(key) ?? ''
    if (OBJECT.test(name)) names.add(kind, name)
  }
}

/** A machine's id at a cloud, a UID, and a word of a sentence ("node: the volume …") are no names of nodes. */
function mayBeNode(name: string): boolean {
  if (/^i-[0-9a-f]{6,}$/.test(name) || /^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(name)) return false
  return !WORDS.has(name)
}

const WORDS: ReadonlySet<string> = new Set(
  'a an and as at by for from has id in is it its not of on or selected status that the this to volume was which with'.split(
    ' ',
  ),
)

/** "EXT4-fs error (device sdb)", "XFS (dm-3)", "I/O error, dev sdb", "sd 2:0:0:0: [sdb]". */
const KERNEL_DEVICES = [
  /\b(?:EXT[234]-fs|XFS|BTRFS)(?: [a-z]{1,12})? \((?:device )?([a-z][\w-]{1,30})\)/g,
  /\bI\/O error,? (?:on )?dev(?:ice)? ([a-z][\w-]{1,30})/g,
  /\bsd \d+:\d+:\d+:\d+: \[(sd[a-z]{1,6})\]/g,
]

function takeKernelDevices(said: string, names: Names): void {
  for (const pattern of KERNEL_DEVICES)
    for (const [, device] of said.matchAll(pattern)) names.add('device', `/dev/${device}`)
}

function addAll(text: string, patterns: readonly RegExp[], kind: NameKind, names: Names): void {
  for (const pattern of patterns)
    for (const [, found = ''] of text.matchAll(pattern)) {
      const name = found.replace(/[.:]{1,4}$/, '')
      // With its namespace it says more.
      if (!names.of(kind).some((known) => known.endsWith(`/${name}`))) names.add(kind, name)
    }
}

/** `for volume "NAME"` and the lists of a time-out: names in the pod of the line. */
function takeVolumes(text: string, names: Names): void {
  const pods = [...names.of('podUid'), ...names.of('pod')]
  for (const [, name = ''] of text.matchAll(/\bvolume "([^"/^]{1,253})"/g)) addVolume(name, pods, names)
  for (const [, list = ''] of text.matchAll(/\b(?:unmounted|unattached|to process) volumes=\[([^\]]{0,8000})\]/g))
    for (const name of list.split(' ')) if (name !== '') addVolume(name, pods, names)
}

function addVolume(name: string, pods: readonly string[], names: Names): void {
  if (pods.length > 0) names.addPodVolume(name, pods)
  else if (!names.of('podVolume').includes(name)) names.addPodVolume(name, [])
}

/** What a driver calls its volume stands bare, after few words. */
const HANDLES = [
  /\b[Oo]peration with the given [Vv]olume(?: ID)?(?:=| )"?([^\s"]{1,253})/g,
  /(?:\b[Vv]olume \[|\[volume=)([^\s\];]{1,253})/g,
  /\b(?:at|de)tach(?:ing|ment timeout for)? volume ([^\s"[]{1,253})/g,
  /"volume_id":"([^"]{1,253})"/g,
  /\bvolume\(([^\s()]{1,253})\)/g,
  // An image of Ceph in its pool, not of a container.
  /\b(?:rbd:? image|rbd map|rbd unmap) "?([\w.-]{1,126}\/[\w.-]{1,126})/g,
  /(?<![\w./-])([\w.-]{1,126}\/csi-(?:vol|snap)-[\w-]{1,126})/g,
  // A unique name stands there too: takeUniqueNames has that.
  /\bvolume "(?!kubernetes\.io\/|flexvolume-)([^"\s]{0,253}[/^][^"\s]{1,253})"/g,
]
const HANDLE_KEYS = ['volumeID', 'volumeId', 'VolumeID', 'volume_id', 'volumeHandle']

function takeHandles({ said, values }: LogLine, names: Names): void {
  const bare = HANDLES.flatMap((pattern) => [...said.matchAll(pattern)].map(([, name = '']) => name))
  const handles = [...bare, ...HANDLE_KEYS.flatMap((key) => values.get(key) ?? [])].map((each) =>
    each.replace(/[.:,;)]{1,4}$/, ''),
  )
  for (const handle of handles) {
    // "failed to attach volume to node": a word is no handle.
    if (!/[\d_^./:-]/.test(handle)) continue
    // Some are written like paths.
    names.drop('path', handle)
    if (!VOLUME_KINDS.some((kind) => names.of(kind).includes(handle))) names.add('volume', handle)
  }
}

const VOLUME_KINDS: readonly NameKind[] = ['podVolume', 'persistentVolume', 'volume']
