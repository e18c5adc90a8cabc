/** How an operation of a reviewed plan differs from the same operation of a fresh plan, in words: was, now (S26). */

import { take } from '../base/take.ts'
import { canonicalJson } from '../trust/digest.ts'
import type { AnyOperation, ClusterOperation, ClusterStep } from './cluster-plan.ts'
import type { Difference } from './events.ts'
import type { Basis, ExpectedMount, FileIdentity, Operation, Step } from './plan.ts'

const NONE = 'nothing'

/** @param isPlanned true if the fresh plan has an operation of this id */
export function differencesOf<Op extends AnyOperation>(
  planned: Op,
  found: Op,
  isPlanned: (id: string) => boolean,
): readonly Difference[] {
  const [was, now] = [planned, found].map((each) => ('node' in each ? factsOfCluster(each) : factsOfNode(each)))
  return [
    ...compare('the kind', planned.kind, found.kind),
    ...compareKeyed(was ?? NOTHING, now ?? NOTHING),
    ...(['uniqueName', 'driver', 'handle'] as const).flatMap((field) =>
      compare(`the volume's ${field}`, planned.volume?.[field], found.volume?.[field]),
    ),
    ...compareKeyed(stepsOf(planned.steps), stepsOf(found.steps)),
    ...compareOrder(planned, found, isPlanned),
  ]
}

type Facts = ReadonlyMap<string, string | undefined>

const NOTHING: Facts = new Map()

function factsOfNode({ pod, basis, volume, expects, paths, deletes, attachment }: Operation): Facts {
  return new Map([
    ['the pod', pod?.uid],
    // The uid shows a pod that was created again under the same name; the version shows any change of the object.
    ['the pod in the API', podText(basis?.pod)],
    ["the volume's device", volume?.device],
    ["the volume's givenDevice", volume?.givenDevice],
    ...mountsOf(expects),
    ...filesOf(basis?.files),
    ...paths.map((path) => [`among its paths, ${path}`, 'there'] as const),
    ['what is deleted', deletesText(deletes)],
    ['the attachment', textOf(attachment)],
  ])
}

/** The versions of the Node and of the attachment change with every report of theirs; what follows from them is compared. */
function factsOfCluster({ kind, reason, node, attachment, creates, pods, basis }: ClusterOperation): Facts {
  return new Map([
    ['the reason', reason],
    ['the node', withUid(node, basis.node?.uid)],
    ['the attachment', withUid(attachment.name, attachment.uid)],
    ['what is created', textOf(creates)],
    [
      'the pods',
      pods
        .map(({ uid }) => uid)
        .toSorted()
        .join(', '),
    ],
    // The kubelet reports a volume in use that it waits for (R330): of an attach the report says nothing more than its pods.
    ['in use on the node', kind === 'AttachVolume' ? undefined : basis.inUse ? 'yes' : 'no'],
    ['the exception', basis.exception],
  ])
}

function withUid(name: string, uid: string | undefined): string {
  return uid === undefined ? name : `${name} (${uid})`
}

/** An earlier operation that is no longer planned is no difference: the run knows its outcome. */
function compareOrder(
  planned: Pick<Operation, 'after'>,
  found: Pick<Operation, 'after'>,
  isPlanned: (id: string) => boolean,
): Difference[] {
  const was = textOf(planned.after.filter(isPlanned).toSorted())
  return compare('what comes first', was, textOf(found.after.toSorted()))
}

/** As one line; the rest is counted. */
export function differencesText(differences: readonly Difference[], most = 3): string {
  const texts = differences.map(({ what, was, now }) => `${what} was ${was}, now ${now}`)
  return take(texts, most, 'and ').join('; ')
}

function compare(what: string, was = NONE, now = NONE): Difference[] {
  return was === now ? [] : [{ what, was, now }]
}

function compareKeyed(was: Facts, now: Facts): Difference[] {
  return [...new Set([...was.keys(), ...now.keys()])].flatMap((key) => compare(key, was.get(key), now.get(key)))
}

function podText(pod: Basis['pod']): string | undefined {
  if (pod === undefined) return undefined
  if (!pod.listed) return 'absent'
  return `${pod.uid ?? 'of unknown uid'} at resource version ${pod.resourceVersion ?? 'unknown'}`
}

function mountsOf(expects: readonly ExpectedMount[] = []): Map<string, string> {
  const texts = expects.map(({ path, layers }): [string, string] => [
    `the mount on ${path}`,
    layers
      .map(({ id, dev, root, fsType, source }) => `mount ${id} of ${source || 'no source'} (${fsType}, ${dev} ${root})`)
      .join(' under ') || NONE,
  ])
  return new Map(texts)
}

function filesOf(files: readonly FileIdentity[] = []): Map<string, string> {
  return new Map(files.map((file) => [file.path, fileText(file)]))
}

export function fileText({ dev, ino, size, mtime }: Omit<FileIdentity, 'path'>): string {
  return [
    `inode ${ino} of device ${dev}`,
    ...(size === undefined ? [] : [`${size} bytes`]),
    ...(mtime === undefined ? [] : [`changed at ${timeText(mtime)}`]),
  ].join(', ')
}

function timeText(seconds: number): string {
  const time = new Date(seconds * 1000)
  return Number.isNaN(time.getTime()) ? `${seconds} s` : time.toISOString().replace('.000Z', 'Z')
}

function stepsOf(steps: readonly (Step | ClusterStep)[]): Map<string, string> {
  return new Map(
    steps.map((step, index) => {
      const { op, target, ...more } = step
      return [`step ${index + 1}`, `${op} ${target}${Object.keys(more).length === 0 ? '' : ` ${canonicalJson(more)}`}`]
    }),
  )
}

function deletesText(deletes: Operation['deletes']): string | undefined {
  if (deletes === undefined) return undefined
  return deletes.counted === false ? 'uncounted' : `${deletes.files} files of ${deletes.bytes} bytes`
}

function textOf(value: object | undefined): string | undefined {
  return value === undefined || (Array.isArray(value) && value.length === 0) ? undefined : canonicalJson(value)
}
