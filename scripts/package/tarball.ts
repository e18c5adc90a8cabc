/** An archive with the same bytes for the same files: names in order, root's, of one date. */
import { execFileSync } from 'node:child_process'
import { constants, gzipSync } from 'node:zlib'
import type { Effort } from './facts.ts'

/**
 * @param names in `parent`: what stands at the top of the archive
 * @param date of every file, in seconds
 */
export function archiveOf(parent: string, names: readonly string[], date: number): Buffer {
  const owners = ['--owner=root:0', '--group=root:0', '--numeric-owner']
  const args = ['--sort=name', `--mtime=@${date}`, '--format=gnu', ...owners, '-C', parent, '-cf', '-', ...names]
  return execFileSync('tar', args, { maxBuffer: 1 << 30 })
}

/** As `gzip -n`: no name, no time. */
export function compressed(archive: Buffer, effort: Effort): Buffer {
  return gzipSync(archive, { level: effort === 'small' ? constants.Z_BEST_COMPRESSION : constants.Z_NO_COMPRESSION })
}
