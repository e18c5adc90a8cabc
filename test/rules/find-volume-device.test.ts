/** The detach of a volume whose device nothing tells: what else is in use here may be it (S21). */
import { beforeEach, describe, expect, it } from 'vitest'
import type { Operation } from '../../src/core/plan/plan.ts'
import type { StepOp } from '../../src/core/volumes/steps.ts'
import { Fixture, operation, ROOT, step, withoutPauses } from '../apply/apply-fixture.ts'
import { recordDisks } from '../block/recorded-disks.ts'
import { attachmentHere, csiVolume, detachOf } from '../helpers/apply-plan.ts'

const volume = csiVolume('projects/p/disks/vol-0a1b2c3d4e')

const ROOT_DISK = { name: 'vda', dev: '254:0' }
const [SDB, SDC] = [
  { name: 'sdb', dev: '8:16' },
  { name: 'sdc', dev: '8:32' },
]

let fixture: Fixture
withoutPauses()
beforeEach(() => {
  fixture = new Fixture()
  fixture.host.blockTree = recordDisks(fixture.directory, [ROOT_DISK, SDB, SDC])
  attach()
})

function attach(attachmentMetadata: Record<string, string> = {}): void {
  fixture.attachment = attachmentHere({}, { attached: true, attachmentMetadata })
}

const told = (givenDevice?: string) => ({ ...volume, givenDevice })

async function detach(givenDevice?: string) {
  const { code, state, message, hint } = await fixture.applyOne(detachOf(told(givenDevice)))
  return { state: code ?? state, message, hint }
}

const mount = (path: string, dev: string, more: object = {}): void => {
  fixture.host.mount(path, { dev, fsType: 'ext4', source: `/dev/${dev === '8:16' ? 'sdb' : 'sdc'}`, ...more })
}
function staged(volumeHandle: string): void {
  const at = `${ROOT}/plugins/kubernetes.io/csi/disk.test/def`
  fixture.host.file(`${at}/vol_data.json`, JSON.stringify({ driverName: 'disk.test', volumeHandle }))
  mount(`${at}/globalmount`, '8:16')
}

const sleeper = { pid: 4711, process: 'dd', dev: '8:16' }

