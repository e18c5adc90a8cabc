/** Fills a configMap, secret, downwardAPI or projected volume, updates its content (P46-P56; S23), or deletes that of a volume. */

import { posix } from 'node:path'
import type { Pod } from '../../kube/api/objects.ts'
import { cannotHang, containingMount } from '../../linux/location.ts'
import { type MountInfo, placeOf, whoMounted } from '../../linux/mount-table.ts'
import { errnoOf, errorMessage, StepFailed, said, saidOfAny } from '../../messages/findings.ts'
import type { Cluster, TokenSource } from '../../node/api/node-objects.ts'
import { contentVerdict, isEmptyDir } from '../../rules/content-in-use.ts'
import { describeMount } from '../../rules/expected-mounts.ts'
import type { Lookup } from '../../volumes/api-lookup.ts'
import { contentObstacle } from '../../volumes/atomic-content.ts'
import { contentBytes, type FreshObjects } from '../../volumes/content-bytes.ts'
import type { VolumeToMount } from '../../volumes/desired-state.ts'
import { needsNode } from '../../volumes/downward-api-value.ts'
import { NoContent, nestedMountPoints, projections } from '../../volumes/payload-entries.ts'
import { isMirrorPod, podLabel, podNamespace } from '../../volumes/pods.ts'
import { mountsOver } from '../../volumes/registry.ts'
import type { Step } from '../../volumes/steps.ts'
import { createFile, makeDirectory } from '../operation/make-directory.ts'
import { requireNone, type StepContext } from '../operation/step.ts'

export async function writeContent({ target }: Step, run: StepContext): Promise<void> {
  const { wanted } = run.bringUp
  const source = wanted?.source
  if (wanted === undefined || source === undefined) throw new StepFailed(said('NoLongerWanted.content', { target }))
  const files = contentBytes(source, await fetchContent(wanted, run.context.cluster))
  if (files instanceof NoContent) {
    const obstacle = contentObstacle(wanted, files)
    throw new StepFailed(obstacle, obstacle)
  }
  const directory = posix.dirname(target)
  const { id: mountId } = mountOf(directory, mountsOver(wanted), run)
  await run.host.writeAtomically(placeOf(run.around.table, directory), {
    mountId,
    files,
    nested: nestedOf(wanted),
    fsGroup: wanted.pod.spec.securityContext?.fsGroup,
    say: run.say,
    made: run.made,
  })
}

function nestedOf({ pod, podVolumeNames }: NonNullable<StepContext['bringUp']['wanted']>): string[] {
  try {
    return podVolumeNames.flatMap((name) => nestedMountPoints(name, pod))
  } catch (error) {
    throw new StepFailed(saidOfAny('InvalidVolume', 'why', { why: errorMessage(error) }))
  }
}

/** Secrets are written only to a tmpfs (P22). Content on disk is written only if nothing is mounted there. */
function mountOf(directory: string, inMemory: boolean, { around }: StepContext): MountInfo {
  const top = around.table.top(directory)
  const mount = containingMount(around.table, directory)
  if (mount !== undefined && (inMemory ? top?.fsType === 'tmpfs' : top === undefined)) return mount
  const found = top === undefined ? 'nothing is mounted there' : `${describeMount(top)} is there`
  throw new StepFailed(said('ForeignMount.expected', { directory, found, expected: inMemory ? 'a tmpfs' : 'no mount' }))
}

/** Writes the empty file "ready", which marks an emptyDir as set up (P21). */
export function writeMarker({ target }: Step, run: StepContext): void {
  makeDirectory({ op: 'mkdir', target: posix.dirname(target) }, run)
  if (run.host.lstat(target)?.type !== 'file') createFile(target, 0o644, run)
}

/** Annotations that the kubelet adds to its own copy of a pod, and the one that only a mirror pod has. */
const SEEN = 'kubernetes.io/config.seen'
const SOURCE = 'kubernetes.io/config.source'
const MIRROR = 'kubernetes.io/config.mirror'

/**
 * Right before it is written (S26, P54). A failure to read an object is recorded as Unknown: an optional object must not pass for absent
 * (S3).
 */
