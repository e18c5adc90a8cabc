/** The files that configMap, secret, downwardAPI and projected volumes should hold (P27, P46-P53; O28). */
import type { ConfigMap, KeyToPath, Pod, PodVolumeSource, ProjectedSource, SecretDigest } from '../model/objects.ts'
import type { ApiSnapshot } from '../model/snapshot.ts'
import { onceFor } from '../once-for.ts'
import { type ApiLookup, apiLookup, type Lookup } from './api-lookup.ts'
import { downwardApiFile } from './downward-api-content.ts'
import { cleanPayloadPath } from './payload-path.ts'
import { podNamespace } from './pods.ts'

/** `any`: a file is there, its content can't be known (tokens, certificates, resources). */
export type ExpectedFile = { readonly digest: string } | { readonly size: number } | { readonly any: true }

export type ExpectedContent =
  /** Exactly these files, by path relative to `..data`. Modes and owners don't count (P28). */
  | { readonly kind: 'files'; readonly files: ReadonlyMap<string, ExpectedFile> }
  /** An object could not be read: nothing may be concluded. */
  | { readonly kind: 'unknown'; readonly reason: string }
  /** A required object or key is shown absent: the kubelet fails here, and the old content stays. */
  | { readonly kind: 'missing'; readonly reason: string }

/** Path as the API object has it, and what is written there; a later entry of the same path wins (P51). */
type Entry = readonly [path: string, file: ExpectedFile]
type Collected = readonly Entry[] | Exclude<ExpectedContent, { kind: 'files' }>

interface KeyedObject {
  readonly label: string
  readonly optional: boolean
  readonly items: readonly KeyToPath[] | undefined
  readonly found: Lookup<ReadonlyMap<string, ExpectedFile> | undefined>
}

const ANY: ExpectedFile = { any: true }

const computed = new WeakMap<PodVolumeSource, { pod: Pod; api: ApiSnapshot; content: ExpectedContent }>()

/** Undefined content for volumes that no atomic writer fills is `unknown`. Worked out once, for neither ever changes. */
export function expectedContent(source: PodVolumeSource, pod: Pod, api: ApiSnapshot): ExpectedContent {
  const known = computed.get(source)
  if (known?.pod === pod && known.api === api) return known.content
  const content = workOut(source, pod, api)
  computed.set(source, { pod, api, content })
  return content
}

/** The files of a pod's volume of this name, or undefined where nothing can be compared. */
export function expectedFiles(
  volume: string,
  pod: Pod,
  api: ApiSnapshot,
): ReadonlyMap<string, ExpectedFile> | undefined {
  const source = pod.spec.volumes?.find(({ name }) => name === volume)
  const content = source && expectedContent(source, pod, api)
  return content?.kind === 'files' ? content.files : undefined
}

function workOut(source: PodVolumeSource, pod: Pod, api: ApiSnapshot): ExpectedContent {
  const collected = collect(source, pod, apiLookup(api))
  if ('kind' in collected) return collected
  const files = new Map<string, ExpectedFile>()
  for (const [path, file] of collected) {
    const clean = cleanPayloadPath(path)
    if (clean === undefined) return { kind: 'missing', reason: `the path ${JSON.stringify(path)} is not allowed` }
    files.set(clean, file)
  }
  return { kind: 'files', files }
}

function collect(source: PodVolumeSource, pod: Pod, lookup: ApiLookup): Collected {
  const { configMap, secret, downwardAPI, projected } = source
  if (configMap != null) return projectedEntries({ configMap }, pod, lookup)
  if (secret != null) {
    const { secretName, ...rest } = secret
    return projectedEntries({ secret: { ...rest, ...(secretName ? { name: secretName } : {}) } }, pod, lookup)
  }
  if (downwardAPI != null) return projectedEntries({ downwardAPI }, pod, lookup)
  if (projected == null) return { kind: 'unknown', reason: 'not a volume that the kubelet fills' }
  const all = (projected.sources ?? []).map((each) => projectedEntries(each, pod, lookup))
  const failure = all.find((each) => 'kind' in each && each.kind === 'missing') ?? all.find((each) => 'kind' in each)
  return failure ?? all.flatMap((each) => ('kind' in each ? [] : each))
}

/** The entries of one source; the volumes of their own follow the same rules (P52). */
function projectedEntries(source: ProjectedSource, pod: Pod, lookup: ApiLookup): Collected {
  const { configMap, secret, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate } = source
  const namespace = podNamespace(pod)
  if (configMap != null) {
    const { name = '', optional = false, items } = configMap
    const found = mapFound(lookup.configMap(namespace, name), configMapKeys)
    return keyedEntries({ label: `ConfigMap ${namespace}/${name}`, optional, items, found })
  }
  if (secret != null) {
    const { name = '', optional = false, items } = secret
    const found = mapFound(lookup.secret(namespace, name), secretKeys)
    return keyedEntries({ label: `Secret ${namespace}/${name}`, optional, items, found })
  }
  if (downwardAPI != null) return (downwardAPI.items ?? []).map((item) => [item.path, downwardApiFile(item, pod)])
  if (serviceAccountToken != null) return [[serviceAccountToken.path, ANY]]
  if (clusterTrustBundle != null) return [[clusterTrustBundle.path, ANY]]
  if (podCertificate != null) {
    const { credentialBundlePath, keyPath, certificateChainPath } = podCertificate
    return [credentialBundlePath, keyPath, certificateChainPath].flatMap((path): Entry[] => (path ? [[path, ANY]] : []))
  }
  return { kind: 'unknown', reason: 'a projected source is of a type volctl does not know' }
}

/** Without items every key becomes a file; with items a missing key is an error unless optional (P47). */
function keyedEntries({ label, optional, items, found }: KeyedObject): Collected {
  if (found.state === 'Unknown') return { kind: 'unknown', reason: `${label} ${found.reason}` }
  if (found.state === 'Absent') return optional ? [] : { kind: 'missing', reason: `${label} does not exist` }
  const keys = found.object
  if (keys === undefined) return { kind: 'unknown', reason: `${label} was read without its content` }
  if (!items?.length) return [...keys]
  const entries: Entry[] = []
  for (const { key, path } of items) {
    const file = keys.get(key)
    if (file !== undefined) entries.push([path, file])
    else if (!optional) return { kind: 'missing', reason: `${label} has no key ${key}` }
  }
  return entries
}

/** Every pod has the cluster's CA from one config map: each is worked out once. */
const configMapKeys = onceFor(({ data, binaryData, digests }: ConfigMap): ReadonlyMap<string, ExpectedFile> => {
  const binarySize = (text: string): ExpectedFile => ({ size: Buffer.from(text, 'base64').length })
  return new Map<string, ExpectedFile>([
    ...Object.entries(binaryData ?? {}).map(([key, text]) => [key, binarySize(text)] as const),
    ...Object.entries(data ?? {}).map(([key, text]) => [key, { size: Buffer.byteLength(text) }] as const),
    ...Object.entries(digests ?? {}).map(([key, digest]) => [key, { digest }] as const),
  ])
})

/** A secret whose digests nobody took says nothing about its keys. */
function secretKeys({ digests }: SecretDigest): ReadonlyMap<string, ExpectedFile> | undefined {
  return digests && new Map(Object.entries(digests).map(([key, digest]) => [key, { digest }]))
}

function mapFound<From, To>(lookup: Lookup<From>, map: (object: From) => To): Lookup<To> {
  return lookup.state === 'Found' ? { state: 'Found', object: map(lookup.object) } : lookup
}