describe('a device that is in use, while that of the volume is not known (S21)', () => {
  it.each([
    { name: 'mounted', use: () => mount('/backup', '8:16'), who: /ext4 mount \d+ of \/dev\/sdb on \/backup/ },
    {
      name: 'open',
      use: () => void fixture.host.openers.push(sleeper),
      who: /dd \(pid 4711\), which has \/dev\/sdb open/,
    },
    {
      name: 'held by the kernel',
      use: () => void fixture.host.uses.set('8:16', ['the kernel, which swaps to /dev/sdb']),
      who: /swaps to \/dev\/sdb/,
    },
    {
      name: 'mounted where an in-tree plugin mounted it before its migration',
      use: () => mount(`${ROOT}/plugins/kubernetes.io/azure-disk/mounts/m123`, '8:16'),
      who: /ext4 mount \d+ of \/dev\/sdb on .*\/azure-disk\/mounts\/m123/,
    },
    { name: 'staged by its own handle', use: () => staged(volume.handle), who: /\/def\/globalmount/ },
    {
      name: 'a partition of it mounted',
      use: () => {
        const disks = [ROOT_DISK, SDB, { name: 'sdb1', dev: '8:17', disk: 'sdb' }]
        fixture.host.blockTree = recordDisks(`${fixture.directory}/parts`, disks)
        mount('/backup', '8:17', { source: '/dev/sdb1' })
      },
      who: /\/dev\/sdb1, which belongs to no known volume, is in use.*\/backup/,
    },
  ])('$name: the detach waits for a person, who is told the flag', async ({ use, who }) => {
    use()
    const { state, message, hint } = await detach()
    expect(state).toBe('DeviceUnknown')
    expect(message).toMatch(who)
    expect(`${hint}`).toMatch(
      /device: volctl apply --device pv=\/dev\/sdb1?; if .* none on this node: volctl apply --device pv=none$/,
    )
    expect((await detach('none')).state).toBe('done')
  })

  it.each([
    { name: 'nothing is', use: () => {} },
    {
      name: 'it is in fstab',
      use: () => {
        fixture.host.file('/etc/fstab', '# data\n/dev/sdb /data ext4 defaults 0 2\n')
        mount('/data', '8:16')
      },
    },
    {
      name: "it is another volume's of this node",
      use: () => staged('vol-2'),
    },
    {
      name: 'the attachment of another volume names it, which an in-tree plugin mounted',
      use: () => {
        const metadata = { name: 'csi-def', uid: 'va-2' }
        const spec = { attacher: 'disk.test', nodeName: 'node-1', source: { persistentVolumeName: 'pv-2' } }
        fixture.otherAttachments = [
          { metadata, spec, status: { attached: true, attachmentMetadata: { devicePath: '/dev/sdb' } } },
        ]
        mount(`${ROOT}/plugins/kubernetes.io/azure-disk/mounts/m123`, '8:16')
      },
    },
    {
      name: 'it is a loop device on an image',
      use: () => {
        const loop = { name: 'loop3', dev: '7:3' }
        fixture.host.blockTree = recordDisks(`${fixture.directory}/loops`, [ROOT_DISK, loop])
        fixture.host.file('/srv/image').backingFiles.set('/dev/loop3', '/srv/image')
        mount('/mnt', '7:3', { source: '/dev/loop3' })
      },
    },
    {
      name: 'it is on the disk of the root file system',
      use: () => {
        const boot = { name: 'vda1', dev: '254:1', disk: 'vda' }
        fixture.host.blockTree = recordDisks(`${fixture.directory}/root`, [ROOT_DISK, boot])
        mount('/mnt', '254:1', { source: '/dev/vda1' })
      },
    },
  ])('$name: it is detached, as from any clean node (O24)', async ({ use }) => {
    use()
    expect((await detach()).state).toBe('done')
  })
})

it.each<{ name: string; given?: string; metadata?: Record<string, string>; links?: Record<string, string> }>([
  { name: '--device names it', given: '/dev/sdb' },
  { name: 'the attachment gives its path', metadata: { devicePath: '/dev/sdb' } },
  {
    name: "the attachment gives its serial number, cut off by the disk's",
    links: { 'virtio-0123456789abcdef0123': 'sdb' },
    metadata: { serial: '0123456789abcdef0123-4567' },
  },
  { name: 'the handle is in its identity', links: { 'nvme-Amazon_Elastic_Block_Store_vol0a1b2c3d4e': 'sdb' } },
])(
  'a device that is named: $name: it is judged as one that is known, and what else is in use is no matter',
  async ({ given, metadata = {}, links = {} }) => {
    fixture.host.blockTree = recordDisks(`${fixture.directory}/named`, [ROOT_DISK, SDB, SDC], links)
    attach(metadata)
    mount('/elsewhere', '8:32')
    expect((await detach(given)).state).toBe('done')
    attach(metadata)
    fixture.host.openers.push(sleeper)
    const { state, message } = await detach(given)
    expect(state).toBe('HeldBy')
    expect(message).toMatch(/dd \(pid 4711\), which has \/dev\/sdb open/)
  },
)

