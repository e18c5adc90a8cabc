/** UnmountDevice and UnmapDevice of iSCSI: what is run, in which order, and what is left alone (P76, P84, P160, S25). */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { parseMountinfo } from '../../src/core/linux/parse-mountinfo.ts'
import type { Operation } from '../../src/core/plan/plan.ts'
import { releaseSteps } from '../../src/core/reconcile/unmount-detach-devices/unmount-other-devices.ts'
import { statesOf } from '../helpers/apply-plan.ts'
import { Fixture, operation, ROOT, step, withoutPauses } from './apply-fixture.ts'
import { FakeStorage } from './fake-storage.ts'

const IQN = 'iqn.2003-01.test:disk'
const PORTAL = '10.0.0.1:3260'
const BASE = `${ROOT}/plugins/kubernetes.io/iscsi`
const PLUGIN = 'kubernetes.io/iscsi'

let fixture: Fixture
let storage: FakeStorage
withoutPauses()
beforeEach(() => {
  fixture = new Fixture()
  storage = new FakeStorage(fixture.host)
})

interface Given {
  readonly portal?: string
  readonly iqn?: string
  readonly lun?: number
  readonly iface?: string
  /** Undefined: mounted from nowhere. */
  readonly disk?: string
  /** Null: no such file. */
  readonly json?: string | null
}

const recordOf = ({ portal = PORTAL, iqn = IQN, lun = 0, iface = 'default' }: Given, more: object = {}): string =>
  JSON.stringify({
    VolName: 'pv-1',
    Portals: [portal],
    Iqn: iqn,
    Lun: String(lun),
    InitIface: 'default',
    Iface: iface,
    InitiatorName: '',
    MetricsProvider: null,
    ...more,
  })

/** The global directory of a LUN, with its record, and the operation that takes it down. */
function unmountDevice(id: string, given: Given = {}): Operation {
  const { portal = PORTAL, iqn = IQN, lun = 0, iface = 'default', disk } = given
  const name = `${portal}-${iqn}-lun-${lun}`
  const target = `${BASE}/iface-${iface}/${name}`
  fixture.host.dir(target)
  if (given.json !== null) fixture.host.file(`${target}/iscsi.json`, given.json ?? recordOf(given))
  const expects = disk === undefined ? [] : [fixture.host.mount(target, { dev: storage.devOf(disk), fsType: 'ext4' })]
  return operation(id, {
    kind: 'UnmountDevice',
    rule: 'R445',
    volume: { name, uniqueName: `${PLUGIN}/${portal}:${iqn}:${lun}`, plugin: PLUGIN, mode: 'Filesystem' },
    steps: [...(disk === undefined ? [] : [step('umount', target)]), ...releaseSteps(PLUGIN, target)],
    expects,
  })
}

/** By default that of the volume on sdb. */
async function run(...given: Operation[]) {
  const result = await fixture.apply(given.length > 0 ? given : [unmountDevice('a', { disk: 'sdb' })])
  return {
    states: statesOf(result),
    messages: result.outcomes.map(({ message }) => message),
    commands: fixture.host.log.filter((line) => !/^(?:umount|rmdir|unlink|losetup --list) /.test(line)),
    log: fixture.host.log,
  }
}

/** What happens while the API is asked for the nth time who wants the volume. */
function onQuestion(nth: number, happens: () => void): void {
  let asked = 0
  fixture.given = {
    wantedOf: () => {
      if (++asked === nth) happens()
      return fixture.wantedOf()
    },
  }
}

/** A pod of this node, of the same target. */
function wants(lun: number): void {
  const source = { name: 'v', iscsi: { targetPortal: '', iqn: IQN, lun } }
  fixture.sources = [{ plugin: PLUGIN, specName: 'pv-9', source }]
}

const node = (rest: string, { portal = PORTAL, iqn = IQN, iface = 'default' }: Given = {}): string =>
  `iscsiadm -m node -p ${portal} -T ${iqn} -I ${iface} ${rest}`
const remove = (disk: string): string[] => [
  `blockdev --flushbufs /dev/${disk}`,
  `tee -- ${storage.sys}/block/${disk}/device/delete <<< 1`,
]

