/**
 * Which files the sources of a configMap, secret, downwardAPI or projected volume make (P27, P46-P53): the same for a plan, which
 * compares digests and sizes, and for apply, which writes bytes.
 */
import { posix } from 'node:path'
import { compareText } from '../base/text.ts'
import type {
  Container,
  DownwardApiItem,
  KeyToPath,
  Pod,
  PodVolumeSource,
  ProjectedSource,
} from '../kube/api/objects.ts'
import { foundOf, type Lookup } from './api-lookup.ts'
import { allContainers, podNamespace } from './pods.ts'

/**
 * Why there is no content. The kubelet fails here, too, and leaves the volume's content as it is. `unknown`: an object could not be read,
 * so that nothing may be concluded (S3); `missing`: a required object or key is proved absent; `invalid`: the volume asks for something
 * that the kubelet refuses, such as a path that leaves the volume.
 */
export class NoContent extends Error {
  readonly kind: 'unknown' | 'missing' | 'invalid'

  constructor(kind: NoContent['kind'], reason: string) {
    super(reason)
    this.kind = kind
  }
}

export interface PayloadFile<T> {
  readonly value: T
  /** The item's mode, otherwise the volume's defaultMode. */
  readonly mode: number
  /** UID of the file's owner; absent: root's (P33). */
  readonly owner?: number
}

/** Ends one source. */
export function noContent(kind: NoContent['kind'], reason: string): never {
  throw new NoContent(kind, reason)
}

/** What an object's lookup has found; undefined: it is shown not to exist. @param what the object, in words */
export function foundContent<T>(what: string, found: Lookup<T>): T | undefined {
  return found.state === 'Unknown' ? noContent('unknown', `${what} ${found.reason}`) : foundOf(found)
}

export type TokenSource = NonNullable<ProjectedSource['serviceAccountToken']>
export type BundleSource = NonNullable<ProjectedSource['clusterTrustBundle']>

/** Where values come from: each that is none calls `noContent`. */
interface PayloadValues<T> {
  /** By key. */
  readonly configMap: (name: string) => Lookup<ReadonlyMap<string, T>>
  readonly secret: (name: string) => Lookup<ReadonlyMap<string, T>>
  downwardApi(item: DownwardApiItem): T
  token(source: TokenSource): T
  trustBundle(source: BundleSource): T
  certificate(): T
}

type Entry<T> = readonly [path: string, file: PayloadFile<T>]

/** The API server's default. */
const DEFAULT_MODE = 0o644
/** Mode of tokens and trust bundles whose reader is known: only that one can read them (P53). */
const PRIVATE_MODE = 0o600
const PERMISSIONS = 0o777

/** Files by clean path relative to `..data`; of two sources that name the same path the later one wins (P51). */
export function payloadFiles<T>(
  source: PodVolumeSource,
  pod: Pod,
  values: PayloadValues<T>,
): ReadonlyMap<string, PayloadFile<T>> | NoContent {
  const sources = projections(source)
  if (sources === undefined) return new NoContent('unknown', 'not a volume that the kubelet fills')
  const failures: NoContent[] = []
  const entries = sources.flatMap((each) => {
    try {
      return entriesOf(each, pod, values, filledFrom(source)?.defaultMode ?? DEFAULT_MODE)
    } catch (error) {
      if (!(error instanceof NoContent)) throw error
      failures.push(error)
      return []
    }
  })
  const failure = failures.find(({ kind }) => kind !== 'unknown') ?? failures[0]
  if (failure !== undefined) return failure
  const files = new Map<string, PayloadFile<T>>()
  for (const [path, file] of entries) {
    const clean = cleanPayloadPath(path)
    if (clean === undefined) return new NoContent('invalid', `the path ${JSON.stringify(path)} is not allowed`)
    files.set(clean, file)
  }
  const below = [...files.keys()].find((path) => parentsOf(path).some((parent) => files.has(parent)))
  if (below === undefined) return files
  return new NoContent('invalid', `the path ${JSON.stringify(below)} is below another file of the volume`)
}

/** `a` and `a/b` of `a/b/c`. */
export function parentsOf(path: string): string[] {
  const elements = path.split('/')
  return elements.slice(1).map((_, index) => elements.slice(0, index + 1).join('/'))
}

/** What fills the volume: a configMap, a secret and a downwardAPI follow the rules of a projected source (P52). Undefined: nothing does. */
export function projections(source: PodVolumeSource): readonly ProjectedSource[] | undefined {
  const { configMap, secret, downwardAPI, projected } = source
  if (configMap != null) return [{ configMap }]
  if (secret != null) {
    const { secretName: name, ...rest } = secret
    return [{ secret: { ...rest, name } }]
  }
  if (downwardAPI != null) return [{ downwardAPI }]
  return projected == null ? undefined : (projected.sources ?? [])
}

/** The one source of these, with what it says of files whose item says nothing else. */
export function filledFrom({ configMap, secret, downwardAPI, projected }: PodVolumeSource) {
  return configMap ?? secret ?? downwardAPI ?? projected
}