describe('a volume that a driver is to unstage, and of which nothing is mounted or mapped any more', () => {
  const hidden = { device: 'sdc', dev: '8:32', fsType: 'ext4' }
  const other = { ...volume, name: 'pv-2', handle: 'vol-2', uniqueName: 'kubernetes.io/csi/disk.test^vol-2' }

  async function unstage(
    kind: 'UnmapDevice' | 'UnmountDevice',
    givenDevice?: string,
    beside?: Partial<Operation>,
    op: StepOp = 'NodeUnstageVolume',
  ) {
    const at = `${ROOT}/plugins/kubernetes.io/csi/disk.test/abc/globalmount`
    const planned = operation('unstage', { kind, volume: told(givenDevice), steps: [step(op, at)] })
    const after = detachOf(told(givenDevice), { after: ['unstage'] })
    const blocked = { code: 'HeldBy', message: 'held' } as const
    const others = beside === undefined ? [] : [operation('beside', { ...beside, blocked })]
    const { outcomes } = await fixture.apply([planned, after, ...others])
    return ['unstage', 'detach'].map((id) => {
      const { code, state, message, hint } = outcomes.find((each) => each.id === id) ?? {}
      return { state: code ?? state, message, hint }
    })
  }

  describe.each(['UnmapDevice', 'UnmountDevice'] as const)('%s', (kind) => {
    it.each([
      {
        name: 'open',
        use: () => void fixture.host.openers.push(sleeper),
        who: 'dd (pid 4711), which has /dev/sdb open',
      },
      {
        name: 'the place of a file system that no mount table shows',
        use: () => void fixture.host.hidden.push({ ...hidden, device: 'sdb', dev: '8:16' }),
        who: 'the ext4 file system on /dev/sdb is in use, and in no mount table that volctl sees; it may be that of pv',
      },
    ])('is refused before the driver is called while its device is $name', async ({ use, who }) => {
      attach({ devicePath: '/dev/sdb' })
      use()
      const refused = await unstage(kind)
      expect(refused.map(({ state }) => state)).toEqual(['HeldBy', 'HeldBy'])
      expect(refused[0]?.message).toContain(who)
      expect(fixture.attachment).toBeDefined()
    })

    it('is done where nobody uses it, whatever is hidden or in use on other disks', async () => {
      attach({ devicePath: '/dev/sdb' })
      fixture.host.hidden = [hidden]
      mount('/elsewhere', '8:32')
      expect((await unstage(kind)).map(({ state }) => state)).toEqual(['done', 'done'])
    })

    it('control: is refused for what is hidden where nothing tells its device, with what to type', async () => {
      fixture.host.hidden = [hidden]
      const [unstaged] = await unstage(kind)
      expect(unstaged?.state).toBe('HeldBy')
      // Why no table shows it is not known: a container may have it mounted, or somebody has unmounted it lazily.
      const hint = `${unstaged?.hint}`
      expect(`${unstaged?.message} ${hint}`).not.toMatch(/lazily/)
      expect(hint).toContain('volctl apply --device pv=/dev/NAME')
      expect(hint).toContain('volctl apply --device pv=none')
    })

    it('control: is done beside what is hidden where only directories are left', async () => {
      fixture.host.hidden = [hidden]
      expect((await unstage(kind, undefined, undefined, 'rmdir'))[0]?.state).toBe('done')
    })

    it.each([
      { name: 'a person says that it has none here', given: 'none', want: 'done' },
      { name: 'a person names another device', given: '/dev/sdb', want: 'done' },
      { name: 'control: a person names the one that it is on', given: '/dev/sdc', want: 'HeldBy' },
      {
        name: 'a person names it for another volume',
        beside: { kind: 'DetachVolume', volume: { ...other, givenDevice: '/dev/sdc' } } as const,
        want: 'done',
      },
      { name: 'fstab names it', use: () => void fixture.host.file('/etc/fstab', '/dev/sdc /data xfs'), want: 'done' },
      {
        name: 'control: fstab names it, and so does the attachment',
        use: () => {
          fixture.host.file('/etc/fstab', '/dev/sdc /data xfs')
          attach({ devicePath: '/dev/sdc' })
        },
        want: 'HeldBy',
      },
    ])('beside what is hidden, where $name: $want', async ({ given, beside, use = () => {}, want }) => {
      fixture.host.hidden = [hidden]
      use()
      expect((await unstage(kind, given, beside))[0]?.state).toBe(want)
    })
  })
})