const session = (luns: Record<number, string> = { 0: 'sdb' }): FakeStorage =>
  storage.session(1, { iqn: IQN, portal: PORTAL }, luns)

it('unmounts, removes the device, logs out and deletes the record, in that order (P76)', async () => {
  session()
  const planned = unmountDevice('a', { disk: 'sdb' })
  const [target] = planned.paths
  const { states, log } = await run(planned)
  expect(states).toEqual({ a: 'done' })
  expect(log).toEqual([
    `umount plain ${target}`,
    ...remove('sdb'),
    node('--logout'),
    node('-o delete'),
    `unlink ${target}/iscsi.json`,
    `rmdir ${target}`,
  ])
  expect([storage.sessions(), storage.disks()]).toEqual([[], []])
  expect(fixture.journal()).toContainEqual(
    expect.objectContaining({ type: 'stateFile', path: `${target}/iscsi.json`, content: recordOf({}) }),
  )
})

/** Each removes the disk and logs out. */
const goneWith = (...disks: string[]): string[] => [...disks.flatMap(remove), node('--logout'), node('-o delete')]

interface Row {
  readonly name: string
  readonly given?: Given
  readonly make: () => unknown
}

async function expectGone(given: Given, commands: readonly string[]): Promise<void> {
  const found = await run(unmountDevice('a', given))
  expect([found.states, found.commands]).toEqual([{ a: 'done' }, commands])
}

it('logs out of every portal, and flushes the multipath map first', async () => {
  const portal = '10.0.0.2:3260'
  session({ 3: 'sdb' })
  storage.session(2, { iqn: IQN, portal }, { 3: 'sdc' })
  storage.map('dm-0', ['sdb', 'sdc'])
  const json = recordOf({ lun: 3 }, { Portals: [PORTAL, portal, PORTAL] })
  await expectGone({ lun: 3, disk: 'dm-0', json }, [
    'multipath -f /dev/dm-0',
    ...goneWith('sdb', 'sdc'),
    node('--logout', { portal }),
    node('-o delete', { portal }),
  ])
})

it('logs out of every portal, although its directory is gone after the first', async () => {
  const portal = '10.0.0.2:3260'
  session()
  storage.session(2, { iqn: IQN, portal }, { 0: 'sdc' })
  const json = recordOf({}, { Portals: [PORTAL, portal] })
  const planned = unmountDevice('a', { json })
  storage.before('iscsiadm', () => {
    for (const path of fixture.host.files.keys()) if (path.startsWith(BASE)) fixture.host.files.delete(path)
  })
  const { states } = await run(planned)
  expect([states, storage.sessions()]).toEqual([{ a: 'done' }, []])
})

