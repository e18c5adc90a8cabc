/**
 * Volumes that are set up elsewhere than below the root directory (S8): staged or published below the place that it had
 * before it was moved, by a second kubelet, below a link. Nothing here decides on them, so that they are in use.
 */
import type { ActualInputs } from '../../actual/actual-inputs.ts'
import { isWithin } from '../../files/path-within.ts'
import { append } from '../../lang/append.ts'
import { onceFor } from '../../lang/once-for.ts'
import type { MountInfo } from '../../mountinfo/mount-table.ts'
import { escapeQualifiedName, sha256Hex } from '../../names/volume-names.ts'
import { type SoughtVolume, shapeMatcher, shapeOf, type VolumeShape } from '../../names/volume-shapes.ts'
import type { Obstacle } from '../../plan/draft.ts'

interface Found {
  readonly mount: MountInfo
  readonly path: string
  readonly shape: VolumeShape
}

/** By the hash of the handle, and by every name. Few mounts outside have such a path. */
interface Index {
  readonly byKey: ReadonlyMap<string, readonly Found[]>
  readonly byName: ReadonlyMap<string, readonly Found[]>
}

/** What is mounted outside the root directory under a name of this volume's, if anything is. */
export function elsewhereObstacle(inputs: ActualInputs, sought: SoughtVolume): Obstacle | undefined {
  const { byKey, byName } = indexOf(inputs)
  if (byKey.size === 0 && byName.size === 0) return undefined
  const matches = shapeMatcher(sought)
  const found = [
    ...(sought.handle === undefined ? [] : (byKey.get(sha256Hex(sought.handle)) ?? [])),
    ...sought.names.flatMap((name) => byName.get(escapeQualifiedName(name)) ?? []),
  ].find(({ mount, shape }) => matches(shape) !== undefined && !goesWithRoot(inputs, mount))
  return (
    found && {
      code: 'HeldBy',
      message: `${found.path} is mounted outside of the root directory ${inputs.rootDir}, and its path is that of this volume`,
      hint: `Find out who set it up, maybe a kubelet whose root directory was elsewhere (findmnt ${found.path}); undo it there, then plan again.`,
    }
  )
}

/** A copy by propagation, as where the root directory is shared with a container's, is judged with its original (R032). */
function goesWithRoot(inputs: ActualInputs, mount: MountInfo): boolean {
  return inputs.devices.leadersOf(mount).some(({ mountPoint }) => isWithin(inputs.plain(mountPoint), inputs.rootDir))
}

const indexOf = onceFor((inputs: ActualInputs): Index => {
  const byKey = new Map<string, Found[]>()
  const byName = new Map<string, Found[]>()
  const below = `${inputs.rootDir}/`
  for (const mount of inputs.mounts.under('/')) {
    // Of a hundred thousand nearly all are the kubelet's own.
    if (mount.mountPoint.startsWith(below)) continue
    const path = inputs.plain(mount.mountPoint)
    const shape = shapeOf(path)
    if (shape === undefined) continue
    const found = { mount, path, shape }
    if (shape.staged !== undefined) append(byKey, shape.staged.key, found)
    for (const name of shape.names) append(byName, name, found)
  }
  return { byKey, byName }
})
