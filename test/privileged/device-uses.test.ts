/** Who uses what a volume is on, when it is to be detached (S20, S21): its disk, or a directory of a file system that others use. */
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'
import { expect } from 'vitest'
import type { ApplyContext, CsiNode } from '../../src/core/apply/operation/step.ts'
import type { VolumeAttachment } from '../../src/core/kube/api/objects.ts'
import { attachmentHere, bareOperation, csiVolume, detachOf, statesOf } from '../helpers/apply-plan.ts'
import { detachLoop } from '../helpers/detach-loops.ts'
import { it } from '../helpers/machine.ts'
import { noBlockDevices } from '../helpers/namespace.ts'
import { sh } from '../helpers/scenario.ts'
import { UNASKED_CLUSTER, UNASKED_DRIVER } from '../helpers/unasked.ts'
import { describeUnless } from './describe-unless.ts'
import { holdByShell, holdElsewhere } from './holder.ts'
import { withDisk, withLoop } from './with-disk.ts'
import { apply, expectNow, makeDir, readMounts } from './workers/real-node.ts'

/** Ends a use. */
type End = () => unknown
type Use = (at: string) => End | Promise<End>

const nobody: Use = () => () => undefined

const shell = async (script: string): Promise<End> => (await holdByShell(script)).end
const elsewhere = async (script: string): Promise<End> => (await holdElsewhere(script)).end

function mounted(at: string, ...args: readonly string[]): End {
  sh('mount', ...args, makeDir(at))
  return () => sh('umount', at)
}

/** Unstages and detaches; the use begins in the driver's call, before or after it unmounts. @returns how the detach ended */
async function howDetached(
  directory: string,
  stageBy: (at: string) => void,
  use: Use,
  whileMounted = false,
): Promise<string> {
  const root = makeDir(`${directory}/kubelet-${Math.random()}`)
  const at = makeDir(`${root}/plugins/kubernetes.io/csi/disk.test/abc/globalmount`)
  stageBy(at)
  const volume = csiVolume()
  const unstage = { kind: 'UnmountDevice', volume, expects: expectNow(at) } as const
  const operations = [
    bareOperation('unstage', '', [{ op: 'NodeUnstageVolume', target: at }], unstage),
    detachOf(volume, { after: ['unstage'] }),
  ]
  let end: End = () => undefined
  const driver: CsiNode = {
    ...UNASKED_DRIVER,
    nodeUnstageVolume: async () => {
      if (whileMounted) end = await use(at)
      sh('umount', at)
      if (!whileMounted) end = await use(at)
    },
  }
  let present: VolumeAttachment | undefined = attachmentHere()
  const context: Partial<ApplyContext> = {
    csi: () => driver,
    detachWaitMs: 0,
    cluster: {
      ...UNASKED_CLUSTER,
      getVolumeAttachment: async () => present,
      getNode: async () => ({ metadata: { name: 'node-1', uid: 'n' } }),
      listNodePods: async () => [],
      deleteVolumeAttachment: async () => {
        present = undefined
      },
    },
  }
  try {
    const result = await apply(root, operations, context)
    const outcome = result.outcomes.find(({ id }) => id === 'detach')
    if (outcome?.state === 'done') return 'done'
    return `${statesOf(result).detach}: ${outcome?.message}`.replaceAll(directory, '')
  } finally {
    await end()
    for (const { mountPoint } of readMounts().under(root).toReversed()) sh('umount', mountPoint)
  }
}

