/** How an operation of a reviewed plan differs from the same operation of a fresh plan, in words: was, now (S26). */

import { take } from '../base/take.ts'
import { canonicalJson } from '../trust/digest.ts'
import type { Difference } from './apply-shape.ts'
import type { ClusterOperation } from './cluster-plan.ts'
import type { Basis, ExpectedMount, FileIdentity, Operation, Step } from './plan.ts'

const NONE = 'nothing'

/** @param isPlanned true if the fresh plan has an operation of this id */
export function differencesOf(
  planned: Operation,
  found: Operation,
  isPlanned: (id: string) => boolean,
): readonly Difference[] {
  return [
    ...compare('the kind', planned.kind, found.kind),
    ...compare('the pod', planned.pod?.uid, found.pod?.uid),
    ...comparePods(planned.basis?.pod, found.basis?.pod),
    ...(['uniqueName', 'driver', 'handle', 'device', 'givenDevice'] as const).flatMap((field) =>
      compare(`the volume's ${field}`, planned.volume?.[field], found.volume?.[field]),
    ),
    ...compareKeyed(mountsOf(planned.expects), mountsOf(found.expects)),
    ...compareKeyed(filesOf(planned.basis?.files), filesOf(found.basis?.files)),
    ...compareKeyed(stepsOf(planned.steps), stepsOf(found.steps)),
    ...compareKeyed(pathsOf(planned.paths), pathsOf(found.paths)),
    ...compare('what is deleted', deletesText(planned.deletes), deletesText(found.deletes)),
    ...compare('the attachment', textOf(planned.attachment), textOf(found.attachment)),
    ...compareOrder(planned, found, isPlanned),
  ]
}

/** The same of a cluster's plan. */
export function clusterDifferencesOf(
  planned: ClusterOperation,
  found: ClusterOperation,
  isPlanned: (id: string) => boolean,
): readonly Difference[] {
  return [...compareKeyed(factsOf(planned), factsOf(found)), ...compareOrder(planned, found, isPlanned)]
}

/** The versions of the Node and of the attachment change with every report of theirs; what follows from them is compared. */
function factsOf({ kind, reason, node, attachment, steps, creates, pods, basis, volume }: ClusterOperation) {
  const facts = {
    'the kind': kind,
    'the reason': reason,
    'the node': withUid(node, basis.node?.uid),
    'the attachment': withUid(attachment.name, attachment.uid),
    'the steps': textOf(steps),
    'what is created': textOf(creates),
    'the pods': pods
      .map(({ uid }) => uid)
      .toSorted()
      .join(', '),
    // The kubelet reports a volume in use that it waits for (R330): of an attach the report says nothing more than its pods.
    'in use on the node': kind === 'AttachVolume' ? undefined : basis.inUse ? 'yes' : 'no',
    'the exception': basis.exception,
    "the volume's uniqueName": volume.uniqueName,
    "the volume's driver": volume.driver,
    "the volume's handle": volume.handle,
  }
  return new Map(Object.entries<string | undefined>(facts))
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

function compareKeyed(
  was: ReadonlyMap<string, string | undefined>,
  now: ReadonlyMap<string, string | undefined>,
): Difference[] {
  return [...new Set([...was.keys(), ...now.keys()])].flatMap((key) => compare(key, was.get(key), now.get(key)))
}

/** The uid shows a pod that was created again under the same name; the version shows any change of the object. */
function comparePods(was: Basis['pod'], now: Basis['pod']): Difference[] {
  return compare('the pod in the API', podText(was), podText(now))
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

function stepsOf(steps: readonly Step[]): Map<string, string> {
  return new Map(
    steps.map((step, index) => {
      const { op, target, ...more } = step
      return [`step ${index + 1}`, `${op} ${target}${Object.keys(more).length === 0 ? '' : ` ${canonicalJson(more)}`}`]
    }),
  )
}

function pathsOf(paths: readonly string[]): Map<string, string> {
  return new Map(paths.map((path) => [`among its paths, ${path}`, 'there']))
}

function deletesText(deletes: Operation['deletes']): string | undefined {
  if (deletes === undefined) return undefined
  return deletes.counted === false ? 'uncounted' : `${deletes.files} files of ${deletes.bytes} bytes`
}

function textOf(value: object | undefined): string | undefined {
  return value === undefined || (Array.isArray(value) && value.length === 0) ? undefined : canonicalJson(value)
}
