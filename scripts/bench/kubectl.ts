import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Debian's kubectl, unpacked and not installed: it clashes with other packages of the same file. */
export function debianKubectl(directory: string): { readonly path: string } | { readonly missing: string } {
  const download = spawnSync('apt-get', ['download', 'kubernetes-client'], { cwd: directory, encoding: 'utf8' })
  const archive = readdirSync(directory).find((name) => name.endsWith('.deb'))
  if (download.status !== 0 || archive === undefined) {
    const why = download.error?.message ?? download.stderr.trim().split('\n').at(-1)
    return { missing: `Debian's kubernetes-client cannot be downloaded (${why})` }
  }
  const unpacked = spawnSync('dpkg', ['-x', archive, 'unpacked'], { cwd: directory, encoding: 'utf8' })
  return unpacked.status === 0
    ? { path: join(directory, 'unpacked', 'usr', 'bin', 'kubectl') }
    : { missing: `Debian's kubernetes-client cannot be unpacked (${unpacked.stderr.trim()})` }
}
