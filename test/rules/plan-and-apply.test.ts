/** Each rule of the machine that a plan asks and apply asks again: both say the same, where it holds, does not, and is not known (S3, S26). */
import { beforeEach, describe, expect, it } from 'vitest'
import { parseMountinfo } from '../../src/core/linux/parse-mountinfo.ts'
import type { Operation } from '../../src/core/plan/plan.ts'
import { checkInUse } from '../../src/core/rules/in-use.ts'
import { sha256Hex } from '../../src/core/volumes/volume-names.ts'
import { Fixture, operation, planOf, ROOT, step, withoutPauses } from '../apply/apply-fixture.ts'
import type { FakeHost } from '../apply/fake-host.ts'
import { recordDisks } from '../block/recorded-disks.ts'
import { attachmentHere, csiVolume, detachOf } from '../helpers/apply-plan.ts'

const volume = csiVolume()
const KEY = sha256Hex('vol-1')
const GLOBAL = `${ROOT}/plugins/kubernetes.io/csi/disk.test/${KEY}/globalmount`
const EMPTY = `${ROOT}/pods/11111111-1111-4111-8111-111111111111/volumes/kubernetes.io~empty-dir/data`

let fixture: Fixture
withoutPauses()
beforeEach(() => {
  fixture = new Fixture()
  fixture.host.blockTree = recordDisks(fixture.directory, [
    { name: 'vda', dev: '254:0' },
    { name: 'sdb', dev: '8:16' },
  ])
  fixture.attachment = attachmentHere()
})

const detach = (givenDevice?: string): Operation => detachOf({ ...volume, ...(givenDevice && { givenDevice }) })
/** @param dev absent: nothing is mounted any more, and the device is not known */
const unstage = (dev?: string): Operation =>
  fixture.unstage(volume, GLOBAL, dev === undefined ? undefined : { dev, fields: 'shared:7' })

function empty(): Operation {
  fixture.host.file(`${EMPTY}/file`, 'data')
  return operation('empty', {
    volume: { name: 'data', plugin: 'kubernetes.io/empty-dir', mode: 'Filesystem' },
    steps: [step('deleteContent', EMPTY), step('rmdir', EMPTY)],
  })
}

const opener = { pid: 42, process: 'postgres', dev: '8:16' }
const mountElsewhere = `7 1 0:900 / /other/plugins/kubernetes.io/csi/disk.test/${KEY}/globalmount rw - ext4 src rw\n`

const RULES: readonly {
  readonly rule: string
  readonly planned: () => Operation
  /** By what it does not hold, and how that is said. */
  readonly broken: (host: FakeHost) => void
  readonly code?: string
  /** False: it never does of what is planned. */
  readonly holds?: false
  readonly unknown?: (host: FakeHost) => void
}[] = [
  {
    rule: 'S24: no other mount of what is unstaged',
    planned: () => unstage('8:16'),
    // Of the same peer group, too.
    broken: (host) => void host.mount('/backup', { dev: '8:16', fsType: 'ext4', fields: 'shared:7' }),
    unknown: unseenNamespace,
  },
  {
    rule: 'S24: no loop device on a file of what is unstaged',
    planned: () => unstage('8:16'),
    broken: (host) => {
      host.image(`${GLOBAL}/disk.img`).backingFiles.set('/dev/loop3', `${GLOBAL}/disk.img`)
    },
  },
  {
    rule: 'S8: not set up below another root directory',
    planned: () => unstage('8:16'),
    broken: (host) => void host.namespaces.push(namespaceOf(mountElsewhere)),
    unknown: unseenNamespace,
  },
  {
    rule: 'S8: the same of a detach',
    planned: () => detach('none'),
    broken: (host) => void host.namespaces.push(namespaceOf(mountElsewhere)),
    unknown: unseenNamespace,
  },
  {
    rule: 'S21: no file system that no table shows, where the device is not known',
    planned: () => unstage(),
    broken: (host) => void host.hidden.push({ dev: '8:16', device: 'sdb', fsType: 'ext4' }),
    unknown: unseenNamespace,
  },
  {
    rule: 'S21: the same of a detach',
    planned: () => detach(),
    broken: (host) => void host.hidden.push({ dev: '8:16', device: 'sdb', fsType: 'ext4' }),
  },
  {
    rule: 'S21: nobody has the device of what is unstaged open',
    planned: () => unstage('8:16'),
    broken: (host) => void host.openers.push(opener),
    unknown: (host) => void host.unseenOpeners.push('what postgres (pid 42) uses could not be read in time'),
  },
  {
    rule: 'S21: nobody has the disk of what is detached open',
    planned: () => detach('/dev/sdb'),
    broken: (host) => void host.openers.push(opener),
    unknown: (host) => void host.unseenOpeners.push('what postgres (pid 42) uses could not be read in time'),
  },
  {
    rule: 'S21: a device that is named is there',
    planned: () => detach('/dev/sdz'),
    broken: () => undefined,
    code: 'DeviceUnknown',
    holds: false,
  },
  {
    rule: 'S21: no device that belongs to nothing known is in use, where that of the volume is not known',
    planned: () => detach(),
    broken: (host) => void host.mount('/backup', { dev: '8:16', fsType: 'ext4', source: '/dev/sdb' }),
    code: 'DeviceUnknown',
    unknown: (host) => void host.unseenOpeners.push('what postgres (pid 42) uses could not be read in time'),
  },
  {
    rule: 'S12: nobody uses content that is deleted',
    planned: empty,
    broken: (host) => void host.holders.push({ pid: 42, process: 'backup', what: 'file', path: `${EMPTY}/file` }),
    unknown: (host) => void host.unseen.push('what backup (pid 42) uses could not be read in time'),
  },
]

