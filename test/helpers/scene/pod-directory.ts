/** What a kubelet makes for a pod beside its CSI volumes: its directory, and the volumes that need no driver. */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export function makePodDirectory(rootDir: string, uid: string): string {
  const directory = join(rootDir, 'pods', uid)
  mkdirSync(join(directory, 'containers', 'main'), { recursive: true, mode: 0o750 })
  writeFileSync(join(directory, 'containers', 'main', '3f2a9c1e'), '')
  writeFileSync(join(directory, 'etc-hosts'), '# Kubernetes-managed hosts file.\n127.0.0.1\tlocalhost\n')
  return directory
}

/** An emptyDir on disk, or in memory: a separate tmpfs. */
export function makeEmptyDir(podDirectory: string, name: string, medium: 'disk' | 'memory'): string {
  const directory = join(podDirectory, 'volumes', 'kubernetes.io~empty-dir', name)
  mkdirSync(directory, { recursive: true })
  chmodSync(directory, 0o777)
  if (medium === 'memory') execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', directory])
  markReady(podDirectory, name)
  return directory
}

/** A directory of the pod's, filled as by the kubelet's atomic writer. */
export function makeConfigMap(podDirectory: string, name: string, data: Readonly<Record<string, string>>): void {
  const directory = join(podDirectory, 'volumes', 'kubernetes.io~configmap', name)
  mkdirSync(directory, { recursive: true })
  writeAtomically(directory, data)
  markReady(podDirectory, `wrapped_${name}`)
}

/** The same, on a tmpfs. */
export function makeSecret(podDirectory: string, name: string, data: Readonly<Record<string, string>>): void {
  const directory = join(podDirectory, 'volumes', 'kubernetes.io~secret', name)
  mkdirSync(directory, { recursive: true })
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', directory])
  chmodSync(directory, 0o777)
  writeAtomically(directory, data)
  markReady(podDirectory, `wrapped_${name}`)
}

/** `..data` links to a directory with a time in its name, and every key to a file below it. */
function writeAtomically(directory: string, data: Readonly<Record<string, string>>): void {
  const version = '..2026_01_02_03_04_05.1234567890'
  mkdirSync(join(directory, version))
  chmodSync(join(directory, version), 0o755)
  for (const [key, value] of Object.entries(data)) {
    writeFileSync(join(directory, version, key), value)
    chmodSync(join(directory, version, key), 0o644)
    symlinkSync(join('..data', key), join(directory, key))
  }
  symlinkSync(version, join(directory, '..data'))
}

/** A local PersistentVolume: its directory, bind-mounted. */
export function makeLocalVolume(podDirectory: string, specName: string, source: string): void {
  const directory = join(podDirectory, 'volumes', 'kubernetes.io~local-volume', specName)
  mkdirSync(directory, { recursive: true, mode: 0o750 })
  execFileSync('mount', ['--bind', source, directory])
}

function markReady(podDirectory: string, name: string): void {
  const directory = join(podDirectory, 'plugins', 'kubernetes.io~empty-dir', name)
  mkdirSync(directory, { recursive: true, mode: 0o750 })
  writeFileSync(join(directory, 'ready'), '')
}

/** A container's subPath: the file or directory of a volume, bind-mounted for it. */
export function makeSubPath(podDirectory: string, volume: string, source: string): string {
  const target = join(podDirectory, 'volume-subpaths', volume, 'main', '0')
  mkdirSync(target, { recursive: true, mode: 0o750 })
  execFileSync('mount', ['--bind', source, target])
  return target
}
