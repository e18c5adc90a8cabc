/**
 * Processes that end themselves with SIGKILL before their n-th change, and what counts as a change beside files and programs.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { CsiNode } from '../../../src/core/apply/operation/ports.ts'
import { nodeProgram } from '../programs.ts'

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url))

/**
 * Runs a program.
 *
 * @param directory changes of files below it are counted, and programs; undefined: only what calls `change`
 * @returns whether it was killed; otherwise it ran to its end
 */
export async function killBefore(
  changes: number,
  directory: string | undefined,
  program: URL,
  args: readonly string[],
): Promise<boolean> {
  const victim = spawn(...nodeProgram(program, args, ['--import', MAIN]), {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, MORTAL_DIRECTORY: directory ?? '', MORTAL_CHANGES: String(changes) },
  })
  const [status, signal] = (await once(victim, 'close')) as [number | null, string | null]
  if (signal === null && status !== 0) throw new Error(`the victim ended with status ${status}`)
  return signal === 'SIGKILL'
}

/** In the victim: to be called before a change. */
export function change(): void {
  ;(globalThis as { mortalChange?: () => void }).mortalChange?.()
}

/** In the victim: a driver's calls that change something are changes. */
export function counted(driver: CsiNode | undefined): CsiNode | undefined {
  if (driver === undefined) return undefined
  const before = <A extends readonly unknown[], T>(call: (...args: A) => T) => {
    return (...args: A): T => {
      change()
      return call(...args)
    }
  }
  return {
    nodeGetCapabilities: driver.nodeGetCapabilities,
    nodeStageVolume: before(driver.nodeStageVolume),
    nodePublishVolume: before(driver.nodePublishVolume),
    nodeExpandVolume: before(driver.nodeExpandVolume),
    nodeUnpublishVolume: before(driver.nodeUnpublishVolume),
    nodeUnstageVolume: before(driver.nodeUnstageVolume),
  }
}
