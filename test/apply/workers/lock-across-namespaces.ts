/**
 * As PID 1 of a PID namespace of its own: takes the lock of a root directory, and has a process in another mount
 * namespace, with a /run of its own, try for it; prints what that one said, while the lock is held and after.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { defaultLockFile, takeLock } from '../../../src/core/apply/lock.ts'

const [part = ''] = process.argv.slice(2)
if (part === 'other') {
  const [, root = ''] = process.argv.slice(2)
  try {
    takeLock(defaultLockFile(root))[Symbol.dispose]()
    process.stdout.write('taken')
  } catch (error) {
    process.stdout.write((error as { code: string }).code)
  }
} else {
  execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', '/run'])
  const root = mkdtempSync('/run/root-')
  const sameRoot = join('/run', 'the-same')
  mkdirSync(sameRoot)
  execFileSync('mount', ['--bind', root, sameRoot])
  const other = (path: string): string => {
    // Its /run is another: of the first one only the root directory is left, where it was.
    const script = 'mount --bind "$1" /mnt && mount -t tmpfs tmpfs /run && exec "$2" --no-warnings "$3" other /mnt'
    const args = [
      '-m',
      '--propagation',
      'private',
      'sh',
      '-c',
      script,
      'sh',
      path,
      process.execPath,
      import.meta.filename,
    ]
    return execFileSync('unshare', args, { encoding: 'utf8' })
  }
  const lock = takeLock(defaultLockFile(root))
  const held = [other(root), other(sameRoot)]
  lock[Symbol.dispose]()
  process.stdout.write(JSON.stringify({ held, after: other(root) }))
}
