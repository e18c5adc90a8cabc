/**
 * The names of CSI file system volumes in a pod's directory, even if little is left of them.
 *
 * The name is the PersistentVolume's, or the pod volume's if that is inline (C9). It proves no volume, but it is all that is left
 * of a volume whose records are lost (O2, O5, O17).
 */
import { firstName } from '../../linux/mounts-below.ts'
import type { ActualInputs } from './actual-inputs.ts'
import { readStateFile, type StateFile } from './state-file.ts'

export interface CsiTrace {
  readonly podUid: string
  /** Name of the directory. */
  readonly name: string
  readonly kind: 'volume' | 'subPath'
  /** Relative: the target, or a mounted sub-path. */
  readonly path: string
  readonly stateFile: StateFile | undefined
  /**
   * True if there is a mount, a state file, or a link or device that the driver published (C17). False: only empty
   * directories.
   */
  readonly setUp: boolean
}

const CSI_VOLUMES = '/volumes/kubernetes.io~csi/'
const SUB_PATHS = '/volume-subpaths/'

export function csiTraces(inputs: ActualInputs, podUid: string): CsiTrace[] {
  const { tree } = inputs
  const volumes = `pods/${podUid}/volumes`
  const csi = `${volumes}/kubernetes.io~csi`
  const names = new Set(tree.childDirs(csi))
  const subPaths = new Map<string, string>()
  // All are mounts of this pod: of a hundred thousand paths only the part after the pod's directory is compared.
  const pod = inputs.absolute(`pods/${podUid}`).length
  const mounts = hasEither(inputs, podUid) ? inputs.podMounts(podUid) : []
  for (const { mountPoint } of mounts) {
    if (mountPoint.startsWith(CSI_VOLUMES, pod))
      names.add(firstName(inputs.plain(mountPoint), pod + CSI_VOLUMES.length))
    else if (mountPoint.startsWith(SUB_PATHS, pod)) {
      const name = firstName(inputs.plain(mountPoint), pod + SUB_PATHS.length)
      if (!subPaths.has(name)) subPaths.set(name, inputs.relative(inputs.plain(mountPoint)))
    }
  }
  const belongsToAnotherPlugin = (name: string): boolean =>
    tree.children(volumes).some(({ path }) => path !== csi && tree.has(`${path}/${name}`))
  return [
    ...[...names].map((name): CsiTrace => {
      const dir = `${csi}/${name}`
      const stateFile = readStateFile(tree.get(`${dir}/vol_data.json`))
      const target = tree.get(`${dir}/mount`)
      const published = target !== undefined && target.type !== 'dir'
      const setUp = stateFile !== undefined || published || inputs.mountsWithin(dir).length > 0
      return { podUid, name, kind: 'volume', path: `${dir}/mount`, stateFile, setUp }
    }),
    ...[...subPaths]
      .filter(([name]) => names.has(name) || !belongsToAnotherPlugin(name))
      .map(([name, path]): CsiTrace => ({ podUid, name, kind: 'subPath', path, stateFile: undefined, setUp: true })),
  ]
}

/** Nearly no pod has a hundred mounts: one that has, mostly has them elsewhere. */
function hasEither(inputs: ActualInputs, podUid: string): boolean {
  const pod = inputs.absolute(`pods/${podUid}`)
  return [CSI_VOLUMES, SUB_PATHS].some((below) => inputs.mounts.isAbove(`${pod}${below.slice(0, -1)}`))
}