describe('S25: a session of which another LUN is used stays whole, and that is no failure where its record is not the last', () => {
  const target = `${BASE}/iface-default/${PORTAL}-${IQN}-lun-0`
  it.each<{ name: string; use: () => void; says: string }>([
    {
      name: 'is mounted',
      use: () => void fixture.host.mount('/mnt/other', { dev: storage.devOf('sdc'), fsType: 'ext4' }),
      says: 'on /mnt/other',
    },
    {
      name: 'is open by its generic device',
      use: () => {
        storage.generic('sdc', '21:3')
        fixture.host.openers = [{ pid: 7, process: 'qemu', dev: 'char 21:3' }]
      },
      says: 'qemu (pid 7), which has char 21:3 (sdc) open',
    },
  ])('LUN 10 $name', async ({ use, says }) => {
    session({ 0: 'sdb', 10: 'sdc' })
    fixture.host.dir(`${BASE}/iface-default/${PORTAL}-${IQN}-lun-10`)
    use()
    const { states, commands, messages, log } = await run()
    expect(states).toEqual({ a: 'done' })
    expect(commands).toEqual([])
    expect(messages[0]).toContain('its iSCSI session (session1, sdb) is kept: LUN 10 of the same session is in use')
    expect(messages[0]).toContain(says)
    expect(log.slice(-2)).toEqual([`unlink ${target}/iscsi.json`, `rmdir ${target}`])
  })

  it.each([
    { name: 'no directory', make: () => {}, want: 'failed HeldBy' },
    {
      name: 'only directories of another target and another interface',
      make: () => {
        fixture.host.dir(`${BASE}/iface-default/${PORTAL}-${IQN}0-lun-10`)
        fixture.host.dir(`${BASE}/iface-eth9/${PORTAL}-${IQN}-lun-10`)
      },
      want: 'failed HeldBy',
    },
    {
      name: 'a block map’s directory',
      make: () => void fixture.host.dir(`${BASE}/volumeDevices/iface-default/${PORTAL}-${IQN}-lun-10`),
      want: 'done',
    },
    {
      name: 'a pod',
      make: () => wants(10),
      want: 'done',
    },
  ])('that $name would come back for: $want', async ({ make, want }) => {
    session({ 0: 'sdb', 10: 'sdc' })
    fixture.host.openers = [{ pid: 7, process: 'udevd', dev: storage.devOf('sdc') }]
    make()
    const { states, commands, log } = await run()
    expect(states).toEqual({ a: want })
    expect(commands).toEqual([])
    expect(log.includes(`rmdir ${target}`)).toBe(want === 'done')
  })

  it('a pod of this node wants another LUN of the target: the device goes, the session stays', async () => {
    session()
    wants(9)
    const { states, commands, messages } = await run()
    expect([states, commands]).toEqual([{ a: 'done' }, remove('sdb')])
    expect(messages[0]).toContain('a pod of this node wants LUN 9 of the same target')
  })

  it('a pod that wants this very LUN again refuses it all', async () => {
    session()
    wants(0)
    const { states, log } = await run()
    expect([states, log]).toEqual([{ a: 'refused WantedAgain' }, []])
  })

  it('who wants it becomes unknown meanwhile: the record is kept, for the next time', async () => {
    session()
    const { programs } = fixture.host
    fixture.host.programs = (program, args, input) => {
      fixture.sources = undefined
      return programs(program, args, input)
    }
    const { states, commands, log } = await run()
    expect([states, commands]).toEqual([{ a: 'failed MayBeInUse' }, remove('sdb')])
    expect(log).toHaveLength(3)
  })

  it('two LUNs of one session, taken down together: the last one logs out, once both are unmounted', async () => {
    session({ 0: 'sdb', 1: 'sdc' })
    const { states, commands } = await run(
      unmountDevice('a', { disk: 'sdb' }),
      unmountDevice('b', { lun: 1, disk: 'sdc' }),
    )
    expect(states).toEqual({ a: 'done', b: 'done' })
    expect(commands).toEqual([...remove('sdc'), ...remove('sdb'), node('--logout'), node('-o delete')])
    expect(storage.sessions()).toEqual([])
  })
})

describe('a LUN that comes to the session after the look is not logged out of', () => {
  it.each([
    {
      name: 'mounted',
      use: () => void fixture.host.mount('/mnt/new', { dev: storage.devOf('sde'), fsType: 'ext4' }),
      says: 'on /mnt/new',
    },
    { name: 'idle', use: () => {}, says: 'sde of session1' },
  ])('$name, while the API is asked', async ({ use, says }) => {
    session()
    onQuestion(2, () => {
      storage.lun(1, 3, 'sde')
      use()
    })
    const { states, commands, messages, log } = await run()
    expect(states).toEqual({ a: 'failed HeldBy' })
    expect(messages[0]).toContain(says)
    expect(commands).toEqual(remove('sdb'))
    expect(log).toHaveLength(3)
    expect([storage.sessions(), storage.disks()]).toEqual([['session1'], ['sde']])
  })

  it('while the portal before it is logged out of', async () => {
    const portal = '10.0.0.2:3260'
    session()
    storage.session(2, { iqn: IQN, portal }, { 0: 'sdc' })
    storage.before('iscsiadm', () => storage.lun(2, 3, 'sde'))
    const json = recordOf({}, { Portals: [PORTAL, portal] })
    const { states, commands } = await run(unmountDevice('a', { disk: 'sdb', json }))
    expect(states).toEqual({ a: 'failed HeldBy' })
    expect(commands.slice(4)).toEqual([node('--logout'), node('-o delete')])
    expect([storage.sessions(), storage.disks()]).toEqual([['session2'], ['sde']])
  })
})

