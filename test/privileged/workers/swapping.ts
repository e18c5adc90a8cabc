/** Content is deleted while another process swaps it for links and mounts (S12). */
import { spawn } from 'node:child_process'
import { lstatSync, readdirSync, rmdirSync, unlinkSync, writeFileSync } from 'node:fs'
import { deleteContent } from '../../../src/core/files/delete-content.ts'
import { containingMount } from '../../../src/core/mountinfo/location.ts'
import { inventory } from '../../helpers/inventory.ts'
import { nodeProgram } from '../../helpers/programs.ts'
import { runScenario } from '../../helpers/scenario.ts'
import { makeDir, readMounts, tmpfs } from './real-node.ts'

const SWAPPER = new URL('./swapper.ts', import.meta.url)

type Delete = (volume: string) => Promise<number>

async function byDescriptors(volume: string): Promise<number> {
  const mountId = containingMount(readMounts(), volume)?.id ?? -1
  return (await deleteContent(volume, { mountId })).files
}

/** What any script would do, a kubelet's too; careful enough to follow no link that it sees. */
async function byPaths(volume: string): Promise<number> {
  let files = 0
  const empty = (path: string): void => {
    for (const name of readdirSync(path)) {
      const child = `${path}/${name}`
      if (lstatSync(child).isDirectory()) {
        empty(child)
        rmdirSync(child)
      } else {
        unlinkSync(child)
        files += 1
      }
    }
  }
  empty(volume)
  return files
}

/** The same names as in the volume, at each depth at which a swap may make one lead here. */
function plantOutside(directory: string): string {
  for (const path of [directory, `${directory}/inner`, `${directory}/volume/d0/inner`]) {
    makeDir(path)
    for (let i = 0; i < 30; i++) writeFileSync(`${path}/f${i}`, `precious ${i}`)
  }
  return directory
}

async function race(directory: string, [kind = '', rounds = '', how = '']: readonly string[]): Promise<object> {
  const volume = makeDir(`${directory}/parent/volume`)
  const attic = makeDir(`${directory}/attic`)
  const outside = plantOutside(`${directory}/outside`)
  const other = plantOutside(tmpfs(`${directory}/other`))
  const before = [...inventory(outside), ...inventory(other)]
  const intact = (): boolean => [...inventory(outside), ...inventory(other)].join('\n') === before.join('\n')

  const swapper = spawn(
    ...nodeProgram(SWAPPER, [kind, volume, attic, outside, other, rounds], ['--experimental-ffi']),
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  let said = ''
  swapper.stdout.on('data', (text) => {
    said += text
  })
  const ended = new Promise((resolve) => swapper.on('close', resolve))
  const remove: Delete = how === 'naive' ? byPaths : byDescriptors
  const outcomes = new Map<string, number>()
  let deleted = 0
  const attempt = async (): Promise<void> => {
    let outcome = 'done'
    try {
      deleted += await remove(volume)
    } catch (error) {
      outcome = String((error as { code?: unknown }).code)
    }
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
  }
  while (swapper.exitCode === null && swapper.signalCode === null) {
    await attempt()
    // Once the outside is hurt, a naive deletion has shown what it is.
    if (how === 'naive' && !intact()) swapper.kill()
    await new Promise((resolve) => setImmediate(resolve))
  }
  await ended
  const untouched = intact()
  if (untouched) await attempt()
  return { untouched, swaps: Number(said), deleted, outcomes: Object.fromEntries(outcomes), left: readdirSync(volume) }
}

await runScenario({ race })
