/**
 * The directories that overlay mounts are made of, by the options that the kernel shows (ovl_show_options).
 *
 * They are what was given to mount(2): as the namespace and the working directory of whoever mounted had it, and nothing
 * tells these any more. mountinfo escapes them once, which is undone by then; below that lies overlay's own escape, a
 * backslash before a colon, a comma or itself, that newer kernels ask for in some options alone. So both readings count.
 */
import { posix } from 'node:path'
import { onceFor } from '../lang/once-for.ts'
import type { MountInfo, MountTable } from '../mountinfo/mount-table.ts'

export interface Layer {
  readonly mount: MountInfo
  /** lowerdir, upperdir, workdir, datadir */
  readonly option: string
  /** Normalised; relative to a directory that nothing tells where it does not begin with a slash. */
  readonly path: string
}

const OPTIONS = /^(lowerdir|upperdir|workdir|datadir)(\+?)=(.*)$/s

/** Of every overlay mount of a table. */
export const overlayLayers = onceFor((table: MountTable): readonly Layer[] =>
  mountsOfType(table, 'overlay').flatMap(layersOf),
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

/** Two colons come before directories of data alone; a few kernels show a colon of a name as one of the list. */
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

/** By the text: a table of a hundred thousand mounts has few of most types, and its records are decoded on demand. */
function mountsOfType(table: MountTable, fsType: string): MountInfo[] {
  const { text } = table
  const found: MountInfo[] = []
  const needle = ` - ${fsType} `
  for (let at = text.indexOf(needle); at !== -1; at = text.indexOf(needle, at + 1)) {
    const id = Number.parseInt(text.slice(text.lastIndexOf('\n', at) + 1, at), 10)
    const mount = table.byId(id)
    if (mount?.fsType === fsType) found.push(mount)
  }
  return [...new Set(found)]
}