describeUnless(noBlockDevices, 'who uses what a volume is on', () => {
  it('S21: its disk: who only marks the place of its file does not hold the detach', ({ directory }) =>
    withDisk(directory, 'ext4', async (device) => {
      const marked: Use = () => {
        const fd = openSync(device, 0o10000000)
        return () => closeSync(fd)
      }
      for (const use of [nobody, marked])
        expect(await howDetached(directory, (at) => sh('mount', device, at), use)).toBe('done')
    }))

  /** On the node's own file system, and on one that is kept by somebody else (O36). */
  async function onBoth(directory: string, work: (data: string) => Promise<void>): Promise<void> {
    await work(makeDir(`${directory}/data`))
    await withDisk(directory, 'ext4', async (device) => {
      const data = `${directory}/kept`
      const end = mounted(data, device)
      await work(data)
      await end()
    })
  }

  it.for<readonly [string, (volume: string, directory: string) => End | Promise<End>, RegExp | undefined]>([
    ['nobody', () => () => undefined, undefined],
    ['another directory of the file system open', (volume) => shell(`exec 9> ${volume}/../other`), undefined],
    [
      'another directory of it mounted',
      (volume, directory) => mounted(`${directory}/second`, '--bind', makeDir(`${volume}/../others`)),
      undefined,
    ],
    ['a file of it open', (volume) => shell(`exec 9> ${volume}/file`), /sleep|sh/],
    [
      'it mounted in a namespace',
      (volume, directory) => elsewhere(`mount --bind ${volume} ${makeDir(`${directory}/away`)}`),
      /mount \d+ of .* on \/away, in the mount namespace of/,
    ],
    [
      'a loop device on a file of it',
      (volume) => {
        sh('truncate', '-s', '1M', `${volume}/image`)
        const loop = sh('losetup', '--find', '--show', `${volume}/image`)
        return () => detachLoop(loop)
      },
      /\/dev\/loop\d+, backed by .*\/vol-1\/image/,
    ],
  ])(
    'S21: a directory: %s: it alone holds the detach, whatever else the file system is used for',
    ([, use, who], { directory }) =>
      onBoth(directory, async (data) => {
        const volume = makeDir(`${data}/vol-1`)
        const end = await howDetached(
          directory,
          (at) => sh('mount', '--bind', volume, at),
          () => use(volume, directory),
        )
        if (who === undefined) expect(end).toBe('done')
        else expect(end).toMatch(new RegExp(`^refused HeldBy.*(?:${who.source})`))
      }),
  )

  it('S21: the whole of it was mounted elsewhere only after the volume: it is the disk of the volume', ({
    directory,
  }) =>
    withDisk(directory, 'ext4', async (device) => {
      const [first, since] = [makeDir(`${directory}/first`), makeDir(`${directory}/since`)]
      const stageBy = (at: string): void => {
        sh('mount', device, first)
        sh('mount', '--bind', makeDir(`${first}/vol-1`), at)
        sh('umount', first)
        sh('mount', device, since)
      }
      const end = await howDetached(directory, stageBy, () => () => sh('umount', since))
      expect(end).toMatch(/^refused HeldBy: .*ext4 mount \d+ of .* on \/since/)
    }))

  /** Mounted once more, with a file open, and detached lazily. */
  async function lazily(directory: string, ...mount: readonly string[]): Promise<End> {
    const at = makeDir(`${directory}/lazy-${Math.random()}`)
    sh('mount', ...mount, at)
    const end = await shell(`exec 9> ${at}/file`)
    sh('umount', '-l', at)
    return end
  }

  it('S20, S21: one without a disk holds the detach by whoever has the file open', async ({ directory }) => {
    const tmpfs = (at: string): void => void sh('mount', '-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', at)
    expect(await howDetached(directory, tmpfs, nobody)).toBe('done')
    // What is to be mounted once more has to be there still.
    const held = await howDetached(directory, tmpfs, (at) => lazily(directory, '--bind', at), true)
    expect(held).toMatch(/^refused HeldBy: .*(sleep|sh) \(pid \d+\), which has \/file open/)
  })

  it('S20, S21: btrfs, which has a number of its own, holds it by its source device', async ({ directory, skip }) => {
    skip(!/\tbtrfs$/m.test(readFileSync('/proc/filesystems', 'utf8')), 'this kernel has no btrfs')
    // Made by mkfs.btrfs --mixed.
    const image = new URL('../fixtures/btrfs/empty.img.br', import.meta.url)
    writeFileSync(`${directory}/btrfs.img`, brotliDecompressSync(readFileSync(image)))
    await withLoop(`${directory}/btrfs.img`, async (device) => {
      const stageBy = (at: string): void => void sh('mount', device, at)
      for (const [use, who] of [
        [nobody, /^done$/],
        [() => lazily(directory, device), /a process or a device that has \/dev\/loop\d+ open/],
        [() => mounted(`${directory}/btrfs`, device), /btrfs mount \d+ of \/dev\/loop\d+ on \/btrfs/],
        [() => shell(`exec 9< ${device}`), /\(pid \d+\), which has \/dev\/loop\d+ open/],
      ] as const)
        expect(await howDetached(directory, stageBy, use)).toMatch(who)
    })
  })
})
