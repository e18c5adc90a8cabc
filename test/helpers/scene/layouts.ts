/** Layouts of the mounts around a kubelet's root directory, as found on nodes; tests must pass on all of them (S18, O35). */
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

export const layouts = [
  // Nothing goes on to anything else.
  'private',
  // A shared tree, as systemd makes it.
  'shared',
  // A tree that hears of another one and tells it nothing, as a service with mount propagation of its own has it.
  'slave',
  // The root directory bound over itself, on a private tree.
  'self-bind',
  // The same on a shared tree, as kind, minikube and kubelets in containers have it.
  'shared-self-bind',
  // The same twice, as by a unit that binds it whenever it starts.
  'nested',
  // The same, all bound once more when volumes were mounted already.
  'bound-later',
  // The directories of pods and of plugins are links to another disk (S8).
  'linked',
  // The same on a shared tree, the root directory bound over itself.
  'linked-shared',
] as const

export type Layout = (typeof layouts)[number]

/**
 * To be called before anything is mounted.
 *
 * @param tree a directory that contains the root directory
 */
export function layOut(layout: Layout, tree: string, rootDir: string): void {
  if (layout === 'private') return
  if (layout !== 'self-bind' && layout !== 'linked') {
    bind(tree)
    mount('--make-rshared', tree)
  }
  if (layout === 'slave') {
    bind(tree)
    mount('--make-slave', tree)
  }
  if (layout === 'linked' || layout === 'linked-shared') linkToDisk(tree, rootDir)
  if (BOUND.has(layout)) bind(rootDir)
  if (layout === 'nested') bind(rootDir)
}

/** To be called when volumes are mounted. */
export function layOutLater(layout: Layout, rootDir: string): void {
  if (layout === 'bound-later') mount('--rbind', rootDir, rootDir)
}

/** How many times each mount below the root directory appears in the table. */
export function timesInTable(layout: Layout): number {
  if (layout === 'nested') return 4
  return layout === 'shared-self-bind' || layout === 'bound-later' ? 2 : 1
}

const BOUND: ReadonlySet<Layout> = new Set(['self-bind', 'shared-self-bind', 'nested', 'linked-shared'])

/** One of the links leads there through another, one by a relative path. */
function linkToDisk(tree: string, rootDir: string): void {
  const disk = join(tree, 'disk')
  mkdirSync(disk)
  mount('-t', 'tmpfs', 'disk', disk)
  for (const name of ['of-pods', 'of-plugins']) mkdirSync(join(disk, name), { mode: 0o750 })
  rmSync(join(rootDir, 'pods'), { recursive: true, force: true })
  symlinkSync('disk/of-pods', join(tree, 'way'))
  symlinkSync('../way', join(rootDir, 'pods'))
  symlinkSync(join(disk, 'of-plugins'), join(rootDir, 'plugins'))
}

function bind(directory: string): void {
  mount('--bind', directory, directory)
}

function mount(...args: readonly string[]): void {
  execFileSync('mount', args, { stdio: ['ignore', 'ignore', 'inherit'] })
}
