/** What is said of a mount, and what a person does about it. */
import { commandLine } from '../base/command.ts'

/** A dead mount's error in words that people know, with the errno's name. */
const WORDS: Readonly<Record<string, string>> = {
  ENOTCONN: 'transport endpoint is not connected',
  ESTALE: 'stale file handle',
  EIO: 'input/output error',
  EHOSTDOWN: 'host is down',
  ENODEV: 'no such device',
  ECONNABORTED: 'connection aborted',
  Timeout: 'no answer in time',
}

/** For a mount that is not the volume's, or not known to be (S37). */
export function whoMounted(path: string): string {
  return `Find out who mounted ${path} (${commandLine('findmnt', path)}), and have it taken off there; then plan again.`
}

/** Only a server or a daemon answers so. */
const SERVERS: ReadonlySet<string> = new Set(['ENOTCONN', 'ESTALE', 'EHOSTDOWN', 'ECONNABORTED'])

/** Does it lie on a disk, which no server brings back and no force breaks off? @param error with which it does not answer, if known */
export function isOnDisk({ source }: { readonly source: string }, error = ''): boolean {
  return source.startsWith('/dev/') && !SERVERS.has(error)
}

/** What a person does about a dead mount (S37). @param pod that uses it: only a new one gets another mount of a disk */
export function bringBack(mount: { readonly source: string } | undefined, error?: string, pod?: string): string {
  if (mount === undefined || !isOnDisk(mount, error))
    return `Restart the driver or server of the file system${pod === undefined ? '' : `; then restart the containers of pod ${pod}`}`
  if (pod === undefined) return 'See what became of its disk (dmesg), and bring the disk back'
  const mapping = mount.source.startsWith('/dev/mapper/') ? ', and close the mapping that is left' : ''
  return `The block device ${mount.source} below it is gone, or fails (dmesg): delete pod ${pod}${mapping}`
}

export function deadWords(error: string): string {
  const words = WORDS[error]
  if (words === undefined) return error
  return error === 'Timeout' ? words : `${words} (${error})`
}
