/** The chain from claim to sub-path, link by link: what is good, what is bad, what nobody knows, and how it is drawn. */
import { describe, expect, it } from 'vitest'
import type { Link } from '../../src/core/explain/explanation.ts'
import type { CsiDriver } from '../../src/core/kube/api/objects.ts'
import { chainText } from '../../src/core/views/explain-parts.ts'
import { PLAIN_SCREEN, UNICODE_SYMBOLS } from '../../src/core/views/screen.ts'
import { csiUniqueName, inlineCsiHandle } from '../../src/core/volumes/volume-names.ts'
import { told } from '../helpers/explaining.ts'
import { claimOf, DRIVER, type NodeBuilder, node, uid, volumeData } from '../helpers/node-builder.ts'
import { csiDriverObject } from '../helpers/objects.ts'

const GONE = uid(9)
const LIVING = uid(2)

const healthy = (): NodeBuilder => node().served(LIVING, 'web-0')

function chainOf(built: NodeBuilder, what = 'pv/pv-1'): readonly Link[] {
  const { chain, volumes } = told(built, what)
  expect(volumes.map((each) => each.chain)).toContainEqual(chain)
  return chain
}

const states = (chain: readonly Link[]): Record<string, string> =>
  Object.fromEntries(chain.map(({ kind, state }) => [kind, state]))

const GOOD = {
  PersistentVolumeClaim: 'good',
  PersistentVolume: 'good',
  VolumeAttachment: 'good',
  StagedMount: 'good',
  PodMount: 'good',
}

describe('links', () => {
  it('a volume that is as it should be', () => expect(states(chainOf(healthy()))).toEqual(GOOD))

  it('of a pod that was deleted: claim and PersistentVolume are good, what is left is bad', () => {
    expect(states(chainOf(node().left(GONE).leaf(GONE, 'pv-1', '7:1')))).toEqual({
      ...GOOD,
      VolumeAttachment: 'bad',
      StagedMount: 'bad',
      PodMount: 'bad',
      SubPath: 'bad',
    })
  })

  it.each<{ name: string; of: (built: NodeBuilder) => unknown; want: Partial<typeof GOOD>; says: string }>([
    {
      name: 'a dead mount',
      of: (built) => {
        built.dead(`pods/${LIVING}/volumes/kubernetes.io~csi/pv-1/mount`, 'ESTALE')
      },
      want: { PodMount: 'bad' },
      says: 'dead: stale file handle (ESTALE)',
    },
    {
      name: 'what is staged for another volume in its place, beside the right state file (S17)',
      of: (built) => {
        built
          .staged('other', '7:9')
          .mounts.splice(
            0,
            built.mounts.length,
            ...built.mounts.map((line) =>
              line.includes(`/pods/${LIVING}/volumes/`) ? line.replace(' 7:1 ', ' 7:9 ') : line,
            ),
          )
      },
      want: { PodMount: 'bad' },
      says: 'disk.test^other is mounted there instead',
    },
    {
      name: 'another volume in its place (S5)',
      of: (built) => {
        const path = `pods/${LIVING}/volumes/kubernetes.io~csi/pv-1/vol_data.json`
        built.file(path, volumeData('pv-1', 'other'))
      },
      want: { PodMount: 'bad' },
      says: 'disk.test^other is mounted there instead',
    },
    {
      name: 'no attachment',
      of: (built) => built.attachments.splice(0),
      want: { VolumeAttachment: 'bad' },
      says: 'does not exist',
    },
    {
      name: 'two mounts on one path',
      of: (built) => built.published(LIVING, 'pv-1', '7:1'),
      want: { PodMount: 'good' },
      says: '2 layers, the newest ext4 of /dev/loop1',
    },
    {
      name: 'claims that could not be read (S3)',
      of: (built) => {
        built.unlisted('persistentVolumeClaims')
      },
      want: { PersistentVolumeClaim: 'unknown' },
      says: 'could not be read',
    },
    {
      name: 'a snapshot without a mount table',
      of: (built) => (built.override = { mountinfo: '' }),
      want: { StagedMount: 'unknown', PodMount: 'unknown' },
      says: 'the mount table was not read',
    },
    {
      name: "a snapshot without the kubelet's directories",
      of: (built) => (built.override = { tree: undefined } as never),
      want: { PodMount: 'unknown' },
      says: "the kubelet's directories were not read",
    },
  ])('$name', ({ of, want, says }) => {
    const built = healthy()
    of(built)
    const chain = chainOf(built)
    expect(states(chain)).toMatchObject(want)
    const [kind] = Object.keys(want)
    expect(chain.find((link) => link.kind === kind)?.says).toContain(says)
  })

  describe('staged without an attachment, and no pod wants it', () => {
    const attachment = (of: (built: NodeBuilder) => unknown): Link | undefined => {
      const built = node().persistentVolume('pv-1', { attached: false }).staged('pv-1', '7:1')
      of(built)
      return chainOf(built).find(({ kind }) => kind === 'VolumeAttachment')
    }
    const drivers = (...csiDrivers: CsiDriver[]) => attachment((built) => built.withApi({ csiDrivers }))

    it("says what the node's status says", () =>
      expect(attachment((built) => built.attached.push(csiUniqueName(DRIVER, 'pv-1')))?.says).toContain(
        'node.status.volumesAttached still lists it',
      ))

    it('is no link where the driver does not attach, and unknown where its object is gone or could not be read (S3)', () => {
      expect(drivers(csiDriverObject(DRIVER, { attachRequired: false }))).toBeUndefined()
      expect(drivers()).toMatchObject({ state: 'unknown' })
      expect(attachment((built) => built.unlisted('csiDrivers'))).toMatchObject({ state: 'unknown' })
    })

    it('is no link of an inline volume', () => {
      const handle = inlineCsiHandle(GONE, 'scratch')
      const built = node().published(GONE, 'scratch', '7:1', { handle })
      const { chain } = told(built, `volume/${GONE}/scratch`)
      expect(chain.map(({ kind }) => kind)).toEqual(['PodMount'])
    })
  })

  it('not set up yet: what is missing is bad, and so is its staging', () => {
    const built = node().persistentVolume('pv-1').pod(LIVING, 'web-0', [claimOf()])
    expect(states(chainOf(built))).toEqual({ ...GOOD, StagedMount: 'bad', PodMount: 'bad' })
  })

  it('a driver that stages nothing needs no staged mount', () => {
    const built = node().persistentVolume('pv-1').pod(LIVING, 'web-0', [claimOf()])
    const [socket] = built.build().snapshot.csiSockets ?? []
    built.with({ csiSockets: socket === undefined ? [] : [{ ...socket, capabilities: [] }] })
    expect(states(chainOf(built))).toMatchObject({ StagedMount: 'absent' })
  })

  it('a claim that is not bound', () => {
    const pending = node().livingPod(LIVING, 'web-0', [claimOf()])
    pending.claims.push({
      metadata: { name: 'claim-pv-1', namespace: 'default', uid: 'c' },
      spec: {},
      status: { phase: 'Pending' },
    })
    expect(chainOf(pending, 'default/web-0')[0]).toMatchObject({
      kind: 'PersistentVolumeClaim',
      state: 'bad',
      says: 'Pending, not bound to a PersistentVolume',
    })
  })
})

