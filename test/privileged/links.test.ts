/** Links in place of the kubelet's directories, on a real disk (S8): deeper ones, and such that change under an apply. */
import { cpSync, lchownSync, mkdirSync, readdirSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { describe, expect } from 'vitest'
import { csiGlobalDir } from '../../src/core/volumes/volume-names.ts'
import { statesOf } from '../helpers/apply-plan.ts'
import { LiveNode } from '../helpers/live-node.ts'
import { it } from '../helpers/machine.ts'
import { noRoot } from '../helpers/namespace.ts'
import { sh } from '../helpers/scenario.ts'
import { addVolume, DRIVER } from './csi-scene.ts'
import { type Holder, holdByShell } from './holder.ts'
import { inventory } from './inventory.ts'

const GONE = '00000000-0000-4000-8000-000000000009'
const WANTED = '00000000-0000-4000-8000-000000000008'

function bind(what: string, where: string): void {
  mkdirSync(where)
  sh('mount', '--bind', what, where)
}

/** Moves what is at a path below the root directory to a disk of its own, and puts a link in its place. */
function toDisk(directory: string, path: string): string {
  const place = `${directory}/disk/moved`
  mkdirSync(`${directory}/disk`, { recursive: true })
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
  node.running(WANTED)
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

/** As somebody puts another link in place of `pods`. */
const relink = (pods: string, to: string): void => {
  unlinkSync(pods)
  symlinkSync(to, pods)
}

describe('links on the disk', () => {
  it('a control: with no link all is done, and a pod that lives keeps what it has', async ({ directory }) => {
    expect(await outcome(brokenNode(directory))).toEqual({
      complete: true,
      links: [],
      outcomes: ['DetachVolume', 'RemoveOrphanPodDir', 'UnmapDevice', 'UnmountDevice', 'UnmountVolume'].map(
        (kind) => `${kind}: done`,
      ),
    })
  })

  const [gone, wanted] = [`pods/${GONE}`, `pods/${WANTED}`]
  it.for([
    gone,
    `${gone}/volumes/kubernetes.io~empty-dir`,
    `${gone}/volumes/kubernetes.io~empty-dir/scratch`,
    `${wanted}/volumes`,
    csiGlobalDir(DRIVER, 'old'),
    'plugins/kubernetes.io/csi/volumeDevices/pv-old',
  ])('S8: behind %s nothing is touched, and no device is undone', async (path, { directory }) => {
    const node = brokenNode(directory)
    const place = toDisk(directory, `${node.root}/${path}`)
    const before = inventory(place)
    const found = await outcome(node)
    expect(found).toMatchObject({ complete: false, links: [path] })
    expect(inventory(place)).toEqual(before)
    expect(found.outcomes).toContain('DetachVolume: blocked LinkInPlace')
    // Empty directories elsewhere, and what another pod has left, go.
    const kept = path.startsWith(gone)
      ? ['UnmountVolume', 'RemoveOrphanPodDir']
      : [path.includes('volumeDevices') ? 'UnmapDevice' : 'UnmountDevice']
    if (!path.startsWith(wanted)) for (const kind of kept) expect(found.outcomes).not.toContain(`${kind}: done`)
  })

  interface Change {
    readonly pods: string
    /** Where `pods` leads. */
    readonly place: string
    /** A copy of that. */
    readonly other: string
    readonly directory: string
  }

  /** `pods` leads elsewhere, where something happens when the apply comes to it. @returns how it ends, and what is left there, and in the copy */
  async function changing(directory: string, happens: (change: Change) => unknown): Promise<unknown[]> {
    const node = brokenNode(directory)
    const pods = `${node.root}/pods`
    const place = toDisk(directory, pods)
    const other = `${directory}/disk/other`
    cpSync(place, other, { recursive: true })
    const options = { orphans: true }
    const plan = await node.plan(options)
    let holder: unknown
    let isFirst = true
    node.context = {
      witness: async () => {
        const comes = isFirst
        isFirst = false
        if (comes) holder = await happens({ pods, place, other, directory })
        const listed = new Set(node.pods.map(({ metadata }) => metadata.uid ?? ''))
        return { listed, alive: new Set(node.processes), apiPods: node.pods }
      },
    }
    const result = statesOf(await node.apply(options))
    await (holder as Holder | undefined)?.end()
    const precious = (base: string): number =>
      readdirSync(base, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('/precious')).length
    const ends = plan.operations.filter(({ pod }) => pod?.uid === GONE).map(({ id, kind }) => `${kind}: ${result[id]}`)
    return [...ends, precious(place), precious(other)]
  }

  it('a control: what leads where it led is undone, with what is in it (S13)', async ({ directory }) => {
    const ends = ['UnmountVolume: done', 'RemoveOrphanPodDir: done', 1, 2]
    expect(await changing(directory, () => undefined)).toEqual(ends)
  })

  it.for<readonly [string, (change: Change) => void]>([
    ['elsewhere', ({ pods, other }) => relink(pods, other)],
    ['dangling', ({ pods }) => relink(pods, '/nonexistent')],
    [
      'directory',
      ({ pods, place }) => {
        unlinkSync(pods)
        cpSync(place, pods, { recursive: true })
      },
    ],
    ['owner', ({ pods }) => lchownSync(pods, 65534, 65534)],
  ])(
    'S8, S26: a link that leads elsewhere once the apply comes to it refuses all that is behind it: %s',
    async ([how, happens], { directory, skip }) => {
      skip(how === 'owner' && noRoot !== undefined, noRoot)
      const removed = expect.stringMatching(/^RemoveOrphanPodDir: (?:skipped|refused) Changed$/)
      expect(await changing(directory, happens)).toEqual(['UnmountVolume: refused Changed', removed, 2, 2])
    },
  )

  const scratch = `${GONE}/volumes/kubernetes.io~empty-dir/scratch`
  it.for<readonly [string, (change: Change) => unknown]>([
    [
      'a bind mount by the path of the link',
      ({ pods, directory }) => bind(`${pods}/${scratch}`, `${directory}/export`),
    ],
    [
      'a bind mount of all that is behind it, with a process in it',
      ({ place, directory }) => {
        bind(place, `${directory}/export`)
        return holdByShell(':', `${directory}/export/${scratch}`)
      },
    ],
    ['a working directory', ({ place }) => holdByShell(':', `${place}/${scratch}`)],
  ])('S8, S12: who uses what is behind it is found: %s', async ([, happens], { directory }) => {
    const ends = ['UnmountVolume: refused HeldBy', 'RemoveOrphanPodDir: skipped HeldBy', 2, 2]
    expect(await changing(directory, happens)).toEqual(ends)
  })
})