it('a session that is reconnecting, whose address and port cannot be read, stops nothing', async () => {
  const { readFileSync } = fs
  onTestFinished(() => {
    fs.readFileSync = readFileSync
    syncBuiltinESMExports()
  })
  session()
  fs.readFileSync = ((path: string, options: 'utf8') => {
    const code = 'ENOTCONN'
    if (/\/connection1:0\/(?:address|port)$/.test(path)) throw Object.assign(new Error(code), { code })
    return readFileSync(path, options)
  }) as typeof readFileSync
  syncBuiltinESMExports()
  await expectGone({ disk: 'sdb' }, goneWith('sdb'))
})

it.each([
  { name: 'an idle tape', driver: 'st', opener: 'char 9:4', want: 'done' },
  { name: 'an open tape', driver: 'st', opener: 'char 9:0', want: 'stays' },
  { name: 'one of a driver that nobody knows', driver: 'osd', opener: 'char 9:4', want: 'stays' },
  { name: 'a disk that is being set up', driver: 'sd', opener: 'char 9:4', want: 'stays' },
])('a LUN that is no disk: $name: $want', async ({ driver, opener, want }) => {
  session().tape(1, 6, '9:0', driver)
  fixture.host.openers = [{ pid: 7, process: 'mt', dev: opener }]
  const { messages, commands } = await run()
  expect(commands).toHaveLength(want === 'done' ? 4 : 0)
  if (want === 'stays') expect(messages[0]).toContain('LUN 6 of the same session is in use')
})

describe('names are compared whole, never by their beginning (S25, P78)', () => {
  it.each<Row & { left: readonly [sessions: string[], disks: string[]]; gone?: string[] }>([
    {
      name: 'LUN 1, while LUN 10 of the same target is in a session of its own',
      given: { lun: 1 },
      make: () => {
        session({ 1: 'sdb' })
        storage.session(2, { iqn: IQN, portal: '10.0.0.9:3260' }, { 10: 'sdc' })
        fixture.host.mount('/mnt/ten', { dev: storage.devOf('sdc'), fsType: 'ext4' })
      },
      left: [['session2'], ['sdc']],
    },
    {
      name: 'a target whose name is the beginning of another’s, at the same portal',
      make: () => {
        session()
        storage.session(2, { iqn: `${IQN}0`, portal: PORTAL }, { 0: 'sdc' })
        fixture.host.mount('/mnt/longer', { dev: storage.devOf('sdc'), fsType: 'ext4' })
      },
      left: [['session2'], ['sdc']],
    },
    {
      name: 'another session of the target through another interface, which keeps its idle LUNs',
      make: () => {
        session({ 0: 'sdb', 1: 'sdc' })
        storage.session(2, { iqn: IQN, portal: PORTAL, iface: 'eth9' }, { 1: 'sdd' })
      },
      gone: ['sdb', 'sdc'],
      left: [['session2'], ['sdd']],
    },
  ])('$name', async ({ given, make, left, gone = ['sdb'] }) => {
    make()
    await expectGone({ disk: 'sdb', ...given }, goneWith(...gone))
    expect([storage.sessions(), storage.disks()]).toEqual(left)
  })

  it.each([
    { name: 'with iscsi.json', more: {} },
    { name: 'by the directory’s name alone', more: { json: null } },
  ])('a portal whose host name has hyphens, $name', async ({ more }) => {
    const portal = 'san-1.rack-2.test:3260'
    storage.session(1, { iqn: IQN, portal: PORTAL, persistent: portal }, { 0: 'sdb' })
    const commands = [...remove('sdb'), node('--logout', { portal }), node('-o delete', { portal })]
    await expectGone({ portal, disk: 'sdb', ...more }, commands)
  })

  it('IPv6 in another spelling is the same portal', async () => {
    const portal = '[fd00:0::1]:3260'
    storage.session(1, { iqn: IQN, portal: '[fd00::1]:3260' }, { 0: 'sdb' })
    const { commands, states, messages } = await run(unmountDevice('a', { portal, disk: 'sdb' }))
    expect(commands.slice(0, 2)).toEqual(remove('sdb'))
    // This stand-in knows one spelling only: that the session is still there is seen, and said.
    expect(states).toEqual({ a: 'failed IscsiFailed' })
    expect(messages[0]).toContain('is still logged in')
  })
})

