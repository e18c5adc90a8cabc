/** A tree, entry by entry: shows anything that was moved, changed or only touched. */
import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** Larger files are told by their size and times. */
const HASHED = 1 << 20

/** Name, type and mode, owner, inode, links, times, and the content's hash of everything below, sorted by name; of a file its own. */
export function inventory(place: string): string[] {
  const found = lstatSync(place, { throwIfNoEntry: false })
  if (found === undefined) return [`${place}: nothing`]
  const names = found.isDirectory() ? readdirSync(place, { recursive: true, encoding: 'utf8' }) : ['']
  return names.toSorted().map((name) => {
    const path = `${place}/${name}`.replace(/\/$/, '')
    const stat = lstatSync(path, { bigint: true })
    const isRead = stat.isFile() && stat.size <= HASHED
    const content = isRead ? readFileSync(path) : stat.isSymbolicLink() ? readlinkSync(path) : ''
    const facts = [stat.mode, stat.uid, stat.gid, stat.dev, stat.ino, stat.nlink, stat.size, stat.mtimeNs, stat.ctimeNs]
    return [name, ...facts, createHash('sha256').update(content).digest('hex')].join(' ')
  })
}
