import { beforeEach, describe, expect, it } from 'vitest'
import { ApiError } from '../../../src/core/kube/api-error.ts'
import { parseMountinfo } from '../../../src/core/linux/parse-mountinfo.ts'
import type { Operation } from '../../../src/core/plan/plan.ts'
import { attachmentHere as attachment, csiVolume, detachOf, statesOf } from '../../helpers/apply-plan.ts'
import { Fixture, operation, planOf, ROOT, step, withoutPauses } from '../apply-fixture.ts'

const GLOBAL = `${ROOT}/plugins/kubernetes.io/csi/disk.test/abc/globalmount`
const volume = csiVolume()

let fixture: Fixture
withoutPauses()
beforeEach(() => {
  fixture = new Fixture()
  fixture.attachment = attachment()
})

const detach = (after: readonly string[] = []): Operation => detachOf(volume, { after })
/** That comes before, of a volume on block device 8:16. */
const unstage = (): Operation => fixture.unstage(volume, GLOBAL, { dev: '8:16' })

const deletions = () => fixture.calls.filter((call) => call.startsWith('DELETE'))

async function detachAlone(): Promise<string> {
  return (await fixture.applyOne(detach())).end
}

describe('detaching (S21)', () => {
  it('deletes with uid and resourceVersion', async () => {
    expect(await detachAlone()).toBe('done')
    expect(deletions()).toEqual([`DELETE csi-abc {"uid":"va-1","resourceVersion":"5"}`])
  })

  it('is done where the attachment is gone already', async () => {
    fixture.attachment = undefined
    expect(await detachAlone()).toBe('done')
    expect(deletions()).toEqual([])
  })

  it('says whom it waits for, which is no failure', async () => {
    fixture.afterDelete = attachment(
      { finalizers: ['external-attacher/disk-test'] },
      { detachError: { message: 'backend is busy' } },
    )
    const result = await fixture.apply([detach()])
    expect(result.exit).toBe(0)
    expect(result.outcomes[0]?.message).toMatch(/waiting for .*external-attacher\/disk-test.*backend is busy/)
  })

  it.each([
    {
      name: 'another attachment of this name',
      change: () => {
        fixture.attachment = attachment({ uid: 'va-2' })
      },
      want: 'Changed',
    },
    {
      name: 'what nobody knows of what pods want (S3)',
      change: () => {
        fixture.given = { wantedOf: () => undefined }
      },
      want: 'WantedAgain',
    },
    {
      name: 'a loop device on its map',
      change: () =>
        void fixture.host.backingFiles.set('/dev/loop1', `${ROOT}/plugins/kubernetes.io/csi/volumeDevices/pv/dev/x`),
      want: 'HeldBy',
      block: true,
    },
  ])('is refused by $name', async ({ change, want, block }) => {
    change()
    const planned = block ? { ...detach(), volume: { ...volume, mode: 'Block' as const } } : detach()
    const result = await fixture.apply([planned])
    expect(statesOf(result)).toEqual({ detach: `refused ${want}` })
    if (want === 'Changed') expect(result.outcomes[0]?.message).toContain('VolumeAttachment')
    expect(deletions()).toEqual([])
  })

  describe('of a raw block volume, beside a loop device on a map of its name below another root directory', () => {
    const MAP = '/other/kubelet/plugins/kubernetes.io/csi/volumeDevices/pv/dev/x'
    const block = { ...volume, mode: 'Block' as const }
    const OTHERS = { type: 'other', size: 0, id: { dev: 6, ino: 98, mtime: 0 } } as const

    it.each([
      { name: 'on another device', answer: '98  0:6', known: true, want: 'done' },
      { name: 'on its own device', answer: '98  0:6', node: '/dev/loop3', known: true, want: 'refused HeldBy' },
      { name: 'on a file of another file system', answer: '98  0:7', known: true, want: 'refused HeldBy' },
      { name: 'on a file that is not to be found', answer: '99  0:6', known: true, want: 'refused HeldBy' },
      { name: 'where the device of the volume is not known', answer: '98  0:6', known: false, want: 'refused HeldBy' },
    ])('$name: $want', async ({ answer, node = '/dev/loop9', known, want }) => {
      const { host } = fixture
      host.diskSequences.set('7:3', '1')
      host.backingFiles.set('/dev/loop8', MAP)
      host.dir('/dev').files.set(node, OTHERS)
      host.programs = () => ({ stdout: answer })
      const mapped = known ? { ...block, device: '7:3' } : block
      const result = await fixture.apply([{ ...detach(), volume: mapped }])
      expect(statesOf(result)).toEqual({ detach: want })
      expect(deletions()).toHaveLength(want === 'done' ? 1 : 0)
    })
  })

  describe('beside a file system that no mount table shows (S20)', () => {
    const hidden = { device: 'sdb', dev: '8:16', fsType: 'ext4' }

    it('is done where it is being unmounted just now', async () => {
      fixture.host.hidden = [hidden]
      let looks = 0
      fixture.host.hiddenFileSystems = () => (++looks > 2 ? [] : fixture.host.hidden)
      expect(await detachAlone()).toBe('done')
      expect(looks).toBe(3)
    })

    it("is done where another operation's volume is on it", async () => {
      fixture.host.hidden = [hidden]
      const other = {
        ...unstage(),
        id: 'other',
        volume: { ...volume, uniqueName: `${volume.uniqueName}-2`, handle: 'vol-2' },
      }
      expect(statesOf(await fixture.apply([other, detach()]))).toEqual({ other: 'done', detach: 'done' })
    })
  })

  it.each([
    { answer: 'a conflict', code: 'Conflict', status: 409, end: 'refused Changed' },
    {
      answer: 'a 404 that names no object, which shows no absence (S3)',
      code: 'NotFound',
      status: 404,
      end: 'failed NotFound',
    },
  ] as const)('$answer: $end', async ({ code, status, end }) => {
    const context = fixture.context(planOf([]))
    const deleteVolumeAttachment = async () => {
      throw new ApiError({ code, message: 'said by the API server' }, { status, reason: 'NoSuchResource' })
    }
    fixture.given = { cluster: { ...context.cluster, deleteVolumeAttachment } }
    expect(await detachAlone()).toBe(end)
  })

  it('never runs beside a kubelet, whatever the plan was made beside', async () => {
    fixture.kubelet = { running: true, mayReturn: false }
    const plan = planOf([detach()])
    const inputs = { ...plan.inputs, kubelet: { state: 'running' as const } }
    expect(statesOf(await fixture.apply({ ...plan, inputs }))).toEqual({ detach: 'refused KubeletRunning' })
  })
})

