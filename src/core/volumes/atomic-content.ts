/** The files that configMap, secret, downwardAPI and projected volumes should hold (P27, P46-P53; O28). */
import { memoize } from '../base/memoize.ts'
import type { ApiSnapshot } from '../facts/actual/snapshot.ts'
import type { ConfigMap, DownwardApiItem, Pod, PodVolumeSource, SecretDigest } from '../kube/api/objects.ts'
import { apiLookup, mapFound } from './api-lookup.ts'
import { downwardApiText } from './downward-api-value.ts'
import { type ExpectedFile, isNoContent, type NoContent, payloadFiles } from './payload-entries.ts'
import { podNamespace } from './pods.ts'

/** Exactly these files, by path relative to `..data`. Modes and owners don't count (P28). */
export type ExpectedContent = ReadonlyMap<string, ExpectedFile> | NoContent

const ANY: ExpectedFile = { any: true }

/** `unknown` for a volume that no atomic writer fills. Computed once, since neither source nor API objects change. */
export function expectedContent(source: PodVolumeSource, pod: Pod, api: ApiSnapshot): ExpectedContent {
  return contents(api)(pod)(source)
}

const contents = memoize((api: ApiSnapshot) =>
  memoize((pod: Pod) => memoize((source: PodVolumeSource) => compute(source, pod, api))),
)

/** The files of a pod's volume of this name; undefined if there is nothing to compare with. */
export function expectedFiles(
  volume: string,
  pod: Pod,
  api: ApiSnapshot,
): ReadonlyMap<string, ExpectedFile> | undefined {
  const source = pod.spec.volumes?.find(({ name }) => name === volume)
  const content = source && expectedContent(source, pod, api)
  return content === undefined || isNoContent(content) ? undefined : content
}

function compute(source: PodVolumeSource, pod: Pod, api: ApiSnapshot): ExpectedContent {
  const lookup = apiLookup(api)
  const namespace = podNamespace(pod)
  const files = payloadFiles<ExpectedFile>(source, {
    namespace,
    configMap: (name) => mapFound(lookup.configMap(namespace, name), configMapKeys),
    secret: (name) => mapFound(lookup.secret(namespace, name), secretKeys),
    downwardApi: (item) => downwardApiFile(item, pod),
    token: () => ANY,
    trustBundle: () => ANY,
    certificate: () => ANY,
  })
  return isNoContent(files) ? files : new Map([...files].map(([path, { value }]) => [path, value]))
}

/** Computed once for each config map: every pod has the cluster's CA from the same one. */
const configMapKeys = memoize(({ data, binaryData, digests }: ConfigMap): ReadonlyMap<string, ExpectedFile> => {
  const binarySize = (text: string): ExpectedFile => ({ size: Buffer.from(text, 'base64').length })
  return new Map<string, ExpectedFile>([
    ...Object.entries(binaryData ?? {}).map(([key, text]) => [key, binarySize(text)] as const),
    ...Object.entries(data ?? {}).map(([key, text]) => [key, { size: Buffer.byteLength(text) }] as const),
    ...Object.entries(digests ?? {}).map(([key, digest]) => [key, { digest }] as const),
  ])
})

/** Undefined for a secret without digests: its keys are not known. */
function secretKeys({ digests }: SecretDigest): ReadonlyMap<string, ExpectedFile> | undefined {
  return digests && new Map(Object.entries(digests).map(([key, digest]) => [key, { digest }]))
}

/** Which characters Go escapes depends on its Unicode version, except for these. */
const ASCII = /^\p{ASCII}*$/u

/** Set by the kubelet in memory, or left out of snapshots. */
const OUT_OF_SIGHT =
  /^metadata\.annotations($|\['(kubernetes\.io\/config\.|kubectl\.kubernetes\.io\/last-applied-configuration'))/

/**
 * What a downward API item writes, as far as the API object alone shows it (P50).
 * A size, since the key of a snapshot's digests is thrown away. `any` if not even the size is known: resources (they depend on the
 * node and on resizes), and the whole map of annotations, to which the kubelet adds its own.
 */
function downwardApiFile(item: DownwardApiItem, pod: Pod): ExpectedFile | NoContent {
  const text = downwardApiText(item, pod, NO_NODE)
  if (typeof text !== 'string') return text
  const isKnown =
    item.resourceFieldRef == null && !OUT_OF_SIGHT.test(item.fieldRef?.fieldPath ?? '') && ASCII.test(text)
  return isKnown ? { size: text.length } : ANY
}

const NO_NODE = { metadata: { name: '', uid: '' } }
