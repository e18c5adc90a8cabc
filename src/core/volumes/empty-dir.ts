/** emptyDir: a directory, a tmpfs or a hugetlbfs of the pod's own (P35-P45); and gitRepo, whose leftovers are the same. */

import type { Pod } from '../kube/api/objects.ts'
import type { MountInfo } from '../linux/mount-table.ts'
import { said } from '../messages/findings.ts'
import { leftToKubelet } from './atomic-content.ts'
import { podVolumeDir, type VolumeToMount } from './desired-state.ts'
import { emptyDirSteps, foreignMount, inTheWay, whyNotReady, whyNotThere } from './empty-dir-steps.ts'
import type { Obstacle } from './finding.ts'
import { ownershipOf } from './mount-options.ts'
import type { ActualInputs } from './on-disk/actual-inputs.ts'
import type { SetUp, SetUpContext, VolumePlugin } from './plugin.ts'
import { parseQuantity } from './quantity.ts'

export const emptyDir: VolumePlugin = {
  name: 'kubernetes.io/empty-dir',
  source: 'emptyDir',
  about: {
    tearDown: 'unmounted if it is in memory; its data is counted, and deleted only with --orphans',
    setUp: 'directory, tmpfs or hugetlbfs, with the sizes and the group that the pod asks for',
  },
  reconstructs: true,
  tearDown: 'emptyDir',
  mountsOver: (volume) => mediumOf(volume).fsType !== 'none',
  whyMissing: (inputs, volume) => {
    const medium = mediumOf(volume)
    if (medium.fsType === undefined) return noSuch(medium)
    const pages = pagesFit(inputs, volume, medium) ? undefined : 'its huge pages have another size'
    return whyNotThere(inputs, volume, medium.fsType) ?? pages ?? whyNotReady(inputs, volume.podUid, volume.specName)
  },
  setUp,
}

function setUp(context: SetUpContext, volume: VolumeToMount): SetUp {
  const { inputs } = context
  const medium = mediumOf(volume)
  const { fsType } = medium
  const target = inputs.absolute(podVolumeDir(volume))
  const refused = (why: string, needed: string): SetUp => ({
    steps: [{ op: 'mkdir', target }],
    blocked: invalid(volume, why, needed),
  })
  if (fsType === undefined) return refused(noSuch(medium), 'the medium "", Memory, HugePages or HugePages-SIZE')
  const pages = fsType === 'hugetlbfs' ? requestedPageSize(medium, volume.pod) : undefined
  if (pages?.error !== undefined)
    return refused(pages.error, 'a request for huge pages of one size that fits the medium')
  const inner = { fsType, marker: volume.specName, pageSize: pages?.size }
  const group = ownershipOf(volume, target, true)
  const blocked =
    foreignMount(context, volume, fsType) ??
    // Containers may use its pages.
    (pagesFit(inputs, volume, medium) ? undefined : inTheWay(target, 'a hugetlbfs with pages of another size')) ??
    badLimit(volume) ??
    leftToKubelet(volume, inputs.snapshot)
  return { steps: emptyDirSteps(context, volume, inner, group), blocked }
}

function noSuch({ name }: Medium): string {
  return `its medium ${JSON.stringify(name)} does not exist`
}

function invalid({ specName }: VolumeToMount, why: string, needed: string): Obstacle {
  return {
    ...said('InvalidVolume.emptyDir', { specName, why }),
    hint: `Create the pod again, with ${needed}.`,
  }
}

function pagesFit(inputs: ActualInputs, volume: VolumeToMount, medium: Medium): boolean {
  const top = inputs.top(podVolumeDir(volume))
  return top?.fsType !== 'hugetlbfs' || hasPageSize(top, medium)
}

/** 0 and less set no limit (P38); a text that is no quantity could mean anything. */
function badLimit(volume: VolumeToMount): Obstacle | undefined {
  const limit = volume.source?.emptyDir?.sizeLimit
  if (limit == null || parseQuantity(limit) !== undefined) return undefined
  return invalid(volume, `its sizeLimit ${JSON.stringify(limit)} is not a quantity`, 'a sizeLimit such as 512Mi')
}

const RESOURCE = 'hugepages-'

/**
 * The page size of an emptyDir of huge pages: the size to mount with, and the size that is mounted (P40, P41).
 * A container has to request the size; for plain HugePages only one size may be requested. The text is the request's own.
 */
export function requestedPageSize({ name, size: asked }: Medium, pod: Pod) {
  const requested = requestedSizes(pod)
  const odd = [asked, ...requested].find((size) => size !== undefined && parseQuantity(size) === undefined)
  if (odd !== undefined) return { error: `${JSON.stringify(odd)} is not a page size` }
  const alike = Map.groupBy(requested, parseQuantity)
  const [found, ...others] = asked === undefined ? alike.values() : [alike.get(parseQuantity(asked))]
  const [size] = found ?? []
  if (size === undefined) return { error: `its medium is ${name}, but no container requests such pages` }
  return others.length > 0
    ? { error: `its medium is ${name}, but the containers request pages of several sizes` }
    : { size }
}

/** The sizes that the pod, its containers and its init containers request. */
function requestedSizes({ spec }: Pod): string[] {
  return [spec, ...(spec.containers ?? []), ...(spec.initContainers ?? [])]
    .flatMap(({ resources }) => Object.keys(resources?.requests ?? {}))
    .flatMap((name) => (name.startsWith(RESOURCE) ? [name.slice(RESOURCE.length)] : []))
}

/**
 * Does the mount have the page size that the medium names? Plain HugePages accepts any. The kernel writes 2M for 2Mi; a mount
 * that does not show its size counts as another size.
 */
export function hasPageSize({ superOptions }: Pick<MountInfo, 'superOptions'>, { size }: Medium): boolean {
  if (size === undefined) return true
  const text = superOptions.find((option) => option.startsWith('pagesize='))?.slice('pagesize='.length)
  const found = parseQuantity(text?.replace(/i?$/, 'i'))
  return found !== undefined && found === parseQuantity(size)
}

type Medium = ReturnType<typeof mediumOf>

/**
 * @returns `fsType` undefined: there is no such medium; `size`: of huge pages, from the medium's name, e.g. 2Mi; undefined: the one size
 *   that the pod requests
 */
export function mediumOf({ source }: Pick<VolumeToMount, 'source'>) {
  const name = source?.emptyDir?.medium ?? ''
  const [pages, size] = /^HugePages(?:-(.*))?$/s.exec(name) ?? []
  const ofMemory = pages === undefined ? (name === 'Memory' ? 'tmpfs' : undefined) : 'hugetlbfs'
  return { name, fsType: name === '' ? 'none' : ofMemory, size } as const
}

const GIT_REPO = 'kubernetes.io/git-repo'

/** A plugin that Kubernetes has disabled; volumes that it left are still removed (P60). */
export const gitRepo: VolumePlugin = {
  name: GIT_REPO,
  source: 'gitRepo',
  about: {
    tearDown: 'as an emptyDir on disk',
    setUp: 'never: Kubernetes has disabled the plugin',
  },
  reconstructs: true,
  tearDown: 'emptyDir',
  mountsOver: () => false,
  // A kubelet of an earlier version may have set the volume up, and the pod may still run.
  whyMissing: (inputs, { podUid, specName }) => whyNotReady(inputs, podUid, specName, GIT_REPO),
  setUp: () => ({
    steps: [],
    blocked: {
      ...said('PluginUnsupported.gitRepo'),
      hint: 'Clone the repository in an init container into an emptyDir instead.',
    },
  }),
}
