/** What a kubelet makes for a pod: in a description of a node (node-builder.ts), or on a disk with real mounts. */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { TreeEntry } from '../../src/core/volumes/snapshot.ts'

/** On a disk `source` alone is what is bound there. */
export interface Mounted {
  readonly dev?: string
  readonly root?: string
  readonly fsType?: string
  readonly source?: string
  readonly type?: TreeEntry['type']
}

export type Data = Readonly<Record<string, string>>

/** By which the kubelet's atomic writer calls what it has written. */
const GENERATION = '..2026_01_02_03_04_05.1234567890'

export abstract class PodFiles {
  /** Makes a file, a link or a directory, by its path from the root directory, and what it lies in. */
  abstract entry(entry: TreeEntry): this
  /** Mounts a new tmpfs, or what is given. */
  abstract mount(path: string, given?: Mounted): this

  podDirectory(uid: string): this {
    this.entry({ path: `pods/${uid}/containers/main/3f2a9c1e`, type: 'file', mode: '644', content: '' })
    const hosts = '# Kubernetes-managed hosts file.\n127.0.0.1\tlocalhost\n'
    return this.entry({ path: `pods/${uid}/etc-hosts`, type: 'file', mode: '644', content: hosts })
  }

  emptyDir(uid: string, name: string, medium: 'disk' | 'memory' = 'disk'): this {
    const path = volumePath(uid, 'empty-dir', name)
    this.entry({ path, type: 'dir', mode: '777' })
    if (medium === 'memory') this.mount(path)
    return this.#markReady(uid, name)
  }

  configMap(uid: string, name: string, data: Data): this {
    return this.content(uid, 'configmap', name, data)
  }

  /** On a tmpfs. */
  secret(uid: string, name: string, data: Data): this {
    const path = volumePath(uid, 'secret', name)
    this.entry({ path, type: 'dir', mode: '777' }).mount(path)
    return this.content(uid, 'secret', name, data)
  }

  /** A local PersistentVolume: its directory. */
  localVolume(uid: string, name: string, shown: Mounted): this {
    const path = volumePath(uid, 'local-volume', name)
    return this.entry({ path, type: 'dir', mode: '750' }).mount(path, shown)
  }

  /** The file or directory of a volume, for the first of a container's mounts. */
  subPath(uid: string, volume: string, shown: Mounted): this {
    const path = subPathOf(uid, volume)
    return this.entry({ path, type: 'dir', mode: '750' }).mount(path, shown)
  }

  /** As written: `..data` links to a directory with a time in its name, and every key to a file below it. */
  content(uid: string, plugin: string, name: string, data: Data): this {
    const path = volumePath(uid, plugin, name)
    this.entry({ path: `${path}/${GENERATION}`, type: 'dir', mode: '755' })
    for (const [key, content] of Object.entries(data)) {
      this.entry({ path: `${path}/${GENERATION}/${key}`, type: 'file', mode: '644', content })
      this.entry({ path: `${path}/${key}`, type: 'link', target: `..data/${key}` })
    }
    this.entry({ path: `${path}/..data`, type: 'link', target: GENERATION })
    return this.#markReady(uid, `wrapped_${name}`)
  }

  #markReady(uid: string, name: string): this {
    const path = `pods/${uid}/plugins/kubernetes.io~empty-dir/${name}/ready`
    return this.entry({ path, type: 'file', mode: '644', content: '' })
  }
}

/** Of a volume's directory, from the root directory. @param plugin without `kubernetes.io~` */
export function volumePath(uid: string, plugin: string, name: string): string {
  return `pods/${uid}/volumes/kubernetes.io~${plugin}/${name}`
}

export function subPathOf(uid: string, volume: string): string {
  return `pods/${uid}/volume-subpaths/${volume}/main/0`
}

/** The root directory of a test, which it mounts in. */
export class OnDisk extends PodFiles {
  readonly #root: string

  constructor(root: string) {
    super()
    this.#root = root
  }

  override entry(entry: TreeEntry): this {
    makeEntry(this.#root, entry)
    return this
  }

  override mount(path: string, given: Mounted = {}): this {
    mountAt(join(this.#root, path), given)
    return this
  }
}

export function makeEntry(root: string, { path, type, mode, target = '', content = '' }: TreeEntry): void {
  const full = join(root, path)
  mkdirSync(type === 'dir' ? full : dirname(full), { recursive: true, mode: 0o750 })
  if (type === 'link') symlinkSync(target, full)
  else if (type === 'file') writeFileSync(full, content)
  if (mode !== undefined && type !== 'link' && type !== 'socket') chmodSync(full, Number.parseInt(mode, 8))
}

export function mountAt(path: string, { source }: Mounted): void {
  const what = source === undefined ? ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs'] : ['--bind', source]
  execFileSync('mount', [...what, path])
}
