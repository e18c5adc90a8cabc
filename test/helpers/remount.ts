import { sh } from './scenario.ts'

/**
 * Changes a mounted tmpfs. With type and source, mount(8) sets only these options; otherwise also those of the mount table,
 * among them owners whose numbers differ in a user namespace.
 */
export function remountTmpfs(path: string, options: string): void {
  sh('mount', '-t', 'tmpfs', '-o', `remount,${options}`, 'tmpfs', path)
}
