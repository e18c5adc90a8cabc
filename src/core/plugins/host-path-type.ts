/** The kubelet's rules for the type of a hostPath (P58). */
import type { HostPath } from '../model/snapshot.ts'

export type HostPathVerdict =
  /** As the type says, or there is nothing to say. */
  | { readonly state: 'good' }
  /** Not there, and its type says that it is made. */
  | { readonly state: 'toMake'; readonly what: 'dir' | 'file'; readonly why: string }
  | { readonly state: 'bad'; readonly why: string }

const WANTED: Readonly<Record<string, { readonly type: HostPath['type']; readonly made?: 'dir' | 'file' }>> = {
  Directory: { type: 'dir' },
  DirectoryOrCreate: { type: 'dir', made: 'dir' },
  File: { type: 'file' },
  FileOrCreate: { type: 'file', made: 'file' },
  Socket: { type: 'socket' },
  CharDevice: { type: 'char' },
  BlockDevice: { type: 'block' },
}

const WORDS: Readonly<Record<NonNullable<HostPath['type']>, string>> = {
  dir: 'a directory is there',
  file: 'a file is there',
  socket: 'a socket is there',
  char: 'a character device is there',
  block: 'a block device is there',
  fifo: 'a named pipe is there',
  absent: 'nothing is there',
}

/**
 * @param type of the pod's volume; empty: nothing is checked but the path
 * @param found what is there, links followed; undefined: nobody looked
 */
export function judgeHostPath(path: string, type: string, found: HostPath | undefined): HostPathVerdict {
  if (path.split('/').includes('..')) return { state: 'bad', why: 'its path has ".." in it' }
  if (type === '' || found === undefined) return { state: 'good' }
  const wanted = WANTED[type]
  if (wanted === undefined) return { state: 'bad', why: `${JSON.stringify(type)} is no type of a hostPath` }
  if (found.type === undefined) return { state: 'bad', why: `it could not be looked at (${found.error ?? 'unknown'})` }
  if (found.type === wanted.type) return { state: 'good' }
  const why = `${WORDS[found.type]}, and its type says ${type}`
  return found.type === 'absent' && wanted.made !== undefined
    ? { state: 'toMake', what: wanted.made, why }
    : { state: 'bad', why }
}