/** @throws NoContent */
function entriesOf<T>(
  source: ProjectedSource,
  pod: Pod,
  values: PayloadValues<T>,
  defaultMode: number,
): readonly Entry<T>[] {
  const fileOf = (path: string, value: T, mode = defaultMode, owner?: number): Entry<T> => [
    path,
    { value, mode: mode & PERMISSIONS, owner },
  ]

  /** Without items every key becomes a file; with items a missing key is an error unless optional (P47). */
  function keyed(
    kind: string,
    { name = '', optional = false, items }: { name?: string; optional?: boolean; items?: readonly KeyToPath[] },
    find: (name: string) => Lookup<ReadonlyMap<string, T>>,
  ): Entry<T>[] {
    const label = `${kind} ${podNamespace(pod)}/${name}`
    const keys = foundContent(label, find(name))
    if (keys === undefined) return optional ? [] : noContent('missing', `${label} does not exist`)
    if (!items?.length) return [...keys].map(([key, value]) => fileOf(key, value))
    return items.flatMap(({ key, path, mode }) => {
      const value = keys.get(key)
      if (value !== undefined) return [fileOf(path, value, mode)]
      return optional ? [] : noContent('missing', `${label} has no key ${key}`)
    })
  }

  /** P33, P53, P55. */
  function privately(path: string, value: T): Entry<T>[] {
    const owner = fsUserOf(pod)
    const isPrivate = (owner ?? pod.spec.securityContext?.fsGroup) !== undefined
    return [fileOf(path, value, isPrivate ? PRIVATE_MODE : undefined, owner)]
  }

  const { serviceAccountToken: token, clusterTrustBundle: bundle, podCertificate: certificate } = source
  if (source.configMap != null) return keyed('ConfigMap', source.configMap, values.configMap)
  if (source.secret != null) return keyed('Secret', source.secret, values.secret)
  if (source.downwardAPI != null)
    return (source.downwardAPI.items ?? []).map((item) => fileOf(item.path, values.downwardApi(item), item.mode))
  if (token != null) return privately(token.path, values.token(token))
  if (bundle != null) return privately(bundle.path, values.trustBundle(bundle))
  if (certificate != null) {
    const { credentialBundlePath, keyPath, certificateChainPath } = certificate
    const paths = [credentialBundlePath, keyPath, certificateChainPath].flatMap((path) => path || [])
    return paths.map((path) => fileOf(path, values.certificate()))
  }
  return noContent('unknown', 'a projected source has a type that volctl does not know')
}

/**
 * The user for whom a pod's tokens and certificates are written (P33).
 * The runAsUser of all containers, ephemeral ones included; undefined if one has none or two differ.
 */
function fsUserOf(pod: Pod): number | undefined {
  const ofPod = pod.spec.securityContext?.runAsUser
  const users = new Set(allContainers(pod).map(({ securityContext }) => securityContext?.runAsUser ?? ofPod))
  const [user] = users
  return users.size === 1 ? user : undefined
}

/** What each key of an object's data has. */
export function valuesOf<T>(data: Readonly<Record<string, string>> = {}, make: (text: string) => T): Map<string, T> {
  return new Map(Object.entries(data).map(([key, text]) => [key, make(text)]))
}

/** Neither: the file exists, but its content cannot be known (tokens, certificates, resources). */
export interface ExpectedFile {
  readonly digest?: string
  readonly size?: number
}

const MAX_PATH_BYTES = 4096
const MAX_ELEMENT_BYTES = 255

/**
 * File paths that an atomic writer accepts (P27).
 * The cleaned path; undefined for one that makes the kubelet reject the whole write.
 */
function cleanPayloadPath(path: string): string | undefined {
  const elements = path.split('/')
  const isValid =
    path !== '' &&
    !path.startsWith('/') &&
    Buffer.byteLength(path) <= MAX_PATH_BYTES &&
    elements.every((element) => element !== '..' && Buffer.byteLength(element) <= MAX_ELEMENT_BYTES) &&
    // Such names belong to the writer itself: ..data and the timestamp directories.
    !elements[0]?.startsWith('..')
  return isValid ? posix.normalize(path).replace(/\/$/, '') : undefined
}

// Directories that a volume needs so that containers can mount something inside it (P26).

/**
 * Paths relative to the volume, of the first level of nesting only, once each.
 *
 * @throws Error a container mounts the volume outside the container's root
 */
export function nestedMountPoints(podVolumeName: string, pod: Pod): string[] {
  return [...new Set(allContainers(pod).flatMap((container) => nestedIn(container, podVolumeName)))]
}

function nestedIn({ volumeMounts = [] }: Container, podVolumeName: string): string[] {
  const mounts = volumeMounts.map(({ name, mountPath = '' }) => ({ name, path: cleanPath(mountPath) }))
  const all = mounts.map(({ path }) => path).sort(compareText)
  return mounts.flatMap(({ name, path }) => {
    if (name !== podVolumeName) return []
    if (path.startsWith('../')) throw new Error(`${path} is not a valid mount path of a container`)
    const found: string[] = []
    for (const other of all) {
      const last = found.at(-1)
      const isFirstLevel = last === undefined || !other.startsWith(`${path}/${last}/`)
      if (other.startsWith(`${path}/`) && isFirstLevel) found.push(other.slice(path.length + 1))
    }
    return found
  })
}

/** As Go cleans a path: unlike POSIX, without a slash at the end. */
function cleanPath(path: string): string {
  const clean = posix.normalize(path)
  return clean === '/' ? clean : clean.replace(/\/$/, '')
}
