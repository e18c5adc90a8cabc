/** The kubelet's rules for the type of a hostPath (P58). */
import type { HostPath } from '../model/snapshot.ts'

export type HostPathVerdict =
  /** As the type says, or there is nothing to say. */
  | { readonly state: 'good' }
  /** Not there, and its type says that it is made. */
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

const WORDS: Readonly<Record<NonNullable<HostPath['type']>, string>> = {
  dir: 'a directory is there',
  file: 'a file is there',
  socket: 'a socket is there',
  char: 'a character device is there',
  block: 'a block device is there',
  fifo: 'a named pipe is there',
  absent: 'nothing is there',
}

const LOOK = 'Look at the path and at what is mounted there, then plan again.'
const bad = (why: string, hint = 'Put right what is there, or the type in the pod; the kubelet refuses it as well.') =>
  ({ state: 'bad', why, hint }) as const

/**
 * @param type of the pod's volume; empty: nothing is checked but the path
 * @param found what is there, links followed; undefined: nobody looked
 */
export function judgeHostPath(path: string, type: string, found: HostPath | undefined): HostPathVerdict {
  if (path.split('/').includes('..')) return bad('its path has ".." in it')
  if (type === '' || found === undefined) return { state: 'good' }
  const wanted = WANTED[type]
  if (wanted === undefined) return bad(`${JSON.stringify(type)} is no type of a hostPath`)
  if (found.type === undefined) return bad(`it could not be looked at (${found.error ?? 'unknown'})`, LOOK)
  if (found.type === wanted.type) return { state: 'good' }
  const why = `${WORDS[found.type]}, and its type says ${type}`
  return found.type === 'absent' && wanted.made !== undefined ? { state: 'toMake', what: wanted.made, why } : bad(why)
}