describe('the verdict is about the volume that matters', () => {
  it('not the first operation that can run, and the chain is that volume’s', () => {
    const built = node().persistentVolume('pv-1').published(GONE, 'pv-1', '7:1')
    // A config map of the same pod, whose directory comes first.
    built.mount(`pods/${GONE}/volumes/kubernetes.io~configmap/aaa`, {})
    built.drivers = []
    const { verdict, chain } = told(built, GONE)
    expect(verdict).toMatchObject({
      state: 'blocked',
      code: 'DriverUnavailable',
      message: expect.stringMatching(/not registered|no driver|socket/),
    })
    expect(chain.map(({ kind }) => kind)).toContain('PersistentVolume')
  })

  it('a dead mount before another volume with an error', () => {
    const built = node()
      .persistentVolume('pv-1', { attached: false })
      .persistentVolume('pv-2')
      .published(GONE, 'pv-1', '7:1')
      .published(GONE, 'pv-2', '7:2')
      .dead(`pods/${GONE}/volumes/kubernetes.io~csi/pv-2/mount`)
    const { chain } = told(built, GONE)
    expect(chain.map(({ name }) => name)).toContain('pv-2')
  })

  it("a dead mount of somebody's below the volume, which the pod has like its own", () => {
    const dir = `pods/${LIVING}/volumes/kubernetes.io~empty-dir/tmp`
    const built = node().livingPod(LIVING, 'web-0', [{ name: 'tmp', emptyDir: {} }])
    built.dir(dir).mount(`${dir}/theirs`, { fsType: 'fuse.sshfs' }).dead(`${dir}/theirs`)
    const { verdict, volumes } = told(built, 'default/web-0/tmp')
    expect(verdict).toMatchObject({ state: 'problem', code: 'DeadMount' })
    expect(volumes[0]?.dead?.path).toMatch(/\/tmp\/theirs$/)
  })

  it('an error comes before what can run, a dead mount before what is blocked', () => {
    const built = node().persistentVolume('pv-1').published(GONE, 'pv-1', '7:1')
    built.drivers = []
    built.dead(`pods/${GONE}/volumes/kubernetes.io~csi/pv-1/mount`)
    const ask = () => told(built, GONE).verdict
    expect(ask()).toMatchObject({ state: 'problem', code: 'DeadMount' })
    expect(ask().message).toMatch(/^the mount on .* is dead: transport endpoint is not connected \(ENOTCONN\)/)
    built.unlisted('pods')
    expect(ask()).toMatchObject({ state: 'problem', code: 'PodListIncomplete' })
  })
})

describe('drawn', () => {
  const chain = chainOf(healthy().published(GONE, 'pv-1', '7:1'))

  it('each link with a sign and a word', () => {
    const text = chainText(chain, { ...PLAIN_SCREEN, symbols: UNICODE_SYMBOLS, width: 80, wide: true })
    expect(text.match(/^ +[✓✗] (?:good|bad) +(?:[a-zA-Z]+(?: mount)?)/gmu)).toEqual([
      '  ✓ good    claim',
      '  ✓ good    PV',
      '  ✓ good    attachment',
      '  ✓ good    staged mount',
      '  ✓ good    pod mount',
      '  ✗ bad     pod mount',
    ])
    expect(text.replaceAll(/\s+/g, ' ')).toContain('left over from a deleted pod; ext4 of /dev/loop1')
  })

  it('alike links are counted', () => {
    const leaf = (state: Link['state'], n: number): Link => ({ kind: 'SubPath', name: `/s/${n}`, state, says: 'ext4' })
    const text = chainText([leaf('good', 0), leaf('bad', 1), leaf('good', 2)], PLAIN_SCREEN)
    expect(text).toBe('  + good    sub-path and 1 more\n  x bad     sub-path (ext4)\n')
  })
})
