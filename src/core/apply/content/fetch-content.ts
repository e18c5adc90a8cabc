/** Asks the API for everything that a volume is filled with, right before it is written (S26, P54). */

import type { Lookup } from '../../desired/api-lookup.ts'
import type { FreshObjects } from '../../desired/content-bytes.ts'
import type { VolumeToMount } from '../../desired/desired-state.ts'
import { isMirrorPod, podLabel, podNamespace } from '../../desired/pods.ts'
import { needsNode } from '../../desired/resource-field.ts'
import { errorMessage } from '../../errors/errors.ts'
import { StepFailed } from '../../errors/operation-error.ts'
import { defined } from '../../lang/defined.ts'
import type { Pod, PodVolumeSource, ProjectedSource } from '../../model/objects.ts'
import type { Cluster } from '../operation/ports.ts'

type TokenSource = NonNullable<ProjectedSource['serviceAccountToken']>
type BundleSource = NonNullable<ProjectedSource['clusterTrustBundle']>

/** Annotations that the kubelet adds to its own copy of a pod, and the one that only a mirror pod has. */
const SEEN = 'kubernetes.io/config.seen'
const SOURCE = 'kubernetes.io/config.source'
const MIRROR = 'kubernetes.io/config.mirror'

/** A failure to read an object is recorded as Unknown: an optional object must not pass for absent (S3). */
export async function fetchContent({ pod, source }: VolumeToMount, cluster: Cluster): Promise<FreshObjects> {
  const sources = source === undefined ? [] : projections(source)
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
      (asked) => bundles(asked, cluster),
    ),
    // Last: no token is requested for a volume that cannot be filled.
    tokens: await each(
      sources.flatMap(({ serviceAccountToken }) => serviceAccountToken ?? []),
      (asked) => token(asked, pod, cluster),
    ),
  }
}

/** A volume of one source as a list of one. */
function projections({ configMap, secret, downwardAPI, projected }: PodVolumeSource): readonly ProjectedSource[] {
  if (configMap != null) return [{ configMap }]
  if (secret != null) return [{ secret: secret.secretName === undefined ? {} : { name: secret.secretName } }]
  return downwardAPI == null ? (projected?.sources ?? []) : [{ downwardAPI }]
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
  if (found.state === 'Unknown') throw new StepFailed('ContentUnknown', `${label} ${found.reason}`)
  if (found.state === 'Absent' || found.object.metadata.uid !== pod.metadata.uid)
    throw new StepFailed('NoLongerWanted', `${label} is no longer in the API`, { hint: 'Plan again.' })
  const { [MIRROR]: mirror, ...annotations } = found.object.metadata.annotations ?? {}
  const own = mirror === undefined ? { [SEEN]: new Date().toISOString(), [SOURCE]: 'api' } : {}
  return { ...pod, metadata: { ...found.object.metadata, annotations: { ...annotations, ...own } } }
}

async function bundles({ name, signerName }: BundleSource, cluster: Cluster) {
  if (!name) return signerName ? cluster.listClusterTrustBundles(signerName) : []
  const bundle = await cluster.getClusterTrustBundle(name)
  return bundle && [bundle]
}

/** P53. A static pod has another UID in the API than on the node, so no token can be bound to it. */
async function token({ audience, expirationSeconds }: TokenSource, pod: Pod, cluster: Cluster) {
  const { serviceAccountName } = pod.spec
  if (isMirrorPod(pod)) throw new Error('a static pod has no service account')
  if (!serviceAccountName) throw new Error('the pod names no service account')
  const made = await cluster.requestToken({
    namespace: podNamespace(pod),
    serviceAccount: serviceAccountName,
    audiences: audience ? [audience] : [],
    ...defined({ expirationSeconds }),
    pod: { name: pod.metadata.name, uid: pod.metadata.uid },
  })
  return made?.token
}
