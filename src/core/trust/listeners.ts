/** Finds who listens on a port of this host: any user may listen there, and give any answer (S32). */
import { isIP } from 'node:net'
import { kernelTextIfAny, linkIfAny, listIfAny, processIds } from './kernel.ts'

const TABLES = ['/proc/net/tcp', '/proc/net/tcp6']
const LISTEN = '0A'
/** Addresses that lead to loopback, and loopback as the tables write it. */
const TO_LOOPBACK = /^(127\.|0\.0\.0\.0$|::1?$|::ffff:(7f|0:))/
const ON_LOOPBACK = /^((0{16}FFFF0000)?[\dA-F]{6}7F|0{24}01000000)$/

/** A listening socket. */
export interface Listener {
  readonly uid: number
  /** Its number, as in `socket:[4711]`. */
  readonly inode: string
}

/** All sockets, read once for several ports: the kernel walks a table for it that is as large as the memory of the machine allows. */
export function socketTables(): readonly string[] {
  return TABLES.map((path) => kernelTextIfAny(path) ?? '')
}

/**
 * Who listens on a TCP port.
 *
 *     sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
 *      0: 0100007F:2808 00000000:0000 0A 00000000:00000000 00:00000000 00000000  65534        0 4711
 *
 * @param asked the host that is asked: by an address other than loopback nobody reaches who listens on loopback alone
 * @see proc_pid_net(5)
 */
export function listeners(port: number, tables = socketTables(), asked = 'localhost'): readonly Listener[] {
  const isPast = isIP(asked) !== 0 && !TO_LOOPBACK.test(asked)
  const isMeant = (local: string): boolean => {
    const [address = '', own = ''] = local.split(':')
    return Number.parseInt(own, 16) === port && !(isPast && ON_LOOPBACK.test(address))
  }
  return tables
    .flatMap((table) => table.split('\n').slice(1))
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local = '', , state]) => state === LISTEN && isMeant(local))
    .map((fields) => ({ uid: Number(fields[7]), inode: fields[9] ?? '' }))
}

/** The processes that have one of these sockets open, by looking at every descriptor of every process. */
export function holdersOf(sockets: readonly Listener[]): readonly number[] {
  const wanted = new Set(sockets.map(({ inode }) => `socket:[${inode}]`))
  return processIds().filter((pid) => {
    const directory = `/proc/${pid}/fd`
    return listIfAny(directory).some((fd) => wanted.has(linkIfAny(`${directory}/${fd}`) ?? ''))
  })
}
