/** A tree, entry by entry: shows anything that was moved, changed or only touched. */
import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** Name, type and mode, owner, inode, links, times, and the content's hash of everything below, sorted by name. */
export function inventory(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .toSorted()
    .map((name) => {
      const path = `${directory}/${name}`
      const stat = lstatSync(path, { bigint: true })
      const content = stat.isFile() ? readFileSync(path) : stat.isSymbolicLink() ? readlinkSync(path) : ''
      const facts = [
        stat.mode,
        stat.uid,
        stat.gid,
        stat.dev,
        stat.ino,
        stat.nlink,
        stat.size,
        stat.mtimeNs,
        stat.ctimeNs,
      ]
      return [name, ...facts, createHash('sha256').update(content).digest('hex')].join(' ')
    })
}
