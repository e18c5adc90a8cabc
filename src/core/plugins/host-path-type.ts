/** The kubelet's rules for the type of a hostPath (P58). */
import type { HostPath } from '../model/snapshot.ts'

export type HostPathVerdict =
  /** The path is what the type asks for, or nothing is to be checked. */
  | { readonly state: 'good' }
  /** Nothing is at the path, and the type asks to create it. */
  | { readonly state: 'toMake'; readonly what: 'dir' | 'file'; readonly why: string }
  | { readonly state: 'bad'; readonly why: string; readonly hint: string }

const WANTED: Readonly<Record<string, { readonly type: HostPath['type']; readonly made?: 'dir' | 'file' }>> = {
  Directory: { type: 'dir' },
  DirectoryOrCreate: { type: 'dir', made: 'dir' },
  File: { type: 'file' },
  FileOrCreate: { type: 'file', made: 'file' },
  Socket: { type: 'socket' },
  CharDevice: { type: 'char' },
  BlockDevice: { type: 'block' },
}

const FOUND: Readonly<Record<NonNullable<HostPath['type']>, string>> = {
  dir: 'a directory is there',
  file: 'a file is there',
  socket: 'a socket is there',
  char: 'a character device is there',
  block: 'a block device is there',
  fifo: 'a named pipe is there',
  absent: 'nothing is there',
}

const LOOK = 'Check the path, and what is mounted there, then plan again.'
const bad = (
  why: string,
  hint = 'Correct what is at the path, or the type in the pod spec; the kubelet refuses the volume, too.',
) => ({ state: 'bad', why, hint }) as const

/**
 * @param type of the pod's volume; empty: only the path's text is checked
 * @param found what is at the path, links followed; undefined: the path was not looked at
 */
export function judgeHostPath(path: string, type: string, found: HostPath | undefined): HostPathVerdict {
  if (path.split('/').includes('..')) return bad('the path contains ".."')
  if (type === '' || found === undefined) return { state: 'good' }
  const wanted = WANTED[type]
  if (wanted === undefined) return bad(`${JSON.stringify(type)} is not a type of hostPath`)
  if (found.type === undefined) return bad(`the path could not be examined (${found.error ?? 'unknown'})`, LOOK)
  if (found.type === wanted.type) return { state: 'good' }
  const why = `${FOUND[found.type]}, but the volume's type is ${type}`
  return found.type === 'absent' && wanted.made !== undefined ? { state: 'toMake', what: wanted.made, why } : bad(why)
}
