import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { deleteContent } from '../../../src/core/files/delete-content.ts'
import { containingMount } from '../../../src/core/mountinfo/location.ts'
import type { Operation, Step } from '../../../src/core/plan/plan.ts'
import { statesOf } from '../../helpers/apply-plan.ts'
import { runScenario, sh } from '../../helpers/scenario.ts'
import { apply, makeDir, operation, readMounts, volumeDir } from './real-node.ts'

interface Place {
  readonly volume: string
  /** Beside the volume, on the same device: nothing in it may change. */
  readonly outside: string
  readonly before: string
}

function place(directory: string): Place {
  const outside = makeDir(`${directory}/outside`)
  for (const name of ['a', 'b', 'deep/er/c']) {
    makeDir(`${outside}/${name}`.replace(/\/[^/]*$/, ''))
    writeFileSync(`${outside}/${name}`, `precious ${name}`)
  }
  return { volume: makeDir(`${directory}/volume`), outside, before: hashOf(outside) }
}

/** Names, types and contents of everything below. */
function hashOf(directory: string): string {
  const hash = createHash('sha256')
  const walk = (path: string): void => {
    for (const entry of readdirSync(path, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const child = `${path}/${entry.name}`
      hash.update(`${child.slice(directory.length)}\0${entry.isDirectory()}\0`)
      if (entry.isDirectory()) walk(child)
      else if (entry.isFile()) hash.update(readFileSync(child))
    }
  }
  walk(directory)
  return hash.digest('hex')
}

function mountIdOf(path: string): number {
  return containingMount(readMounts(), path)?.id ?? -1
}

async function attempt(volume: string): Promise<string> {
  try {
    const { files } = await deleteContent(volume, { mountId: mountIdOf(volume) })
    return `deleted ${files}`
  } catch (error) {
    return String((error as { code?: unknown }).code)
  }
}

function report({ volume, outside, before }: Place, outcome: string): object {
  return { outcome, left: readdirSync(volume), untouched: hashOf(outside) === before }
}

const ended = (child: ChildProcess): Promise<unknown> =>
  child.exitCode === null ? new Promise((resolve) => child.on('close', resolve)) : Promise.resolve(child.exitCode)

await runScenario({
  async links(directory) {
    const all = place(directory)
    const { volume, outside } = all
    symlinkSync(outside, `${volume}/dir-link`)
    symlinkSync(`${outside}/a`, `${volume}/file-link`)
    symlinkSync('/', `${volume}/root-link`)
    linkSync(`${outside}/b`, `${volume}/hard-link`)
    mkdirSync(`${volume}/sub`)
    symlinkSync('../../outside', `${volume}/sub/up-link`)
    sh('mkfifo', `${volume}/fifo`)
    return report(all, await attempt(volume))
  },

  async oddNames(directory) {
    const all = place(directory)
    const { volume } = all
    writeFileSync(Buffer.concat([Buffer.from(`${volume}/`), Buffer.from([0xff, 0xfe, 0x0a])]), 'x')
    writeFileSync(`${volume}/ blank\\and\nnewline`, 'x')
    mkdirSync(`${volume}/-rf`)
    return report(all, await attempt(volume))
  },

  /** Deeper than descriptors are kept open for. */
  async deep(directory) {
    const all = place(directory)
    process.chdir(all.volume)
    for (let depth = 0; depth < 1500; depth++) {
      writeFileSync('file', 'x')
      writeFileSync('z', 'x')
      mkdirSync('directory')
      process.chdir('directory')
    }
    process.chdir('/')
    return report(all, await attempt(all.volume))
  },

  /** The same device, the same kind of directory: only the mount id tells. */
  async bindMount(directory) {
    const all = place(directory)
    sh('mount', '--bind', all.outside, makeDir(`${all.volume}/0-bind`))
    return report(all, await attempt(all.volume))
  },

  async fileBindMount(directory) {
    const all = place(directory)
    writeFileSync(`${all.volume}/0-bind`, '')
    sh('mount', '--bind', `${all.outside}/a`, `${all.volume}/0-bind`)
    return report(all, await attempt(all.volume))
  },

  async volumeIsALink(directory) {
    const all = place(directory)
    symlinkSync(all.outside, `${directory}/link`)
    makeDir(`${all.outside}/deep`)
    const outcomes = [await attempt(`${directory}/link`), await attempt(`${directory}/link/deep`)]
    return { ...report(all, outcomes.join(', ')) }
  },

  /** Between the plan and the deletion somebody puts a file where only directories were. */
  async uncounted(directory) {
    const root = makeDir(`${directory}/kubelet`)
    const plugin = 'kubernetes.io/empty-dir'
    const steps = (dir: string): Step[] => [
      { op: 'deleteContent', target: dir },
      { op: 'rmdir', target: dir },
    ]
    const outcomes: Record<string, unknown> = {}
    for (const [pod, [id, given]] of [
      ['saw none', {}],
      ['saw one', { deletes: { files: 1, bytes: 1 } }],
    ].entries() as Iterable<[number, [string, Partial<Operation>]]>) {
      const dir = makeDir(volumeDir(root, pod, 'v', 'kubernetes.io~empty-dir'))
      makeDir(`${dir}/sub/empty`)
      writeFileSync(`${dir}/sub/file`, 'x')
      const volume = { name: 'v', plugin, mode: 'Filesystem' } as const
      const states = statesOf(await apply(root, [operation(id, pod, steps(dir), { volume, ...given })]))
      outcomes[id] = [states[id], existsSync(`${dir}/sub/file`)]
    }
    return outcomes
  },

  async otherMount(directory) {
    const all = place(directory)
    writeFileSync(`${all.volume}/file`, 'x')
    let outcome = 'deleted'
    await deleteContent(all.volume, { mountId: mountIdOf(all.volume) + 1 }).catch((error) => {
      outcome = error.code
    })
    return report(all, outcome)
  },

  /** Somebody is inside: by working directory, by an open file, and from another namespace under another name. */
  async holders(directory) {
    const root = makeDir(`${directory}/kubelet`)
    const dir = makeDir(volumeDir(root, 1, 'v', 'kubernetes.io~empty-dir'))
    const other = makeDir(`${directory}/other`)
    writeFileSync(`${dir}/file`, 'x')
    const elsewhere = `mount --bind ${dir} ${other} && umount -l ${directory}/kubelet 2>/dev/null; cd ${other} && echo ready && exec cat`
    const sides: Record<string, readonly string[]> = {
      cwd: ['sh', '-c', `cd ${dir} && echo ready && exec cat`],
      file: ['sh', '-c', `exec 3< ${dir}/file && echo ready && exec cat`],
      namespace: ['unshare', '-m', '--propagation', 'private', 'sh', '-c', elsewhere],
    }
    const found: Record<string, string | undefined> = {}
    const step = { op: 'deleteContent', target: dir } as const
    for (const [name, [command = '', ...args]] of Object.entries(sides)) {
      const holder = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'] })
      await new Promise((resolve) => holder.stdout.once('data', resolve))
      found[name] = statesOf(await apply(root, [operation('a', 1, [step])])).a
      holder.stdin.end()
      await ended(holder)
    }
    found.nobody = statesOf(await apply(root, [operation('a', 1, [step, { op: 'rmdir', target: dir }])])).a
    return { ...found, exists: existsSync(dir) }
  },
})
