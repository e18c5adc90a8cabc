/** Whether anything outside of what volctl may write to has changed. */
import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** Larger files are told by their size and times. */
const HASHED = 1 << 20

/** Everything at and below a path but times of reading, in a text: names, kinds, owners, modes, sizes, times, content. */
export function picture(path: string): string {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return `${path}: nothing\n`
  const { mode, uid, gid, ino, mtimeMs } = stat
  const line = `${path}: ${mode.toString(8)} ${uid}:${gid} inode ${ino} ${mtimeMs} ${inside(path)}\n`
  if (!stat.isDirectory()) return line
  return readdirSync(path)
    .sort()
    .reduce((text, name) => text + picture(`${path}/${name}`), line)
}

/** Nothing that could wait for somebody is opened. */
function inside(path: string): string {
  const stat = lstatSync(path)
  if (stat.isSymbolicLink()) return `-> ${readlinkSync(path)}`
  if (!stat.isFile()) return ''
  if (stat.size > HASHED) return `${stat.size} bytes`
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}

/** The lines that are only in one of two pictures. */
export function changes(before: string, after: string): readonly string[] {
  const [left, right] = [before, after].map((text) => new Set(text.split('\n')))
  return [
    ...[...(left ?? [])].filter((line) => !right?.has(line)).map((line) => `- ${line}`),
    ...[...(right ?? [])].filter((line) => !left?.has(line)).map((line) => `+ ${line}`),
  ]
}
