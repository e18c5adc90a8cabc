/** How an operation of a reviewed plan differs from the same operation of a fresh plan, in words: was, now (S26). */

import { present, take } from '../base/text.ts'
import { canonicalJson } from '../trust/digest.ts'
import type { ExpectedMount, Step } from '../volumes/steps.ts'
import type { AnyOperation, ClusterOperation, ClusterStep } from './cluster-plan.ts'
import type { Difference } from './events.ts'
import type { Basis, FileIdentity, Operation } from './plan.ts'

/** @param isPlanned true if the fresh plan has an operation of this id: what is planned no more need not come first, the run knows its outcome */
export function differencesOf<Op extends AnyOperation>(
  planned: Op,
  found: Op,
  isPlanned: (id: string) => boolean,
): readonly Difference[] {
  const [was, now] = [factsOf(planned, planned.after.filter(isPlanned)), factsOf(found, found.after)]
  return [...new Set([...was.keys(), ...now.keys()])].flatMap((what) => {
    const [before, after] = [was.get(what) ?? 'nothing', now.get(what) ?? 'nothing']
    return before === after ? [] : { what, was: before, now: after }
  })
}

type Facts = ReadonlyMap<string, string | undefined>

/** @param after what comes first */
function factsOf(operation: AnyOperation, after: readonly string[]): Facts {
  const { kind, volume, steps } = operation
  return new Map([
    ['the kind', kind],
    ...('node' in operation ? factsOfCluster(operation) : factsOfNode(operation)),
    ["the volume's uniqueName", volume?.uniqueName],
    ["the volume's driver", volume?.driver],
    ["the volume's handle", volume?.handle],
    ...(steps as readonly (Step | ClusterStep)[]).map(stepOf),
    ['what comes first', textOf(after.toSorted())],
  ])
}

function factsOfNode({ pod, basis, volume, expects = [], paths, deletes, attachment }: Operation): Facts {
  return new Map([
    ['the pod', pod?.uid],
    // The uid shows a pod that was created again under the same name; the version shows any change of the object.
    ['the pod in the API', podText(basis?.pod)],
    ["the volume's device", volume?.device],
    ["the volume's givenDevice", volume?.givenDevice],
    ...expects.map(({ path, layers }) => [`the mount on ${path}`, mountText(layers)] as const),
    ...(basis?.files ?? []).map((file) => [file.path, fileText(file)] as const),
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

/** As one line; the rest is counted. */
export function differencesText(differences: readonly Difference[], most = 3): string {
  const texts = differences.map(({ what, was, now }) => `${what} was ${was}, now ${now}`)
  return take(texts, most, 'and ').join('; ')
}

function podText(pod: Basis['pod']): string | undefined {
  if (pod === undefined) return undefined
  if (!pod.listed) return 'absent'
  return `${pod.uid ?? 'of unknown uid'} at resource version ${pod.resourceVersion ?? 'unknown'}`
}

function mountText(layers: ExpectedMount['layers']): string | undefined {
  const texts = layers.map(({ id, dev, root, fsType, source }) => {
    return `mount ${id} of ${source || 'no source'} (${fsType}, ${dev} ${root})`
  })
  return texts.join(' under ') || undefined
}

export function fileText({ dev, ino, size, mtime }: Omit<FileIdentity, 'path'>): string {
  return present(
    `inode ${ino} of device ${dev}`,
    size !== undefined && `${size} bytes`,
    mtime !== undefined && `changed at ${timeText(mtime)}`,
  ).join(', ')
}

function timeText(seconds: number): string {
  const time = new Date(seconds * 1000)
  return Number.isNaN(time.getTime()) ? `${seconds} s` : time.toISOString().replace('.000Z', 'Z')
}

function stepOf({ op, target, ...more }: Step | ClusterStep, index: number): [string, string] {
  return [`step ${index + 1}`, `${op} ${target} ${canonicalJson(more)}`.replace(/ \{\}$/, '')]
}

function deletesText(deletes: Operation['deletes']): string | undefined {
  if (deletes === undefined) return undefined
  return deletes.counted === false ? 'uncounted' : `${deletes.files} files of ${deletes.bytes} bytes`
}

function textOf(value: object | undefined): string | undefined {
  return value === undefined || (Array.isArray(value) && value.length === 0) ? undefined : canonicalJson(value)
}