it.each<Row & { commands?: () => string[] }>([
  { name: 'after the unmount', make: () => session() },
  { name: 'after the log-out', given: { json: null }, make: () => {}, commands: () => goneWith() },
  { name: 'iscsi.json is missing: the directory’s name tells', given: { json: null }, make: () => session() },
  { name: 'iscsi.json is empty: the same', given: { json: '' }, make: () => session() },
  {
    name: 'beside loop devices on a regular file and on another device',
    make: () => {
      session()
      fixture.host.image('/srv/image').backingFiles.set('/dev/loop3', '/srv/image').set('/dev/loop4', '/dev/loop9')
    },
  },
  {
    name: 'while multipathd tests its paths',
    make: () => {
      session()
      fixture.host.openers = [{ pid: 9, process: 'multipathd', dev: storage.devOf('sdb') }]
      fixture.host.isPathChecker = (asked) => asked === 9
    },
  },
])(
  'ended half-way, or with half a record, and run again (R837): $name',
  async ({ given = {}, make, commands = () => goneWith('sdb') }) => {
    make()
    const found = await run(unmountDevice('a', given))
    expect(found.states).toEqual({ a: 'done' })
    expect(found.commands).toEqual(commands())
  },
)

const FLUSH = 'blockdev --flushbufs /dev/sdb'

