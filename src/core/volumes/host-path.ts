/** hostPath: the container gets the path itself, the kubelet only checks its type (P57-P59, O33); and image, which is the runtime's. */

import { ownValue } from '../base/collections.ts'
import type { SharedSources } from '../kube/api/objects.ts'
import { said } from '../messages/findings.ts'
import { sharedSourcesOf, type VolumeToMount } from './desired-state.ts'
import { mountOptionsObstacle } from './mount-options.ts'
import type { ActualInputs } from './on-disk/actual-inputs.ts'
import type { VolumePlugin } from './plugin.ts'
import type { HostPath } from './snapshot.ts'

export const hostPath: VolumePlugin<NonNullable<SharedSources['hostPath']>> = {
  name: 'kubernetes.io/host-path',
  source: 'hostPath',
  about: {
    tearDown: 'nothing is mounted; sub-path mounts of it are unmounted',
    setUp: 'the type of the path is checked as by the kubelet; the path is created if the type asks for that',
  },
  tearDown: 'nothing',
  refusesMountOptions: true,
  sourceText: ({ path }) => `hostPath ${path}`,
  mountsOver: () => false,
  /** A path that was not looked at counts as good: a kubelet has checked it for every running pod. */
  whyMissing: (inputs, volume) =>
    mountOptionsObstacle(volume) === undefined
      ? judged(inputs, volume).fault?.why
      : 'its PersistentVolume has mount options, which a hostPath cannot have',
  setUp: ({ inputs }, volume) => {
    const { path, type, fault } = judged(inputs, volume)
    if (fault === undefined || fault.makes !== undefined)
      return { steps: [{ op: 'checkPath', target: path, detail: type || undefined }] }
    return { steps: [], blocked: said('HostPathType', { target: path, why: fault.why }) }
  },
}

function judged(inputs: ActualInputs, volume: VolumeToMount) {
  const { path = '', type } = sharedSourcesOf(volume).hostPath ?? {}
  const found = inputs.snapshot.hostPaths?.find((each) => each.path === path)
  return { path, type, fault: judgeHostPath(path, type ?? '', found) }
}

// The kubelet's rules for the type of a hostPath (P58).

const WANTED: Readonly<Record<string, HostPath['type']>> = {
  Directory: 'dir',
  File: 'file',
  Socket: 'socket',
  CharDevice: 'char',
  BlockDevice: 'block',
}

/** What may be made. */
const OR_CREATE: Readonly<Record<string, 'dir' | 'file'>> = { DirectoryOrCreate: 'dir', FileOrCreate: 'file' }

const FOUND: Readonly<Record<NonNullable<HostPath['type']>, string>> = {
  dir: 'a directory is there',
  file: 'a file is there',
  socket: 'a socket is there',
  char: 'a character device is there',
  block: 'a block device is there',
  fifo: 'a named pipe is there',
  absent: 'nothing is there',
}

/**
 * @param type of the pod's volume; empty: only the path's text is checked
 * @param found what is at the path, links followed; undefined: the path was not looked at
 * @returns undefined: the path is what the type asks for, or nothing is to be checked; `makes`: nothing is at the path, and the type asks to
 *   create it
 */
export function judgeHostPath(path: string, type: string, found: HostPath | undefined) {
  if (path.split('/').includes('..')) return { why: 'the path contains ".."' }
  if (type === '' || found === undefined) return undefined
  const makes = ownValue(OR_CREATE, type)
  const wanted = makes ?? ownValue(WANTED, type)
  if (wanted === undefined) return { why: `${JSON.stringify(type)} is not a type of hostPath` }
  if (found.type === undefined) return { why: `the path could not be examined (${found.error ?? 'unknown'})` }
  if (found.type === wanted) return undefined
  const why = `${FOUND[found.type]}, but the volume's type is ${type}`
  return { why, makes: found.type === 'absent' ? makes : undefined }
}

/** The container runtime mounts the volume, the kubelet never does (P61, O33). */
export const image: VolumePlugin = {
  name: 'kubernetes.io/image',
  source: 'image',
  about: {
    tearDown: 'nothing: the container runtime mounts and unmounts it',
    setUp: 'nothing: the container runtime mounts it',
  },
  tearDown: 'nothing',
  mountsOver: () => false,
  whyMissing: () => undefined,
  setUp: () => ({ steps: [] }),
}
