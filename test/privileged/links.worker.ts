/** Links in place of directories of the kubelet, with real mounts, before an apply and while one runs (S8). */
import { spawn } from 'node:child_process'
import {
  cpSync,
  lchownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { csiGlobalDir } from '../../src/core/names/volume-names.ts'
import { statesOf } from '../helpers/apply-plan.ts'
import { addVolume, claim, DRIVER, POD, present, states, withDriver } from '../helpers/csi-scene.ts'
import { inventory } from '../helpers/inventory.ts'
import { LiveNode } from '../helpers/live-node.ts'
import { runScenario, sh } from '../helpers/scenario.ts'

const GONE = '00000000-0000-4000-8000-000000000009'
const WANTED = '00000000-0000-4000-8000-000000000008'

function bind(what: string, where: string): void {
  mkdirSync(where)
  sh('mount', '--bind', what, where)
}

/** By a process that has its working directory there; it ends with the namespace. */
function hold(where: string): void {
  spawn('sleep', ['infinity'], { cwd: where, stdio: 'ignore' }).unref()
}

/** Moves what is at a path below the root directory to a disk of its own, and puts a link in its place. */
function toDisk(directory: string, path: string, name = 'moved'): string {
  const disk = `${directory}/disk`
  mkdirSync(disk, { recursive: true })
  const place = `${disk}/${name}`
  renameSync(path, place)
  symlinkSync(place, path)
  return place
}

/** A pod that is gone and had a disk for its own use, one that lives with the same, and an attachment that nobody wants. */
function brokenNode(directory: string): LiveNode {
  const node = new LiveNode(directory)
  for (const uid of [GONE, WANTED]) {
    const dir = `${node.root}/pods/${uid}/volumes/kubernetes.io~empty-dir/scratch`
    mkdirSync(dir, { recursive: true })
    writeFileSync(`${dir}/precious`, uid)
    const marker = `${node.root}/pods/${uid}/plugins/kubernetes.io~empty-dir/scratch`
    mkdirSync(marker, { recursive: true })
    writeFileSync(`${marker}/ready`, '')
  }
  node.pod(WANTED, 'lives', [{ name: 'scratch', emptyDir: {} }])
  node.alive.push(WANTED)
  addVolume(node, 'pv-idle')
  // What an older volume's unstage has left: empty directories.
  mkdirSync(`${node.root}/${csiGlobalDir(DRIVER, 'old')}`, { recursive: true })
  mkdirSync(`${node.root}/plugins/kubernetes.io/csi/volumeDevices/pv-old`, { recursive: true })
  return node
}

async function outcome(node: LiveNode) {
  const options = { orphans: true, devices: { 'pv-idle': 'none' } }
  const plan = await node.plan(options)
  const result = statesOf(await node.apply(options))
  return {
    complete: plan.complete,
    links: plan.problems.flatMap(({ code, about }) =>
      code === 'LinkInPlace' ? [about.path?.slice(node.root.length + 1)] : [],
    ),
    outcomes: plan.operations.map(({ id, kind }) => `${kind}: ${result[id]}`).toSorted(),
  }
}

await runScenario({
  /** @param path where the link is; none: the control */
  async deeper(directory, [path = '']) {
    const node = brokenNode(directory)
    const place = path === '' ? undefined : toDisk(directory, `${node.root}/${path}`)
    const before = place === undefined ? [] : inventory(place)
    const found = await outcome(node)
    return { ...found, untouched: place === undefined || inventory(place).join() === before.join() }
  },

  /** `pods` itself, in ways in which it is not gone through. */
  async pods(directory, [how = '']) {
    const node = brokenNode(directory)
    const pods = `${node.root}/pods`
    const place = toDisk(directory, pods)
    const before = inventory(place).join()
    const relink = (to: string): void => {
      unlinkSync(pods)
      symlinkSync(to, pods)
    }
    if (how === 'circle') relink('pods')
    if (how === 'dangling') relink('/nonexistent/pods')
    if (how === 'owner') lchownSync(pods, 65534, 65534)
    if (how === 'upwards') relink('..')
    if (how === 'plugins') relink('plugins')
    return { ...(await outcome(node)), untouched: inventory(place).join() === before }
  },

  /** Everything behind `pods`, which leads elsewhere, or nowhere that is trusted, when the apply comes to it. */
  async changed(directory, [how = '']) {
    const node = brokenNode(directory)
    const pods = `${node.root}/pods`
    const place = toDisk(directory, pods)
    const other = `${directory}/disk/other`
    cpSync(place, other, { recursive: true })
    const relink = (to: string): void => {
      unlinkSync(pods)
      symlinkSync(to, pods)
    }
    const scratch = `${GONE}/volumes/kubernetes.io~empty-dir/scratch`
    const change: Readonly<Record<string, () => void>> = {
      nothing: () => {},
      'a bind mount by the path of the link': () => bind(`${pods}/${scratch}`, `${directory}/export`),
      'a bind mount by the place': () => bind(`${place}/${scratch}`, `${directory}/export`),
      'a bind mount of all that is behind it, with a file open': () => {
        bind(place, `${directory}/export`)
        hold(`${directory}/export/${scratch}`)
      },
      'a working directory': () => hold(`${place}/${scratch}`),
      elsewhere: () => relink(other),
      owner: () => lchownSync(pods, 65534, 65534),
      dangling: () => relink('/nonexistent'),
      directory: () => {
        unlinkSync(pods)
        cpSync(place, pods, { recursive: true })
      },
    }
    let done = false
    const options = { orphans: true }
    const plan = await node.plan(options)
    node.context = {
      witness: async () => {
        if (!done) change[how]?.()
        done = true
        return {
          listed: new Set(node.pods.map(({ metadata }) => metadata.uid ?? '')),
          alive: new Set(node.alive),
          apiPods: node.pods,
        }
      },
    }
    const result = statesOf(await node.apply(options))
    const left = (base: string): string[] =>
      readdirSync(base, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('/precious'))
    return {
      outcomes: plan.operations.filter(({ pod }) => pod?.uid === GONE).map(({ id, kind }) => `${kind}: ${result[id]}`),
      left: [left(place).length, left(other).length],
    }
  },

  /** The staging directories of one driver are on a disk of their own, as `pods` is. */
  driverDirectory: (directory) =>
    withDriver(
      directory,
      {
        before: (root) => {
          mkdirSync(`${root}/plugins/kubernetes.io/csi/${DRIVER}`, { recursive: true })
          mkdirSync(`${directory}/disk`)
          sh('mount', '-t', 'tmpfs', 'disk', `${directory}/disk`)
          for (const [path, name] of [
            [`${root}/plugins/kubernetes.io/csi/${DRIVER}`, 'staging'],
            [`${root}/pods`, 'pods'],
          ] as const) {
            cpSync(path, `${directory}/disk/${name}`, { recursive: true })
            rmSync(path, { recursive: true })
            symlinkSync(`${directory}/disk/${name}`, path)
          }
        },
      },
      async (node) => {
        addVolume(node, 'pv-1')
        node.pod(POD, 'a', [claim('pv-1'), { name: 'scratch', emptyDir: {} }])
        const seen: Record<string, unknown> = {}
        seen.set = states(await node.apply())
        seen.present = present(node, 'pv-1')
        const kernel = readFileSync('/proc/self/mountinfo', 'utf8').split('\n')
        seen.inTable = kernel
          .map((line) => line.split(' ')[4] ?? '')
          .filter((path) => path.startsWith(`${directory}/disk/`)).length
        seen.after = (await node.plan()).operations
        writeFileSync(`${node.root}/pods/${POD}/volumes/kubernetes.io~empty-dir/scratch/file`, 'data')
        node.forget(POD)
        const down = await node.apply({ orphans: true })
        seen.gone = states(down)
        seen.said = down.outcomes.filter(({ state }) => state !== 'done').map(({ message }) => message)
        seen.left = [
          present(node, 'pv-1'),
          readdirSync(`${directory}/disk/staging`),
          readdirSync(`${directory}/disk/pods`).includes(POD),
        ]
        seen.attachments = node.attachments.length
        seen.end = (await node.plan({ orphans: true })).operations
        return seen
      },
    ),
})
