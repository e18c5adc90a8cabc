/**
 * The directories that overlay mounts are made of, by the options that the kernel shows (ovl_show_options).
 *
 * The paths are those given to mount(2), in the namespace and working directory of the process that mounted, which the kernel
 * does not show. mountinfo's own escapes are decoded already. Overlay adds another escape (a backslash before a colon, a
 * comma or a backslash), but newer kernels use it in some options only. So both readings count.
 */
import { posix } from 'node:path'
import { onceFor } from '../lang/once-for.ts'
import type { MountInfo, MountTable } from '../mountinfo/mount-table.ts'

export interface Layer {
  readonly mount: MountInfo
  /** lowerdir, upperdir, workdir, datadir */
  readonly option: string
  /** Normalised; without a slash at its beginning it is relative to an unknown directory. */
  readonly path: string
}

const OPTIONS = /^(lowerdir|upperdir|workdir|datadir)(\+?)=(.*)$/s

/** Of every overlay mount of a table. */
export const overlayLayers = onceFor((table: MountTable): readonly Layer[] =>
  table.ofTypes((fsType) => fsType === 'overlay').flatMap(layersOf),
)

function layersOf(mount: MountInfo): Layer[] {
  return mount.superOptions.flatMap((text) => {
    const [, option, one, value = ''] = OPTIONS.exec(text) ?? []
    if (option === undefined) return []
    const isList = option === 'lowerdir' && one === ''
    const paths = isList ? listed(value) : readings(value)
    return [...new Set(paths)].map((path) => ({ mount, option, path }))
  })
}

/** The list of lower directories, at colons (two come before data-only ones). A few kernels do not escape colons in a name, so the whole value counts too. */
function listed(value: string): string[] {
  const parts = value.split(/(?<!(?<!\\)(?:\\\\)*\\):/).flatMap(readings)
  return value.startsWith('/') ? [...parts, ...readings(value)] : parts
}

function readings(value: string): string[] {
  return value === '' ? [] : [plain(value), plain(value.replaceAll(/\\(.)/gs, '$1'))]
}

function plain(path: string): string {
  const normal = posix.normalize(path)
  return normal.length > 1 && normal.endsWith('/') ? normal.slice(0, -1) : normal
}