async function fetchContent({ pod, source }: VolumeToMount, cluster: Cluster): Promise<FreshObjects> {
  const sources = (source && projections(source)) ?? []
  const items = sources.flatMap(({ downwardAPI }) => downwardAPI?.items ?? [])
  const namespace = podNamespace(pod)
  const fields = items.map(({ fieldRef }) => fieldRef?.fieldPath ?? '')
  const asksNode = items.some(({ resourceFieldRef }) => resourceFieldRef != null && needsNode(resourceFieldRef))
  const node = asksNode ? await lookUp(() => cluster.getNode()) : undefined
  return {
    pod: fields.some((path) => path.startsWith('metadata.annotations')) ? await wholePod(pod, cluster) : pod,
    node: node?.state === 'Found' ? node.object : undefined,
    configMaps: await each(
      sources.flatMap(({ configMap }) => (configMap == null ? [] : [configMap.name ?? ''])),
      (name) => cluster.getConfigMap(namespace, name),
    ),
    secrets: await each(
      sources.flatMap(({ secret }) => (secret == null ? [] : [secret.name ?? ''])),
      (name) => cluster.getSecret(namespace, name),
    ),
    trustBundles: await each(
      sources.flatMap(({ clusterTrustBundle }) => clusterTrustBundle ?? []),
      (asked) => cluster.clusterTrustBundles(asked),
    ),
    // Last: no token is requested for a volume that cannot be filled.
    tokens: await each(
      sources.flatMap(({ serviceAccountToken }) => serviceAccountToken ?? []),
      (asked) => token(asked, pod, cluster),
    ),
  }
}

async function each<Key, T>(
  keys: readonly Key[],
  ask: (key: Key) => Promise<T | undefined>,
): Promise<Map<Key, Lookup<T>>> {
  const unique = [...new Set(keys)]
  return new Map(await Promise.all(unique.map(async (key) => [key, await lookUp(() => ask(key))] as const)))
}

async function lookUp<T>(ask: () => Promise<T | undefined>): Promise<Lookup<T>> {
  try {
    const object = await ask()
    return object === undefined ? { state: 'Absent' } : { state: 'Found', object }
  } catch (error) {
    return { state: 'Unknown', reason: `could not be read: ${errorMessage(error)}` }
  }
}

/**
 * The pod with all annotations, which volctl's lists leave out, and with those that the kubelet adds.
 *
 * @throws StepFailed
 */
async function wholePod(pod: Pod, cluster: Cluster): Promise<Pod> {
  const label = `pod ${podLabel(pod)}`
  const found = await lookUp(() => cluster.getPod(podNamespace(pod), pod.metadata.name))
  if (found.state === 'Unknown') throw new StepFailed(said('ContentUnknown.why', { pod: label, reason: found.reason }))
  if (found.state === 'Absent' || found.object.metadata.uid !== pod.metadata.uid)
    throw new StepFailed(said('NoLongerWanted.pod', { pod: label }))
  const { [MIRROR]: mirror, ...annotations } = found.object.metadata.annotations ?? {}
  const own: Readonly<Record<string, string>> =
    mirror === undefined ? { [SEEN]: new Date().toISOString(), [SOURCE]: 'api' } : {}
  return { ...pod, metadata: { ...found.object.metadata, annotations: { ...annotations, ...own } } }
}

/** P53. A static pod has another UID in the API than on the node, so no token can be bound to it. */
async function token(source: TokenSource, pod: Pod, cluster: Cluster) {
  if (isMirrorPod(pod)) throw new Error('a static pod has no service account')
  if (!pod.spec.serviceAccountName) throw new Error('the pod names no service account')
  const made = await cluster.requestToken(pod, source)
  return made?.token
}

/**
 * After a look at its place and its users (S12). An emptyDir's files go only where the plan has counted them (S13): otherwise only
 * directories were there.
 */
export async function deleteContentStep(step: Step, run: StepContext): Promise<void> {
  const { around, host, signal, operation } = run
  const mount = containingMount(around.table, step.target)
  const inTheWay = around.table.at(step.target).at(-1) ?? around.below(step.target)[0]
  if (mount === undefined || inTheWay !== undefined) {
    throw new StepFailed(
      inTheWay === undefined
        ? saidOfAny('ForeignMount', 'unplaced', { target: step.target })
        : said('ForeignMount.inTheWay', { mount: describeMount(inTheWay) }),
      { hint: whoMounted(inTheWay?.mountPoint ?? step.target) },
    )
  }
  // The root directory's own file system has been read before, so it answers.
  if (!cannotHang(mount.fsType) && mount.id !== containingMount(around.table, run.plan.rootDir)?.id) {
    throw new StepFailed(said('DeadMount.mayHang', { target: step.target, fsType: mount.fsType }))
  }
  try {
    // The walk starts from the resolved place, and follows no link on the way (S8, S12).
    const { files, bytes } = await host.deleteContent(placeOf(around.table, step.target), {
      mountId: mount.id,
      beforeFirst: () => requireContentUnused(step.target, run),
      directoriesOnly: isEmptyDir(operation) && operation.deletes === undefined,
      signal,
    })
    run.deleted.files += files
    run.deleted.bytes += bytes
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error
  }
}

/** What a dead mount covered, no look before its unmount has seen. @throws StepFailed HeldBy, UsersUnknown */
async function requireContentUnused(path: string, run: StepContext): Promise<void> {
  const wasCovered = run.operation.dead?.some((each) => each.path === path) === true
  requireNone(await contentVerdict(path, run, wasCovered ? performance.now() : undefined))
}
