/** The files that configMap, secret, downwardAPI and projected volumes should hold (P27, P46-P53; O28), and whether they do. */

import { memoize } from '../base/collections.ts'
import type { ConfigMap, DownwardApiItem, Pod, PodVolumeSource, SecretDigest } from '../kube/api/objects.ts'
import { said, saidOfAny } from '../messages/findings.ts'
import { apiLookup, type Lookup, mapFound } from './api-lookup.ts'
import { podVolumeDir, type VolumeToMount } from './desired-state.ts'
import { downwardApiText } from './downward-api-value.ts'
import type { Obstacle } from './finding.ts'
import { isGateOn } from './kubelet-version.ts'
import type { ActualInputs } from './on-disk/actual-inputs.ts'
import { baseName } from './on-disk/tree.ts'
import {
  type ExpectedFile,
  filledFrom,
  NoContent,
  type PayloadFile,
  payloadFiles,
  projections,
  valuesOf,
} from './payload-entries.ts'
import { podNamespace } from './pods.ts'
import type { ApiSnapshot, NodeSnapshot } from './snapshot.ts'
import { isGeneration } from './volume-names.ts'

/** Exactly these files, by path relative to `..data`. Modes and owners don't count (P28). */
type ExpectedContent = ReadonlyMap<string, PayloadFile<ExpectedFile>> | NoContent

const ANY: ExpectedFile = {}

/** `unknown` for a volume that no atomic writer fills. Computed once, since neither volume nor API objects change. */
export const expectedContent = memoize((api: ApiSnapshot) =>
  memoize(({ source, pod }: Pick<VolumeToMount, 'source' | 'pod'>): ExpectedContent => {
    if (source === undefined) return NOT_READ
    const lookup = apiLookup(api)
    const namespace = podNamespace(pod)
    return payloadFiles<ExpectedFile>(source, pod, {
      configMap: (name) => mapFound(lookup.configMap(name, namespace), configMapKeys),
      secret: (name) => secretKeys(lookup.secret(name, namespace)),
      downwardApi: (item) => downwardApiFile(item, pod),
      token: () => ANY,
      trustBundle: () => ANY,
      certificate: () => ANY,
    })
  }),
)

/** Computed once for each config map: every pod has the cluster's CA from the same one. */
const configMapKeys = memoize(({ data, binaryData, digests }: ConfigMap): ReadonlyMap<string, ExpectedFile> => {
  return new Map<string, ExpectedFile>([
    ...valuesOf(binaryData, (text) => ({ size: Buffer.from(text, 'base64').length })),
    ...valuesOf(data, (text) => ({ size: Buffer.byteLength(text) })),
    ...valuesOf(digests, (digest) => ({ digest })),
  ])
})