describe('the device of a volume that was staged', () => {
  async function detachAfter(change: () => void): Promise<string | undefined> {
    const before = unstage()
    change()
    return statesOf(await fixture.apply([before, detach(['unstage'])])).detach
  }
  const use = (users: string[]) => () => void fixture.host.uses.set('8:16', users)

  it.each([
    { name: 'gone from the host', change: () => {}, want: 'done' },
    {
      name: 'with a superblock left by a lazy unmount',
      change: use(['the ext4 file system on /dev/sdc']),
      want: 'refused HeldBy',
    },
    {
      name: 'mounted in another namespace',
      change: () => {
        // There only once the volume is unstaged: before, it would hold that up.
        const table = parseMountinfo('7 1 8:16 / /data rw master:3 - ext4 /dev/sdb rw\n')
        const without = parseMountinfo('')
        const app = {
          pid: 7,
          process: 'app',
          get table() {
            return fixture.host.mounts.some(({ path }) => path === GLOBAL) ? without : table
          },
        }
        fixture.host.namespaces = [app]
      },
      want: 'refused HeldBy',
    },
  ])('$name: $want', async ({ change, want }) => {
    expect(await detachAfter(change)).toBe(want)
    expect(deletions()).toHaveLength(want === 'done' ? 1 : 0)
  })

  it.each([
    { name: 'a number that another disk has by then is not held by its users', sequence: '18', want: 'done' },
    { name: 'the same disk is held', sequence: '17', want: 'refused HeldBy' },
    { name: 'a disk of which nothing is known any more is held', sequence: undefined, want: 'refused HeldBy' },
  ])('$name', async ({ sequence, want }) => {
    const change = () => {
      use(['somebody who has /dev/sdb open'])()
      fixture.host.diskSequences.set('8:16', '17')
      fixture.driver = () => {
        fixture.host.mounts = fixture.host.mounts.filter(({ dev }) => dev !== '8:16')
        if (sequence === undefined) fixture.host.diskSequences.clear()
        else fixture.host.diskSequences.set('8:16', sequence)
      }
    }
    expect(await detachAfter(change)).toBe(want)
  })

  it('must be known where something was on record and no driver has unstaged it', async () => {
    const before = operation('unpublish', { volume, steps: [step('NodeUnpublishVolume', '/t')] })
    const result = await fixture.apply([before, detach(['unpublish'])])
    expect(statesOf(result)).toEqual({ unpublish: 'done', detach: 'refused DeviceUnknown' })
  })
})
