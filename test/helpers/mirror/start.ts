/** A FUSE file system that shows a directory and fails the requests that a test chooses. For workers. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Program, startProgram } from '../start-program.ts'
import { LOG, type MirrorFault, type MirrorOrders, ORDERS, ORDERS_SIZE } from './faults.ts'

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url))

export interface Mirror {
  /** The directory that it shows, reached directly. */
  readonly behind: string
  /** Replaces all faults: they apply from the next request on, and count from there. */
  fail(...faults: readonly MirrorFault[]): void
  /** Requests that failed since the last call: `OP path`. */
  failed(): readonly string[]
  /** Ends it; its mounts are dead. */
  end(): Promise<void>
}

/**
 * @param path where it is mounted; made if it is missing
 * @param behind a directory for its content and its orders
 */
export async function startMirror(path: string, behind: string): Promise<Mirror> {
  const [shown, orders] = [`${behind}/shown`, `${behind}/orders`]
  for (const each of [path, shown, orders]) mkdirSync(each, { recursive: true })
  let id = 0
  const give = (faults: MirrorOrders['faults']): void => {
    id += 1
    const text = JSON.stringify({ id, faults } satisfies MirrorOrders).padEnd(ORDERS_SIZE)
    if (text.length > ORDERS_SIZE) throw new Error('too many faults')
    writeFileSync(`${orders}/${ORDERS}`, text, { flag: id === 1 ? 'w' : 'r+' })
  }
  give([])
  const program: Program = await startProgram(MAIN, [path, shown, orders])
  return {
    behind: shown,
    fail: (...faults) => give(faults),
    failed: () => {
      const log = `${orders}/${LOG}`
      const lines = existsSync(log) ? readFileSync(log, 'utf8').split('\n').slice(0, -1) : []
      rmSync(log, { force: true })
      return lines
    },
    end: () => program.end('SIGKILL'),
  }
}