function namespaceOf(table: string) {
  return { pid: 4711, process: 'runc', table: parseMountinfo(table) }
}

function unseenNamespace(host: FakeHost): void {
  host.namespaces.push({ ...namespaceOf(''), unseen: 'EACCES' })
}

/** What the plan says, and how the apply ends. */
async function both(planned: Operation): Promise<{ readonly plan: string; readonly apply: string }> {
  const plan = planOf([planned])
  const context = fixture.context(plan)
  const { witness } = fixture
  const attachments = fixture.attachment === undefined ? [] : [fixture.attachment]
  const mounts = context.readMounts()
  const [found] = await checkInUse(plan.operations, plan, { ...context, witness, attachments, mounts })
  return { plan: found?.code ?? 'ready', apply: (await fixture.applyOne(planned)).end }
}

describe('both say the same', () => {
  it.each(RULES.filter(({ holds = true }) => holds))('$rule, holds: ready, and done', async ({ planned }) => {
    expect(await both(planned())).toEqual({ plan: 'ready', apply: 'done' })
  })

  it.each(RULES)('$rule, does not hold: both refuse', async ({ planned, broken, code = 'HeldBy' }) => {
    const operation = planned()
    broken(fixture.host)
    expect(await both(operation)).toEqual({ plan: code, apply: `refused ${code}` })
  })

  it.each(RULES.filter((each) => each.unknown))(
    '$rule, is not known: counts as in use',
    async ({ planned, unknown }) => {
      const operation = planned()
      unknown?.(fixture.host)
      expect(await both(operation)).toEqual({ plan: 'UsersUnknown', apply: 'refused UsersUnknown' })
    },
  )
})

it.each([
  { name: 'a peer of what it is mounted on', of: 'shared:1', want: 'done' },
  { name: 'another mount of the same disk', of: 'shared:2', want: 'refused HeldBy' },
])('S24: copies of a staged volume go with it, in $name: $want', async ({ of, want }) => {
  const { host } = fixture
  host.mounts = host.mounts.map((mount) => ({ ...mount, fields: 'shared:1' }))
  const planned = unstage('8:16')
  const copy = parseMountinfo(`5 4 254:0 / /host rw ${of} - ext4 src rw
6 5 8:16 / /host${GLOBAL} rw master:7 - ext4 /dev/sdb rw
`)
  const without = parseMountinfo('')
  const isMounted = (): boolean => host.mounts.some(({ path }) => path === GLOBAL)
  host.otherNamespaces = () => [{ pid: 42, process: 'agent', table: isMounted() ? copy : without }]
  expect((await both(planned)).apply).toBe(want)
})

it('S5: a pod wants what is to be unstaged again', async () => {
  const planned = unstage('8:16')
  fixture.wanted.add(volume.uniqueName)
  expect((await both(planned)).apply).toBe('refused WantedAgain')
  expect(fixture.calls).toEqual([])
})