/** Of a secret without digests the keys are not known. */
function secretKeys(found: Lookup<SecretDigest>): Lookup<ReadonlyMap<string, ExpectedFile>> {
  if (found.state === 'Found' && found.object.digests === undefined)
    return { state: 'Unknown', reason: 'was read without its content' }
  return mapFound(found, ({ digests }) => valuesOf(digests, (digest) => ({ digest })))
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
function downwardApiFile(item: DownwardApiItem, pod: Pod): ExpectedFile {
  const text = downwardApiText(item, pod, NO_NODE)
  const isKnown =
    item.resourceFieldRef == null && !OUT_OF_SIGHT.test(item.fieldRef?.fieldPath ?? '') && ASCII.test(text)
  return isKnown ? { size: text.length } : ANY
}

const NO_NODE = { metadata: { name: '', uid: '' } }

// What keeps volctl from filling a volume of the pod's own.

/** @returns undefined if the API gives all content of this configMap, secret, downwardAPI or projected volume */
export function volumeObstacle(volume: VolumeToMount, snapshot: NodeSnapshot): Obstacle | undefined {
  const content = expectedOf(volume, snapshot)
  const obstacle = content instanceof NoContent ? contentObstacle(volume, content) : undefined
  return leftToKubelet(volume, snapshot) ?? obstacle
}

/** What only the kubelet sets up: a certificate (P56), and what alpha fields ask for where its gate is on (N72). */
export function leftToKubelet({ source, specName }: VolumeToMount, snapshot: NodeSnapshot): Obstacle | undefined {
  const what = source?.projected?.sources?.some(({ podCertificate }) => podCertificate != null)
    ? 'contains a certificate of the pod, whose private key only the kubelet creates'
    : source?.emptyDir?.mode != null && isGateOn(snapshot, 'EmptyDirVolumeMode')
      ? 'asks for a mode of its directory, which only the kubelet gives it'
      : source !== undefined && hasOwners(source) && isGateOn(snapshot, 'AtomicWriteVolumeUserFields')
        ? 'asks for owners of its files, which only the kubelet gives them'
        : undefined
  return what && said('LeftToKubelet.volume', { specName, why: what })
}

function hasOwners(source: PodVolumeSource): boolean {
  const files = (projections(source) ?? []).flatMap((each) => [
    ...((each.configMap ?? each.secret ?? each.downwardAPI)?.items ?? []),
    each.serviceAccountToken,
    each.clusterTrustBundle,
  ])
  return [filledFrom(source)?.defaultUser, ...files.map((each) => each?.user)].some((user) => user != null)
}

const NOT_READ = new NoContent('unknown', 'the API was not read')

const CODES = { missing: 'ContentMissing', invalid: 'InvalidVolume', unknown: 'ContentUnknown' } as const

export function contentObstacle({ specName }: VolumeToMount, { kind, message }: NoContent): Obstacle {
  return saidOfAny(CODES[kind], 'content', { specName, why: message })
}

// Does the content of a configMap, secret, downwardAPI or projected volume match the API (O28, R807)?

/**
 * The first difference, in words; undefined if none is found. An object or key that the API shows to be missing is a difference:
 * the kubelet fails on it again and again.
 */
export function contentDifference(inputs: ActualInputs, volume: VolumeToMount): string | undefined {
  const files = expectedOf(volume, inputs.snapshot)
  if (files instanceof NoContent) return files.kind === 'unknown' ? undefined : files.message
  const dir = podVolumeDir(volume)
  const generation = currentGeneration(inputs, dir)
  if (generation === undefined) return inputs.tree.has(dir) ? `${inputs.absolute(dir)} has no ..data` : undefined
  const found = new Map(
    inputs.tree
      .descendants(`${dir}/${generation}`)
      .filter((entry) => entry.type !== 'dir')
      .map((entry) => [entry.path.slice(dir.length + generation.length + 2), entry]),
  )
  for (const [path, { value: want }] of files) {
    const entry = found.get(path)
    if (entry === undefined) return `${path} is missing in volume ${volume.specName}`
    const differs = (of: 'digest' | 'size'): boolean => (entry[of] ?? want[of]) !== (want[of] ?? entry[of])
    if (differs('digest')) return `${path} differs from the API`
    if (differs('size')) return `${path} differs in size from the API`
  }
  const extra = [...found.keys()].find((path) => !files.has(path))
  return extra === undefined ? undefined : `${extra} is no longer part of volume ${volume.specName}`
}

/** What an interrupted write left, in words; the kubelet itself cannot continue from a `..data_tmp` (P29). */
export function halfDone(inputs: ActualInputs, volume: VolumeToMount): string | undefined {
  const expected = expectedOf(volume, inputs.snapshot)
  const dir = podVolumeDir(volume)
  const current = currentGeneration(inputs, dir)
  if (expected instanceof NoContent || current === undefined) return undefined
  const wanted = new Set([...expected.keys()].map((path) => path.split('/')[0] ?? path))
  const unlinked = [...wanted].find((name) => !inputs.tree.has(`${dir}/${name}`))
  if (unlinked !== undefined) return `${inputs.absolute(dir)}/${unlinked} is missing`
  for (const { path, type, target } of inputs.tree.children(dir)) {
    const name = baseName(path)
    const isLeftover =
      name === '..data_tmp' ||
      (isGeneration(name) && name !== current) ||
      (type === 'link' && target === `..data/${name}` && !wanted.has(name))
    if (isLeftover) return `${inputs.absolute(path)} was left by an interrupted write`
  }
  return undefined
}

function expectedOf(volume: VolumeToMount, { api }: NodeSnapshot): ExpectedContent {
  return api === undefined ? NOT_READ : expectedContent(api)(volume)
}

function currentGeneration({ tree }: ActualInputs, dir: string): string | undefined {
  const target = tree.get(`${dir}/..data`)?.target
  return target && baseName(target)
}
