/** Faults of the mirror: a file that it reads before each request. It logs the requests that it has failed. */
import { appendFileSync, openSync, readSync } from 'node:fs'
import type { Op } from './protocol.ts'

export const ERRNO = { EIO: 5, EEXIST: 17, ENOSPC: 28, EROFS: 30, ENOSYS: 38, ESTALE: 116 } as const

export interface MirrorFault {
  readonly errno: 'EIO' | 'ENOSPC' | 'EROFS' | 'ESTALE'
  /** Absent: every one that expects an answer. */
  readonly ops?: readonly Op[]
  /** A regular expression for the path, relative to the root; for a rename, either path may match. */
  readonly path?: string
  /** How many requests succeed first. */
  readonly skip?: number
  /** How many fail; absent: all from then on. */
  readonly times?: number
}

export interface MirrorOrders {
  /** Distinguishes orders from the last ones, even if they are equal. */
  readonly id: number
  readonly faults: readonly MirrorFault[]
}

/** The orders' file has this size, and is written in one call. */
export const ORDERS_SIZE = 4096
export const ORDERS = 'orders.json'
export const LOG = 'failed.log'

/** Notifications, which get no answer. */
const TOLD: readonly Op[] = ['FORGET', 'BATCH_FORGET', 'INIT', 'INTERRUPT', 'RELEASE', 'RELEASEDIR']

export class Faults {
  readonly #directory: string
  readonly #file: number
  readonly #text = Buffer.alloc(ORDERS_SIZE)
  #orders: MirrorOrders = { id: 0, faults: [] }
  readonly #seen = new Map<MirrorFault, number>()

  /** @param directory of the orders and the log */
  constructor(directory: string) {
    this.#directory = directory
    this.#file = openSync(`${directory}/${ORDERS}`, 'r')
  }

  /** The errno to answer this request with; undefined: carry it out. */
  strike(op: Op, ...paths: readonly string[]): number | undefined {
    this.#read()
    const fault = this.#orders.faults.find((each) => concerns(each, op, paths) && this.#isDue(each))
    if (fault === undefined) return undefined
    appendFileSync(`${this.#directory}/${LOG}`, `${op} ${paths.join(' ')}\n`)
    return ERRNO[fault.errno]
  }

  #isDue(fault: MirrorFault): boolean {
    const seen = this.#seen.get(fault) ?? 0
    this.#seen.set(fault, seen + 1)
    const { skip = 0, times = Number.POSITIVE_INFINITY } = fault
    return seen >= skip && seen < skip + times
  }

  #read(): void {
    const before = Buffer.from(this.#text)
    readSync(this.#file, this.#text, 0, ORDERS_SIZE, 0)
    if (this.#text.equals(before)) return
    this.#orders = JSON.parse(this.#text.toString()) as MirrorOrders
    this.#seen.clear()
  }
}

function concerns({ ops, path }: MirrorFault, op: Op, paths: readonly string[]): boolean {
  if (ops === undefined ? TOLD.includes(op) : !ops.includes(op)) return false
  return path === undefined || paths.some((each) => new RegExp(path).test(each))
}
