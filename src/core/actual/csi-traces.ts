/**
 * The names under which a pod's directory shows CSI file system volumes, however little is left of them.
 *
 * The name is the PersistentVolume's, or the pod volume's where it is inline (C9): no proof of a volume, but the only
 * thing that is left of one whose records are lost (O2, O5, O17).
 */
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
  /** A mount, a state file, or what a driver published instead of a mount (C17). False: empty directories at most. */
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
  // The mounts are the pod's: of a hundred thousand only what follows its directory is compared.
  const pod = inputs.absolute(`pods/${podUid}`).length
  for (const { mountPoint } of inputs.podMounts(podUid)) {
    if (mountPoint.startsWith(CSI_VOLUMES, pod))
      names.add(firstName(inputs.plain(mountPoint), pod + CSI_VOLUMES.length))
    else if (mountPoint.startsWith(SUB_PATHS, pod)) {
      const name = firstName(inputs.plain(mountPoint), pod + SUB_PATHS.length)
      if (!subPaths.has(name)) subPaths.set(name, inputs.relative(inputs.plain(mountPoint)))
    }
  }
  const isAnothers = (name: string): boolean =>
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
      .filter(([name]) => names.has(name) || !isAnothers(name))
      .map(([name, path]): CsiTrace => ({ podUid, name, kind: 'subPath', path, stateFile: undefined, setUp: true })),
  ]
}

/** Of a path, the component that begins there. */
function firstName(path: string, start: number): string {
  const end = path.indexOf('/', start)
  return path.slice(start, end === -1 ? undefined : end)
}
