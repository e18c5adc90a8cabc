import { sh } from './scenario.ts'

/**
 * Changes a tmpfs that is mounted. With type and source mount(8) asks for these options alone: else for those of the mount
 * table as well, among which are owners that a user namespace has another number for.
 */
export function remountTmpfs(path: string, options: string): void {
  sh('mount', '-t', 'tmpfs', '-o', `remount,${options}`, 'tmpfs', path)
}
