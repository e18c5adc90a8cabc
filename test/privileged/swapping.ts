/** Content is deleted, or changed, while another process (swapper.ts) swaps it for links and mounts (S12). */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, writeFileSync } from 'node:fs'
import { deleteContent } from '../../src/core/linux/delete-content.ts'
import { containingMount } from '../../src/core/linux/location.ts'
import { nodeProgram } from '../helpers/programs.ts'
import { inventory } from './inventory.ts'
import { makeDir, readMounts, tmpfs } from './workers/real-node.ts'

const SWAPPER = new URL('./workers/swapper.ts', import.meta.url)

/** Goes through a volume. @returns how many of its files it has changed */
type Walk = (volume: string) => Promise<number>

async function byDescriptors(volume: string): Promise<number> {
  const mountId = containingMount(readMounts(), volume)?.id ?? -1
  return (await deleteContent(volume, { mountId })).files
}

/** The same names as in the volume, at each depth at which a swap may make one lead here. */
function plantOutside(directory: string): string {
  for (const path of [directory, `${directory}/inner`, `${directory}/volume/d0/inner`]) {
    makeDir(path)
    for (let i = 0; i < 30; i++) writeFileSync(`${path}/f${i}`, `precious ${i}`)
  }
  return directory
}

interface Race {
  readonly untouched: boolean
  /** The swapper's exit status: 0 once it has swapped often enough. */
  readonly ended: number
  readonly changed: number
  readonly outcomes: readonly string[]
  readonly left: readonly string[]
}

/** @param kind see swapper.ts */
export async function race(directory: string, kind: string, rounds: number, walk: Walk = byDescriptors): Promise<Race> {
  const volume = makeDir(`${directory}/parent/volume`)
  const attic = makeDir(`${directory}/attic`)
  const outside = plantOutside(`${directory}/outside`)
  const other = plantOutside(tmpfs(`${directory}/other`))
  const before = [...inventory(outside), ...inventory(other)]
  const intact = (): boolean => [...inventory(outside), ...inventory(other)].join('\n') === before.join('\n')

  const args = [kind, volume, attic, outside, other, `${rounds}`]
  const swapper = spawn(...nodeProgram(SWAPPER, args, ['--experimental-ffi']), { stdio: 'inherit' })
  const ended = once(swapper, 'close')
  const outcomes = new Set<string>()
  let changed = 0
  const attempt = async (): Promise<void> => {
    try {
      changed += await walk(volume)
      outcomes.add('done')
    } catch (error) {
      outcomes.add(String((error as { code?: unknown }).code))
    }
  }
  while (swapper.exitCode === null && swapper.signalCode === null) {
    await attempt()
    // Who gets a processor when is left to the machine: it goes on until one walk came through and one met a swap.
    if (outcomes.size > 1) writeFileSync(`${attic}/met`, '')
    await new Promise((resolve) => setImmediate(resolve))
  }
  const [status] = await ended
  const untouched = intact()
  if (untouched) await attempt()
  return { untouched, ended: status, changed, outcomes: [...outcomes], left: readdirSync(volume) }
}