/** What is in the way once the session is there; its record stays, for the next time. */
describe('what keeps a LUN, and what is done until that is seen', () => {
  const at = `${BASE}/iface-default/${PORTAL}-${IQN}-lun-0/iscsi.json`
  const opener = { pid: 10, process: 'multipathd' }

  it.each<Row & { code: string; says?: string; commands?: string[] }>([
    {
      name: 'it is open, be it by a program that is called multipathd',
      make: () => fixture.host.openers.push({ ...opener, dev: storage.devOf('sdb') }),
      code: 'failed HeldBy',
    },
    {
      name: 'it is open, and still mounted: nothing is begun',
      given: { disk: 'sdb' },
      make: () => fixture.host.openers.push({ ...opener, dev: storage.devOf('sdb') }),
      code: 'refused HeldBy',
    },
    {
      name: 'who has it open cannot be told',
      make: () => fixture.host.unseenOpeners.push('the open files and mounts of 1 process cannot be read'),
      code: 'failed UsersUnknown',
    },
    {
      name: 'its multipath map has a holder',
      make: () => [storage.map('dm-0', ['sdb']), storage.map('dm-5', ['dm-0'], 'LVM-x')],
      code: 'failed HeldBy',
    },
    {
      name: 'a partition of it is mounted',
      make: () => {
        storage.partition('sdb', 'sdb1', '8:17')
        fixture.host.mount('/mnt/part', { dev: '8:17', fsType: 'ext4' })
      },
      code: 'failed HeldBy',
    },
    {
      name: 'it is mounted in another mount namespace',
      make: () => {
        const table = parseMountinfo(`7 1 ${storage.devOf('sdb')} / /data rw - ext4 /dev/sdb rw\n`)
        fixture.host.namespaces = [{ pid: 7, process: 'app', table }]
      },
      code: 'failed HeldBy',
    },
    {
      name: 'a multipath map has a path of another volume',
      make: () => [storage.disk('sdx'), storage.map('dm-0', ['sdb', 'sdx'])],
      code: 'failed ForeignDevice',
    },
    {
      name: 'a multipath map is made again while it is flushed',
      make: () => storage.before('blockdev', () => storage.map('dm-0', ['sdb'])),
      code: 'failed HeldBy',
      commands: [FLUSH],
    },
    {
      name: 'multipath -f leaves the map',
      make: () => {
        storage.map('dm-0', ['sdb'])
        storage.answers.set('multipath', { status: 1, stdout: 'dm-0: map in use' })
      },
      code: 'failed CommandFailed',
      says: 'map in use',
      commands: ['multipath -f /dev/dm-0'],
    },
    {
      name: 'its name is given to a device of another number while it is flushed',
      make: () => storage.before('blockdev', () => storage.renumber('sdb', '8:240')),
      code: 'failed ForeignDevice',
      commands: [FLUSH],
    },
    {
      name: 'its name is given to a session of another target while it is flushed',
      make: () => storage.before('blockdev', () => storage.retarget(1, 'iqn.2003-01.test:other')),
      code: 'failed ForeignDevice',
      commands: [FLUSH],
    },
    {
      name: 'its name is given to another disk of the same address while it is flushed',
      make: () => {
        fixture.host.diskSequences.set('8:16', '12')
        storage.before('blockdev', () => fixture.host.diskSequences.set('8:16', '99'))
      },
      code: 'failed ForeignDevice',
      commands: [FLUSH],
    },
    {
      name: 'the session has it at another address than sysfs',
      make: () => storage.readdress('sdb', '9:0:0:7'),
      code: 'failed ForeignDevice',
    },
    {
      name: 'another device than this LUN was mounted',
      given: { disk: 'sdq' },
      make: () => {},
      code: 'failed ForeignDevice',
    },
    {
      name: 'another portal has the same LUN, and no record tells which it is',
      given: { disk: 'sdb', json: '' },
      make: () => storage.session(2, { iqn: IQN, portal: '10.0.0.2:3260' }, { 0: 'sdc' }),
      code: 'failed IdentityUnconfirmed',
    },
    {
      name: 'a session may be the same through a name',
      given: { portal: 'san-1:3260' },
      make: () => {},
      code: 'failed IscsiFailed',
    },
    {
      name: 'neither record nor directory tells anything',
      given: { portal: 'nonsense', json: null },
      make: () => {},
      code: 'failed IdentityUnconfirmed',
    },
    {
      name: 'iscsi.json is a link',
      make: () => fixture.host.files.set(at, { type: 'link', size: 9, text: recordOf({}) }),
      code: 'failed UnexpectedFile',
    },
    ...[{ lun: 1 }, { iface: 'eth9' }].map((other) => ({
      name: `iscsi.json is of another ${Object.keys(other)}`,
      make: () => fixture.host.file(at, recordOf(other)),
      code: 'failed IdentityUnconfirmed',
    })),
    {
      name: 'a loop device is on a file system that may hang, which nobody is asked about',
      make: () => {
        fixture.host.mount('/mnt/nfs', { fsType: 'nfs4' })
        fixture.host.file('/mnt/nfs/image').backingFiles.set('/dev/loop3', '/mnt/nfs/image')
      },
      code: 'failed HeldBy',
      says: 'possibly /dev/loop3',
    },
  ])('$name: $code', async ({ given = {}, make, code, says = '', commands = [] }) => {
    // Beside a disk of somebody else.
    session().disk('sdq')
    const planned = unmountDevice('a', given)
    make()
    const found = await run(planned)
    expect(found.states).toEqual({ a: code })
    expect(found.messages[0]).toContain(says)
    expect(found.commands).toEqual(commands)
    expect(found.log.some((line) => /^(?:unlink|rmdir) /.test(line))).toBe(false)
    expect(storage.disks()).toContain('sdb')
  })

  it.each([
    { name: 'the disk', make: () => {} },
    {
      name: 'a map with a partition',
      make: () => [storage.map('dm-0', ['sdb']), storage.partition('sdb', 'sdb1', '8:177')],
    },
  ])('its SCSI host is being recovered: nobody opens $name to find out', async ({ make }) => {
    session().recovering(1)
    make()
    const asked: string[] = []
    fixture.host.deviceUsers = (dev) => {
      asked.push(dev)
      return []
    }
    const { states, messages } = await run(unmountDevice('a'))
    expect(states).toEqual({ a: 'failed HeldBy' })
    expect(messages[0]).toContain('recovering the SCSI host of sdb')
    expect(asked).toEqual([])
  })

  it.each([
    { name: 'left alone', use: () => {} },
    { name: 'not said to be in use, although that is mounted', use: () => fixture.host.mount('/x', { dev: '8:48' }) },
  ])('an idle LUN’s name that is given to another target’s while the API is asked is $name', async ({ use }) => {
    session({ 0: 'sdb', 1: 'sdc' })
    onQuestion(2, () => {
      storage.removeDisk('sdc')
      storage.session(7, { iqn: `${IQN}7`, portal: '10.9.9.9:3260' }, { 5: 'sdc' })
      use()
    })
    const { states, commands } = await run()
    expect(states).toEqual({ a: 'failed ForeignDevice' })
    expect(commands).toEqual(remove('sdb'))
    expect(storage.disks()).toEqual(['sdc'])
  })
})

