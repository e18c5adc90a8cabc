import { join } from 'node:path'
import { expect } from 'vitest'
import { defaultLockFile, takeLock } from '../../src/core/apply/lock.ts'
import { it } from '../helpers/machine.ts'
import { noRoot } from '../helpers/namespace.ts'
import { sh } from '../helpers/scenario.ts'
import { describeUnless } from './describe-unless.ts'

const LOCK = join(import.meta.dirname, '..', '..', 'src', 'core', 'apply', 'lock.ts')

/** Tries for the lock in another mount namespace, whose /run is another: of this one only the root directory is there. */
const TRY = `import { defaultLockFile, takeLock } from ${JSON.stringify(LOCK)}
try { takeLock(defaultLockFile('/mnt'))[Symbol.dispose](); console.log('taken') } catch (error) { console.log(error.code) }`

function other(root: string): string {
  const script =
    'mount --bind "$1" /mnt && mount -t tmpfs tmpfs /run && exec "$2" --no-warnings --input-type=module -e "$3"'
  return sh('unshare', '-m', '--propagation', 'private', 'sh', '-c', script, 'sh', root, process.execPath, TRY)
}

describeUnless(noRoot, 'the lock', () => {
  it('keeps out whoever stands in another mount namespace, with another /run', ({ directory }) => {
    sh('mount', '-t', 'tmpfs', 'tmpfs', '/run')
    const sameRoot = `${directory}/the-same`
    sh('mkdir', '/run/root', sameRoot)
    sh('mount', '--bind', '/run/root', sameRoot)
    const lock = takeLock(defaultLockFile('/run/root'))
    expect(['/run/root', sameRoot].map(other)).toEqual(['Locked', 'Locked'])
    lock[Symbol.dispose]()
    expect(other('/run/root')).toBe('taken')
  })
})
