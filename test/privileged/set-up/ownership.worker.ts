/** fsGroup on real files, links and mounts. */
import { spawn } from 'node:child_process'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { type ChangeOwnershipOptions, changeOwnership } from '../../../src/core/files/change-ownership.ts'
import type { Ownership } from '../../../src/core/files/ownership-bits.ts'
import { containingMount } from '../../../src/core/mountinfo/location.ts'
import { thisProgram } from '../../helpers/programs.ts'
import { runScenario, sh } from '../../helpers/scenario.ts'
import { makeDir, readMounts } from '../workers/real-node.ts'

const GROUP: Ownership = { gid: 2000, policy: 'Always', readOnly: false, ignoreErrors: false }

/** "gid mode" of each; a link's mode says nothing. */
function look(...paths: readonly string[]): string[] {
  return paths.map((path) => {
    const { gid, mode } = lstatSync(path)
    return lstatSync(path).isSymbolicLink() ? `${gid} link` : `${gid} ${(mode & 0o7777).toString(8)}`
  })
}

function change(path: string, ownership: Partial<Ownership> = {}, more: Partial<ChangeOwnershipOptions> = {}) {
  const mountId = containingMount(readMounts(), path)?.id ?? -1
  return changeOwnership(path, { mountId, ownership: { ...GROUP, ...ownership }, ...more })
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'done',
    (error) => String(error.code),
  )
}

function place(directory: string): { volume: string; outside: string } {
  const volume = makeDir(`${directory}/volume`)
  const outside = makeDir(`${directory}/outside`)
  writeFileSync(`${outside}/file`, 'precious', { mode: 0o600 })
  chmodSync(outside, 0o700)
  chmodSync(volume, 0o777)
  return { volume, outside }
}

/** Under the other process's hands; the next round tries anew. */
function tryTo(work: () => void): void {
  try {
    work()
  } catch {
    // Somebody was faster.
  }
}

