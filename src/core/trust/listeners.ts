/** Who listens on a port of this host: anybody may, and say what he likes there (S32). */
import { kernelTextIfAny } from './kernel.ts'

const TABLES = ['/proc/net/tcp', '/proc/net/tcp6']
const LISTEN = '0A'

/** `root`: every listener on the port is a socket of root's; `others`: one is not. */
export type Listeners = 'nobody' | 'root' | 'others'

/**
 * Who listens on a TCP port.
 *
 *     sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
 *      0: 0100007F:2808 00000000:0000 0A 00000000:00000000 00:00000000 00000000  65534        0 4711
 *
 * @see proc_pid_net(5)
 */
export function listeners(port: number, tables: readonly string[] = TABLES.map(textOf)): Listeners {
  const found = tables
    .flatMap((table) => table.split('\n').slice(1))
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local = '', , state]) => state === LISTEN && Number.parseInt(local.split(':')[1] ?? '', 16) === port)
  if (found.length === 0) return 'nobody'
  return found.every((fields) => fields[7] === '0') ? 'root' : 'others'
}

function textOf(path: string): string {
  return kernelTextIfAny(path) ?? ''
}
