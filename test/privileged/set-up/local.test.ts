/** local volumes, set up with real directories, devices and mounts. */
import { lstatSync, mkdirSync, readFileSync, readlinkSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import { describe, expect } from 'vitest'
import type { PersistentVolume } from '../../../src/core/kube/api/objects.ts'
import { linuxHost } from '../../../src/core/rules/host.ts'
import { detachLoop } from '../../helpers/detach-loops.ts'
import { LiveNode, OTHER, POD } from '../../helpers/live-node.ts'
import { it } from '../../helpers/machine.ts'
import { noBlockDevices, noExt4Growth, noRoot } from '../../helpers/namespace.ts'
import { sh } from '../../helpers/scenario.ts'
import { describeUnless } from '../describe-unless.ts'
import { withDisk } from '../with-disk.ts'

const CLAIM = [{ name: 'data', persistentVolumeClaim: { claimName: 'claim-pv' } }]
const READ_ONLY = [{ name: 'data', persistentVolumeClaim: { claimName: 'claim-pv', readOnly: true } }]
const ORPHANS = { orphans: true }
const MOUNTED = ['MountVolume done']

/** A node with a pod that wants a local PersistentVolume. */
function nodeWith(directory: string, path: string, spec: Partial<PersistentVolume['spec']> = {}): LiveNode {
  const node = new LiveNode(directory)
  node.persistentVolume('pv', { source: { local: { path }, ...spec } })
  node.pod(POD, 'a', CLAIM, { devices: spec.volumeMode === 'Block' })
  return node
}

const podDir = ({ root }: LiveNode, uid = POD) => `${root}/pods/${uid}/volumes/kubernetes.io~local-volume/pv`
const globalDir = ({ root }: LiveNode) => `${root}/plugins/kubernetes.io/local-volume/mounts/pv`
const mapDir = ({ root }: LiveNode) => `${root}/plugins/kubernetes.io~local-volume/volumeDevices/pv`
const linkOf = ({ root }: LiveNode, uid = POD) => `${root}/pods/${uid}/volumeDevices/kubernetes.io~local-volume/pv`
const exists = (path: string) => lstatSync(path, { throwIfNoEntry: false }) !== undefined

const isMounted = async (node: LiveNode) => expect(await node.ended()).toEqual(MOUNTED)

/** Loop devices on files below the root directory. */
const loopsOn = ({ root }: LiveNode) =>
  linuxHost.loops().filter(({ backingFile }) => backingFile.startsWith(`${root}/`))

function directoryIn(directory: string): string {
  mkdirSync(`${directory}/source`)
  writeFileSync(`${directory}/source/file`, 'data')
  return `${directory}/source`
}

/** It is there, and goes with its pods, without a trace. */
async function goes(node: LiveNode): Promise<string[]> {
  expect(await node.operations()).toEqual([])
  for (const { metadata } of [...node.pods]) if (metadata.name !== 'witness') node.forget(metadata.uid)
  const down = await node.ended(ORPHANS)
  expect([...node.mounted(), ...loopsOn(node), ...(await node.operations(ORPHANS))]).toEqual([])
  return down
}

describe('a local directory for real', () => {
  it('is bound, is there, and goes with its pod; its data stays', async ({ directory }) => {
    const source = directoryIn(directory)
    const node = nodeWith(directory, source)
    await isMounted(node)
    expect([readFileSync(`${podDir(node)}/file`, 'utf8'), exists(globalDir(node))]).toEqual(['data', false])
    expect(await goes(node)).toEqual(['CleanOrphanVolume done', 'RemoveOrphanPodDir done'])
    expect(readFileSync(`${source}/file`, 'utf8')).toBe('data')
  })

  it('is bound in two calls where it has options: one pod writes, another only reads (P125)', async ({ directory }) => {
    const node = nodeWith(directory, directoryIn(directory), { mountOptions: ['noexec'] })
    node.pod(OTHER, 'b', READ_ONLY)
    expect(await node.ended()).toEqual([...MOUNTED, ...MOUNTED])
    const options = (uid: string) => node.mounts().top(podDir(node, uid))?.options
    expect(options(POD)).toEqual(expect.arrayContaining(['rw', 'noexec']))
    expect(options(OTHER)).toEqual(expect.arrayContaining(['ro', 'noexec']))
    await goes(node)
  })

  it("is given to the first pod's group, and to no other's (P68)", async ({ directory, skip }) => {
    skip(noRoot !== undefined, noRoot)
    const source = directoryIn(directory)
    const node = new LiveNode(directory)
    node.persistentVolume('pv', { source: { local: { path: source } } })
    node.pod(POD, 'a', CLAIM, { spec: { securityContext: { fsGroup: 4711 } } })
    node.pod(OTHER, 'b', CLAIM, { spec: { securityContext: { fsGroup: 4712 } } })
    await node.apply()
    node.forget(OTHER)
    await node.apply()
    node.pod(OTHER, 'b', CLAIM, { spec: { securityContext: { fsGroup: 4712 } } })
    await isMounted(node)
    const { gid, mode } = lstatSync(`${source}/file`)
    expect([gid, (mode & 0o777).toString(8), lstatSync(source).gid]).toEqual([4711, '664', 4711])
  })

  it('is refused by a path that is bad, missing, or a file', async ({ directory }) => {
    writeFileSync(`${directory}/file`, '')
    for (const [path, state] of [
      ['relative', 'blocked'],
      ['/srv/../etc', 'blocked'],
      [`${directory}/missing`, 'failed'],
      [`${directory}/file`, 'failed'],
    ] as const) {
      const node = nodeWith(`${directory}/${path.length}`, path)
      expect(await node.ended(), path).toEqual([`MountVolume ${state} InvalidPath`])
      expect(node.mounted()).toEqual([])
    }
  })
})

describeUnless(noBlockDevices, 'a local device for real', () => {
  it.for(['ext4', 'xfs'] as const)('%s is mounted once, for two pods, and goes with them', (type, { directory }) =>
    withDisk(directory, type, async (device) => {
      const node = nodeWith(directory, device, { local: { path: device, fsType: type }, mountOptions: ['noatime'] })
      node.pod(OTHER, 'b', CLAIM)
      expect(await node.ended()).toEqual([...MOUNTED, ...MOUNTED])
      writeFileSync(`${podDir(node)}/file`, 'data')
      expect(node.mounts().reached(globalDir(node))).toMatchObject([
        { fsType: type, options: expect.arrayContaining(['noatime']) },
      ])
      expect(readFileSync(`${podDir(node, OTHER)}/file`, 'utf8')).toBe('data')
      expect(await goes(node)).toEqual([
        ...['CleanOrphanVolume done', 'CleanOrphanVolume done', 'UnmountDevice done'],
        ...['RemoveOrphanPodDir done', 'RemoveOrphanPodDir done'],
      ])
    }),
  )

  it('is mounted read-only, by a link to it, for who only reads', ({ directory }) =>
    withDisk(directory, 'ext4', async (device) => {
      sh('ln', '-s', device, `${directory}/by-name`)
      const node = new LiveNode(directory)
      node.persistentVolume('pv', { source: { local: { path: `${directory}/by-name` } } })
      node.pod(POD, 'a', READ_ONLY)
      await isMounted(node)
      expect(node.mounts().top(globalDir(node))?.superOptions).toContain('ro')
      await goes(node)
    }))

  it('with nothing on it is not formatted: the command is named, and nothing left (S15)', ({ directory }) =>
    withDisk(directory, undefined, async (device) => {
      const node = nodeWith(directory, device, { local: { path: device, fsType: 'xfs' } })
      const hint = expect.stringMatching(new RegExp(`mkfs\\.xfs ${device}$`))
      expect(await node.outcomes()).toMatchObject([{ code: 'FilesystemUnfit', hint }])
      expect([exists(globalDir(node)), exists(podDir(node)), node.mounted()]).toEqual([false, false, []])
    }))

  it('that is mounted elsewhere is refused, by name, mounted or mapped, until it is let go', ({ directory }) =>
    withDisk(directory, 'ext4', async (device) => {
      const elsewhere = `${directory}/elsewhere`
      mkdirSync(elsewhere)
      sh('mount', device, elsewhere)
      const node = nodeWith(directory, device)
      expect(await node.outcomes()).toMatchObject([{ code: 'HeldBy', message: expect.stringContaining(elsewhere) }])
      expect([exists(globalDir(node)), node.mounted()]).toEqual([false, []])
      const mapping = nodeWith(`${directory}/raw`, device, { volumeMode: 'Block' })
      expect(await mapping.ended()).toEqual(['MapVolume failed HeldBy'])
      expect([exists(`${mapDir(mapping)}/${POD}`), loopsOn(mapping)]).toEqual([false, []])
      sh('umount', elsewhere)
      await isMounted(node)
      await goes(node)
    }))
})

interface Growth {
  readonly state: string
  readonly message: unknown
  /** In MiB. */
  readonly grown: readonly [atLeast: number, atMost: number]
  /** What the claim says in the end. */
  readonly claim: readonly string[]
}

const GROWN = { state: 'done', grown: [80, 100], claim: ['400Mi'] } as const
const LEFT = { state: 'done', grown: [0, 0], claim: ['400Mi'] } as const

/** The volume is set up, grows from 300Mi to 400Mi, and is expanded; and is torn down again. */
async function grows(node: LiveNode, grow: () => unknown, want: Growth): Promise<void> {
  const mebibytes = () => {
    const { bsize, blocks } = statfsSync(podDir(node))
    return Math.round((bsize * blocks) / (1 << 20))
  }
  node.setClaimStatus('claim-pv', { phase: 'Bound', capacity: { storage: '300Mi' } })
  await isMounted(node)
  const size = mebibytes()
  grow()
  node.growVolume('pv', { storage: '400Mi' })
  node.setClaimStatus('claim-pv', {
    phase: 'Bound',
    capacity: { storage: '300Mi' },
    allocatedResources: { storage: '400Mi' },
    allocatedResourceStatuses: { storage: 'NodeResizePending' },
  })
  expect(await node.outcomes({ expand: true })).toMatchObject([{ state: want.state, message: want.message }])
  expect(mebibytes() - size).toBeGreaterThanOrEqual(want.grown[0])
  expect(mebibytes() - size).toBeLessThanOrEqual(want.grown[1])
  const { capacity, conditions = [] } = node.claims[0]?.status ?? {}
  expect([capacity?.storage, ...conditions.map(({ type }) => type)]).toEqual(want.claim)
  expect(await node.operations({ expand: true })).toHaveLength(want.state === 'done' ? 0 : 1)
}

it('a local directory that grows: has no size of its own: nothing is done, and the claim says that it is (P71)', ({
  directory,
}) => {
  const node = nodeWith(directory, directoryIn(directory), { capacity: { storage: '300Mi' } })
  const message = expect.stringContaining('is a directory, which has no size of its own')
  return grows(node, () => undefined, { ...LEFT, message })
})

describeUnless(noBlockDevices, 'a local device that grows', () => {
  const DONE: Growth = { ...GROWN, message: expect.stringContaining('has grown to 400Mi') }

  it.for<{ how: string; type: 'ext4' | 'xfs'; mount?: readonly string[]; want: Growth }>([
    { how: 'xfs has all of it, and the claim says so (P131, R458, R459)', type: 'xfs', want: DONE },
    { how: 'ext4 likewise', type: 'ext4', want: DONE },
    {
      how: 'that cannot be grown stays as it is, and the claim tells why (R459)',
      type: 'xfs',
      mount: ['ro'],
      want: {
        ...{ state: 'failed', message: expect.stringContaining('xfs_growfs of /dev/loop'), grown: [0, 0] },
        claim: ['300Mi', 'NodeResizeError'],
      },
    },
  ])('$how', ({ type, mount = [], want }, { directory, skip }) => {
    skip(type === 'ext4' && noExt4Growth !== undefined, noExt4Growth)
    const work = (device: string) => {
      const spec = { local: { path: device, fsType: type }, capacity: { storage: '300Mi' }, mountOptions: [...mount] }
      const grow = (): void => {
        sh('truncate', '-s', '400M', `${directory}/disk-${type}.img`)
        sh('losetup', '-c', device)
      }
      return grows(nodeWith(directory, device, spec), grow, want)
    }
    return withDisk(directory, type, work)
  })

  it('is not taken for another one that the PersistentVolume names by now', ({ directory }) =>
    withDisk(directory, 'xfs', (device) =>
      withDisk(directory, 'ext4', async (other) => {
        const local = { path: device, fsType: 'xfs' }
        const node = nodeWith(directory, device, { local, capacity: { storage: '300Mi' } })
        const grow = (): void => {
          local.path = other
        }
        const message = expect.stringMatching(/is there, but \/dev\/loop\d+ is to be expanded$/)
        await grows(node, grow, { state: 'failed', message, grown: [0, 0], claim: ['300Mi'] })
      }),
    ))
})

describeUnless(noBlockDevices, 'a raw local device for real', () => {
  it('is mapped for two pods, and goes with them (P98-P100, R451)', ({ directory }) =>
    withDisk(directory, undefined, async (device) => {
      sh('ln', '-s', device, `${directory}/by-name`)
      const node = nodeWith(directory, `${directory}/by-name`, { volumeMode: 'Block' })
      node.pod(OTHER, 'b', CLAIM, { devices: true })
      expect(await node.ended()).toEqual(['MapVolume done', 'MapVolume done'])
      expect([POD, OTHER].map((uid) => readlinkSync(linkOf(node, uid)))).toEqual([device, device])
      expect(statSync(`${mapDir(node)}/${POD}`).rdev).toBe(statSync(device).rdev)
      expect(loopsOn(node)).toHaveLength(2)
      expect(await goes(node)).toEqual([
        ...['UnmapVolume done', 'UnmapVolume done', 'UnmapDevice done'],
        ...['RemoveOrphanPodDir done', 'RemoveOrphanPodDir done'],
      ])
    }))

  it('whatever part of it was lost is made again', ({ directory }) =>
    withDisk(directory, undefined, async (device) => {
      const node = nodeWith(directory, device, { volumeMode: 'Block' })
      await node.apply()
      const detach = (): void => {
        for (const loop of loopsOn(node)) detachLoop(loop.device)
      }
      for (const damage of [
        detach,
        () => sh('rm', linkOf(node)),
        () => {
          sh('ln', '-sfn', '/dev/null', linkOf(node))
          detach()
        },
      ]) {
        damage()
        expect(await node.ended()).toEqual(['MapVolume done'])
        expect(await node.operations()).toEqual([])
      }
      expect(readlinkSync(linkOf(node))).toBe(device)
      await goes(node)
    }))
})
