/** Reads a snapshot, and says how much memory that took at most, in KiB. */
import { readSnapshot } from '../../src/core/plan/documents/snapshot-file.ts'

const outcome = await readSnapshot(process.argv[2] ?? '').then(
  () => 'read',
  ({ code, message }: Error & { code?: string }) =>
    code === 'FileDamaged' && / (?:larger|more) than \d+ /.test(message) ? 'too large' : message,
)
console.log(JSON.stringify({ outcome, maxRss: process.resourceUsage().maxRSS }))