await runScenario({
  async everyType(directory) {
    const { volume, outside } = place(directory)
    makeDir(`${volume}/sub/deep`)
    writeFileSync(`${volume}/sub/deep/file`, 'x', { mode: 0o640 })
    writeFileSync(`${volume}/program`, 'x')
    chmodSync(`${volume}/program`, 0o4755)
    symlinkSync(`${outside}/file`, `${volume}/file-link`)
    symlinkSync(outside, `${volume}/dir-link`)
    symlinkSync('nowhere', `${volume}/dangling`)
    sh('mkfifo', '-m', '600', `${volume}/fifo`)
    const before = lstatSync(`${volume}/program`).uid
    const { entries, failed, mounts } = await change(volume)
    const names = [
      '',
      '/sub',
      '/sub/deep',
      '/sub/deep/file',
      '/program',
      '/file-link',
      '/dir-link',
      '/dangling',
      '/fifo',
    ]
    return {
      inside: look(...names.map((name) => volume + name)),
      owner: lstatSync(`${volume}/program`).uid === before,
      outside: look(outside, `${outside}/file`),
      change: { entries, failed, mounts },
    }
  },

  async readOnly(directory) {
    const { volume } = place(directory)
    writeFileSync(`${volume}/file`, 'x', { mode: 0o400 })
    chmodSync(volume, 0o700)
    await change(volume, { readOnly: true })
    return look(volume, `${volume}/file`)
  },

  /** A directory and a file of elsewhere, bound into the volume: the same device, another mount. */
  async bindMounts(directory) {
    const { volume, outside } = place(directory)
    makeDir(`${volume}/0-dir`)
    writeFileSync(`${volume}/1-file`, '')
    writeFileSync(`${volume}/own`, '', { mode: 0o600 })
    sh('mount', '--bind', outside, `${volume}/0-dir`)
    sh('mount', '--bind', `${outside}/file`, `${volume}/1-file`)
    const { mounts } = await change(volume)
    return {
      mounts: mounts.map((path) => path.slice(volume.length)).toSorted(),
      outside: look(outside, `${outside}/file`),
      own: look(volume, `${volume}/own`),
    }
  },

  /** TestSetVolumeOwnershipMode: what is wrong below a root that is right, and below one that is not. */
  async policies(directory) {
    const found: Record<string, string[]> = {}
    for (const [name, rootMode, policy] of [
      ['root right, Always', 0o2770, 'Always'],
      ['root right, OnRootMismatch', 0o2770, 'OnRootMismatch'],
      ['root wrong, OnRootMismatch', 0o770, 'OnRootMismatch'],
    ] as const) {
      const volume = makeDir(`${directory}/${name}`)
      makeDir(`${volume}/sub`)
      sh('chgrp', '-R', '2000', volume)
      chmodSync(volume, rootMode)
      chmodSync(`${volume}/sub`, 0o700)
      const { skipped } = await change(volume, { policy })
      found[name] = [String(skipped), ...look(volume, `${volume}/sub`)]
    }
    return found
  },

  /** Deeper than descriptors are kept open for, and than calls could be nested. */
  async deep(directory) {
    const { volume } = place(directory)
    process.chdir(volume)
    for (let depth = 0; depth < 1500; depth++) {
      writeFileSync('file', 'x')
      mkdirSync('directory')
      process.chdir('directory')
    }
    const deepest = look('.')
    const { entries } = await change(volume)
    const changed = look('.')
    process.chdir('/')
    return { entries, deepest, changed }
  },

  /** Stopped in the middle by a signal, the root is not changed yet; the next walk does the rest. */
  async interrupted(directory) {
    const { volume } = place(directory)
    for (let index = 0; index < 40; index++) writeFileSync(`${volume}/f${index}`, 'x', { mode: 0o600 })
    const controller = new AbortController()
    const onEntry = (entries: number): void => (entries === 10 ? controller.abort() : undefined)
    const outcome = await codeOf(change(volume, { policy: 'OnRootMismatch' }, { onEntry, signal: controller.signal }))
    const given = (): number => readdirSync(volume).filter((name) => lstatSync(`${volume}/${name}`).gid === 2000).length
    const half = { outcome, root: look(volume), given: given() }
    const again = await change(volume, { policy: 'OnRootMismatch' })
    const third = await change(volume, { policy: 'OnRootMismatch' })
    return { half, again: again.entries, root: look(volume), given: given(), third: third.skipped }
  },

  async swappedRoot(directory) {
    const { volume, outside } = place(directory)
    symlinkSync(outside, `${directory}/link`)
    makeDir(`${outside}/deep`)
    const outcomes = [await codeOf(change(`${directory}/link`)), await codeOf(change(`${directory}/link/deep`))]
    return { outcomes, outside: look(outside, `${outside}/file`), volume: look(volume) }
  },

  /** A process swaps names for links and bind mounts for thousands of times while the walk is made again and again. */
  async swaps(directory) {
    const { volume, outside } = place(directory)
    const attacker = spawn(...thisProgram('attack', volume, outside), { stdio: 'ignore' })
    let walks = 0
    const outcomes = new Set<string>()
    while (attacker.exitCode === null) {
      outcomes.add(await codeOf(change(volume)))
      walks += 1
      await new Promise((resolve) => setImmediate(resolve))
    }
    return {
      walked: walks > 10,
      outcomes: [...outcomes].filter((each) => each !== 'done' && each !== 'Swapped'),
      outside: look(outside, `${outside}/file`),
      attacker: attacker.exitCode,
    }
  },

  /** The other side of `swaps`; runs in the same namespace. */
  attack(_, [volume = '', outside = '']) {
    for (let round = 0; round < 1500; round++) {
      const name = `${volume}/d${round % 5}`
      tryTo(() => mkdirSync(name))
      tryTo(() => writeFileSync(`${name}/f`, 'x'))
      tryTo(() => renameSync(name, `${volume}/moved${round % 3}`))
      tryTo(() => symlinkSync(round % 2 === 0 ? outside : `${outside}/file`, name))
      tryTo(() => unlinkSync(name))
      tryTo(() => rmSync(`${volume}/moved${(round + 1) % 3}`, { recursive: true }))
      if (round % 100 === 0) {
        tryTo(() => mkdirSync(`${volume}/m`))
        tryTo(() => sh('mount', '--bind', outside, `${volume}/m`))
        tryTo(() => sh('umount', '-l', `${volume}/m`))
      }
    }
  },
})
