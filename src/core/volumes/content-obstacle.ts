/** What keeps volctl from filling a volume of the pod's own. */

import type { ActualInputs } from '../facts/actual/actual-inputs.ts'
import { isGateOn } from '../facts/actual/kubelet-version.ts'
import type { NodeSnapshot } from '../facts/actual/snapshot.ts'
import { baseName } from '../facts/actual/tree.ts'
import { isGeneration } from '../facts/actual/volume-names.ts'
import type { PodVolumeSource } from '../kube/api/objects.ts'
import type { Obstacle } from '../plan/draft.ts'
import { type ExpectedContent, expectedContent } from './atomic-content.ts'
import type { VolumeToMount } from './desired-state.ts'
import { podVolumeDir } from './paths.ts'
import { type ExpectedFile, isNoContent, type NoContent } from './payload-entries.ts'

/** @returns undefined if the API gives all content of this configMap, secret, downwardAPI or projected volume */
export function volumeObstacle(volume: VolumeToMount, snapshot: NodeSnapshot): Obstacle | undefined {
  const { source, pod } = volume
  const kubelets = leftToKubelet(volume, snapshot)
  if (kubelets !== undefined) return kubelets
  const content =
    source === undefined || snapshot.api === undefined ? NOT_READ : expectedContent(source, pod, snapshot.api)
  return isNoContent(content) ? contentObstacle(volume, content) : undefined
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
  return what && { code: 'LeftToKubelet', message: `volume ${specName} ${what}` }
}

function hasOwners({ configMap, secret, downwardAPI, projected }: PodVolumeSource): boolean {
  const own = configMap ?? secret ?? downwardAPI
  const ofSources = (projected?.sources ?? []).flatMap((each) => [
    ...((each.configMap ?? each.secret ?? each.downwardAPI)?.items ?? []),
    each.serviceAccountToken,
    each.clusterTrustBundle,
  ])
  const users = [...(own?.items ?? []), ...ofSources].map((each) => each?.user)
  return [(own ?? projected)?.defaultUser, ...users].some((user) => user != null)
}

const NOT_READ: NoContent = { kind: 'unknown', reason: 'the API was not read' }

const CODES = { missing: 'ContentMissing', invalid: 'InvalidVolume', unknown: 'ContentUnknown' } as const

export function contentObstacle({ specName }: VolumeToMount, { kind, reason }: NoContent): Obstacle {
  return { code: CODES[kind], message: `volume ${specName}: ${reason}` }
}

// Does the content of a configMap, secret, downwardAPI or projected volume match the API (O28, R807)?

/**
 * The first difference, in words; undefined if none is found. An object or key that the API shows to be missing is a difference:
 * the kubelet fails on it again and again.
 */
export function contentDifference(inputs: ActualInputs, volume: VolumeToMount): string | undefined {
  const files = expectedOf(inputs, volume)
  if (files === undefined) return undefined
  if (isNoContent(files)) return files.kind === 'unknown' ? undefined : files.reason
  const dir = podVolumeDir(volume)
  const generation = currentGeneration(inputs, dir)
  if (generation === undefined) return inputs.tree.has(dir) ? `${inputs.absolute(dir)} has no ..data` : undefined
  const found = new Map(
    inputs.tree
      .descendants(`${dir}/${generation}`)
      .filter((entry) => entry.type !== 'dir')
      .map((entry) => [entry.path.slice(dir.length + generation.length + 2), entry]),
  )
  for (const [path, want] of files) {
    const entry = found.get(path)
    if (entry === undefined) return `${path} is missing in volume ${volume.specName}`
    if ('digest' in want && entry.digest !== undefined && entry.digest !== want.digest)
      return `${path} differs from the API`
    if ('size' in want && entry.size !== undefined && entry.size !== want.size)
      return `${path} differs in size from the API`
  }
  const extra = [...found.keys()].find((path) => !files.has(path))
  return extra === undefined ? undefined : `${extra} is no longer part of volume ${volume.specName}`
}

/** What an interrupted write left, in words; the kubelet itself cannot continue from a `..data_tmp` (P29). */
export function halfDone(inputs: ActualInputs, volume: VolumeToMount): string | undefined {
  const expected = expectedOf(inputs, volume)
  const dir = podVolumeDir(volume)
  const current = currentGeneration(inputs, dir)
  if (expected === undefined || isNoContent(expected) || current === undefined) return undefined
  const wanted = topNames(expected)
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

function expectedOf({ snapshot }: ActualInputs, { source, pod }: VolumeToMount): ExpectedContent | undefined {
  return snapshot.api === undefined || source === undefined ? undefined : expectedContent(source, pod, snapshot.api)
}

function currentGeneration({ tree }: ActualInputs, dir: string): string | undefined {
  const target = tree.get(`${dir}/..data`)?.target
  return target === undefined ? undefined : baseName(target)
}

function topNames(files: ReadonlyMap<string, ExpectedFile>): ReadonlySet<string> {
  return new Set([...files.keys()].map((path) => path.split('/')[0] ?? path))
}
