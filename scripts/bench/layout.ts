/** What a bench's node has on disk: paths below its root directory, made in this order. */
export interface Layout {
  readonly rootDir: string
  readonly directories: readonly string[]
  /** An empty tmpfs on each, in this order. */
  readonly mounts: readonly string[]
  readonly files: Readonly<Record<string, string>>
  readonly links: Readonly<Record<string, string>>
}

/** Collects a layout, volume by volume. */
export class LayoutBuilder implements Layout {
  readonly rootDir: string
  readonly directories: string[] = ['pods', 'plugins', 'plugins_registry']
  readonly mounts: string[] = []
  readonly files: Record<string, string> = {}
  readonly links: Record<string, string> = {}

  constructor(rootDir: string) {
    this.rootDir = rootDir
  }

  /** Names below a pod's directory, as "volumes/kubernetes.io~secret/token". */
  tmpfs(podUid: string, path: string): void {
    this.directory(podUid, path)
    this.mounts.push(`pods/${podUid}/${path}`)
  }

  directory(podUid: string, path: string): void {
    this.directories.push(`pods/${podUid}/${path}`)
  }

  /** The marker that shows that a volume without its own mount is set up (P21). */
  readyMarker(podUid: string, name: string): void {
    const directory = `plugins/kubernetes.io~empty-dir/${name}`
    this.directory(podUid, directory)
    this.files[`pods/${podUid}/${directory}/ready`] = ''
  }

  /** Files as the kubelet's atomic writer leaves them (P28). */
  payload(podUid: string, path: string, files: Readonly<Record<string, string>>): void {
    const generation = '..2026_01_02_03_04_05.123456789'
    const base = `pods/${podUid}/${path}`
    this.links[`${base}/..data`] = generation
    for (const [name, content] of Object.entries(files)) {
      this.files[`${base}/${generation}/${name}`] = content
      this.links[`${base}/${name}`] = `..data/${name}`
    }
  }
}

/** A UID that is a proper RFC 4122 UUID, by kind and number. */
export function podUid(kind: 'living' | 'gone', index: number): string {
  return `${kind === 'living' ? '10000000' : '20000000'}-0000-4000-8000-${String(index).padStart(12, '0')}`
}
