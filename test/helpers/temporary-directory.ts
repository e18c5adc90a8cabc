import { spawnSync } from 'node:child_process'
import { atFileEnd } from './file-end.ts'
import { temporary } from './left-behind.ts'

/** A directory that is removed when the tests of the file that asked for it have ended. */
export function temporaryDirectory(): string {
  const directory = temporary('volctl-test-')
  if (made.length === 0) atFileEnd(removeAll)
  made.push(directory)
  return directory
}

const made: string[] = []

/** A mount that is still there is not walked into. */
function removeAll(): void {
  spawnSync('rm', ['-rf', '--one-file-system', ...made.splice(0)])
}