describe('iscsiadm', () => {
  it.each([
    { status: 2, want: 'failed IscsiFailed' },
    { status: 8, want: 'failed CommandFailed' },
  ])('ends with $status while the session is there: $want, and the record is kept', async ({ status, want }) => {
    session()
    storage.answers.set('iscsiadm', { status, stderr: 'iscsiadm: said so' })
    const { states, log } = await run(unmountDevice('a'))
    expect(states).toEqual({ a: want })
    expect(log.some((line) => line.startsWith('unlink') || line.startsWith('rmdir'))).toBe(false)
  })

  it('a target that hangs does not keep the others from being taken down', async () => {
    session()
    storage.session(2, { iqn: `${IQN}2`, portal: '10.0.0.2:3260' }, { 0: 'sdc' })
    const { programs } = fixture.host
    fixture.host.programs = (program, args, input) =>
      args[1] === '/dev/sdb' ? { status: undefined as never, timedOut: true } : programs(program, args, input)
    const { states } = await run(
      unmountDevice('a', { disk: 'sdb' }),
      unmountDevice('same', { lun: 1 }),
      unmountDevice('other', { iqn: `${IQN}2`, portal: '10.0.0.2:3260', disk: 'sdc' }),
    )
    expect(states).toEqual({ a: 'failed TimedOut', same: 'skipped StillAtWork', other: 'done' })
    expect(storage.sessions()).toEqual(['session1'])
  })

  it.each(['iscsiadm', 'multipath'])('or %s is not on this host: no disk is removed', async (program) => {
    session({ 0: 'sdb', 4: 'sdc' })
    storage.map('dm-0', ['sdb'])
    fixture.host.missing.add(program)
    const { states, commands, log } = await run(unmountDevice('a', { disk: 'dm-0' }))
    expect(states).toEqual({ a: 'failed CommandMissing' })
    expect(commands).toEqual([])
    expect(log).toHaveLength(1)
  })

  it('deletes an iface only where the kubelet cloned it for this volume', async () => {
    const iface = `${PORTAL}:pv-1`
    storage.session(1, { iqn: IQN, portal: PORTAL, iface }, { 0: 'sdb' })
    const json = recordOf({ iface }, { InitiatorName: 'iqn.2003-01.test:me' })
    const { commands } = await run(unmountDevice('a', { iface, disk: 'sdb', json }))
    expect(commands.slice(2)).toEqual([
      node('--logout', { iface }),
      node('-o delete', { iface }),
      `iscsiadm -m iface -I ${iface} -o delete`,
    ])
  })

  it.each([
    { name: 'another session goes through it', session: true, initiator: 'iqn.2003-01.test:me' },
    { name: 'the volume names no initiator', session: false, initiator: '' },
  ])('keeps it where $name', async ({ session, initiator }) => {
    const iface = `${PORTAL}:pv-1`
    if (session) storage.session(2, { iqn: `${IQN}2`, portal: PORTAL, iface }, {})
    const { states, commands } = await run(
      unmountDevice('a', { iface, json: recordOf({ iface }, { InitiatorName: initiator }) }),
    )
    expect(states).toEqual({ a: 'done' })
    expect(commands).toEqual([node('--logout', { iface }), node('-o delete', { iface })])
  })
})
