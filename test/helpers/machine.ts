/** Tests with real mounts, in a file that is alone on a machine (machine-pool.ts). */
import { mkdirSync, readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'vitest'
import { kernelTextIfAny } from '../../src/core/trust/kernel.ts'
import { sweep, temporary } from './left-behind.ts'
import { noMounts } from './namespace.ts'
import { unmountBelow } from './scenario.ts'
import { type Layout, layOut } from './scene/layouts.ts'

/** In the environment of a test: the layout of the mounts around its root directory. */
export const LAYOUT = 'VOLCTL_TEST_LAYOUT'

/**
 * `it` for such a test: `({ directory }) => …` has a new directory. Mounts below it are taken off, and it is removed, when the test
 * ends; a process that the test leaves behind fails it. Where this machine allows no mounts the test is left out.
 */
export const it = test
  .extend<{ directory: string }>({
    directory: async ({ task: _ }, use) => {
      const before = new Set(processes())
      const directory = temporary('volctl-scene-')
      const { [LAYOUT]: layout } = process.env
      try {
        if (layout !== undefined) {
          const rootDir = `${directory}/kubelet`
          mkdirSync(rootDir)
          layOut(layout as Layout, directory, rootDir)
        }
        await use(directory)
      } finally {
        unmountBelow(directory)
        sweep(directory)
      }
      await requireEnded(before)
    },
  })
  .skipIf(noMounts !== undefined)

/** A process that is ending is waited for. */
async function requireEnded(before: ReadonlySet<string>): Promise<void> {
  const left = (): string[] => processes().filter((each) => !before.has(each))
  for (let tries = 0; left().length > 0 && tries < 100; tries++) await sleep(20)
  if (left().length > 0) throw new Error(`it has left processes behind: ${left().join(', ')}`)
}

/** Of this machine, without those that have ended: "PID (NAME)". */
function processes(): string[] {
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return []
    const [, name, state] = /^\d+ (\(.*\)) (.)/s.exec(kernelTextIfAny(`/proc/${pid}/stat`) ?? '') ?? []
    return name === undefined || state === 'Z' ? [] : [`${pid} ${name}`]
  })
}
