/** Takes the lock named on the command line, says so, and holds it until its input ends. */
import { takeLock } from '../../../src/core/apply/lock.ts'

const [path = ''] = process.argv.slice(2)
try {
  using lock = takeLock(path)
  process.stdout.write(`held ${lock.takenOverFrom?.pid ?? 'new'}\n`)
  await new Promise((resolve) => process.stdin.on('end', resolve).resume())
} catch (error) {
  process.stdout.write(`${(error as { code: string }).code} ${(error as Error).message}\n`)
}
