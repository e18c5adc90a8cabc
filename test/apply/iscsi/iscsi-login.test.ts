/** MountVolume of iSCSI: what is run, in which order, and what is taken back when it fails (P72-P75; S22, S25). */
import { beforeEach, describe, expect, it } from 'vitest'
import type { PodVolumeSource } from '../../../src/core/model/objects.ts'
import { statesOf } from '../../helpers/apply-plan.ts'
import { Fixture, planOf, ROOT } from '../apply-fixture.ts'
import { FakeStorage } from '../fake-storage.ts'
import { FakeTarget } from '../fake-target.ts'
import { WANTING, type Wanted, wantVolume } from '../wanted.ts'

const IQN = 'iqn.2003-01.test:disk'
const PORTAL = '10.0.0.1:3260'
const SECOND = '10.0.0.2:3260'
const GLOBAL = `${ROOT}/plugins/kubernetes.io/iscsi/iface-default/${PORTAL}-${IQN}-lun-1`
const POD_DIR = `${ROOT}/pods/${WANTING}/volumes/kubernetes.io~iscsi/v`
const SOURCE = { targetPortal: '10.0.0.1', iqn: IQN, lun: 1, fsType: 'ext4' }
const RECORD = `${JSON.stringify({
  VolName: 'v',
  Portals: [PORTAL],
  Iqn: IQN,
  Lun: '1',
  InitIface: 'default',
  Iface: 'default',
  InitiatorName: '',
  MetricsProvider: null,
})}\n`

type Iscsi = NonNullable<PodVolumeSource['iscsi']>

let fixture: Fixture
let storage: FakeStorage
let target: FakeTarget
beforeEach(() => {
  fixture = new Fixture()
  fixture.given = { deviceWaitMs: 0 }
  fixture.host.dir(`${ROOT}/plugins`).dir(`${ROOT}/pods`)
  storage = new FakeStorage(fixture.host)
  target = new FakeTarget(fixture.host, storage)
  target.portal(PORTAL, { iqn: IQN, id: 1, luns: { 1: 'sdb' } })
})

async function run(source: Partial<Iscsi> = {}, wanted: Wanted = {}) {
  const operation = wantVolume(fixture, { iscsi: { ...SOURCE, ...source } }, wanted)
  const result = await fixture.apply(planOf([operation]))
  return {
    state: Object.values(statesOf(result))[0],
    message: result.outcomes[0]?.message ?? '',
    iscsiadm: fixture.host.log.filter((line) => line.startsWith('iscsiadm')),
    log: fixture.host.log.filter((line) => !/^(?:chmod|stat|readlink)/.test(line)),
  }
}

const show = (iface = 'default') => `iscsiadm -m iface -I ${iface} -o show`
const discovery = (rest: string, portal = PORTAL, iface = 'default') =>
  `iscsiadm -m discoverydb -t sendtargets -p ${portal} -I ${iface} ${rest}`
const node = (rest: string, portal = PORTAL, iface = 'default') =>
  `iscsiadm -m node -p ${portal} -T ${IQN} -I ${iface} ${rest}`
const logIn = (portal = PORTAL, iface = 'default') => [
  discovery('-o new', portal, iface),
  discovery('--discover', portal, iface),
  node('-o update -n node.session.scan -v manual', portal, iface),
  node('--login', portal, iface),
  `iscsiadm -m node -p ${portal} -T ${IQN} -o update -n node.startup -v manual`,
]
const logOut = (portal = PORTAL) => [node('--logout', portal), node('-o delete', portal)]
const scan = (host: number) => `tee -- ${storage.sys}/class/scsi_host/host${host}/scan <<< 0 0 1`
const left = () => [...fixture.host.files.keys()].filter((path) => path.includes('/iface-') || path.includes('~iscsi'))

it('writes the record, logs in, looks for the LUN alone, mounts it and binds it (P72-P75)', async () => {
  const { state, log } = await run({}, { fsGroup: 2000 })
  expect(state).toBe('done')
  const made = log.filter((line) => !line.startsWith('mkdir'))
  expect(made).toEqual([
    `write ${GLOBAL}/iscsi.json`,
    show(),
    ...logIn(),
    scan(1),
    'blkid -p -s TYPE -s PTTYPE -o export /dev/sdb',
    'fsck -a /dev/sdb',
    `mount -t ext4 -o defaults /dev/sdb ${GLOBAL}`,
    `mount -o bind ${GLOBAL} ${POD_DIR}`,
    expect.stringContaining(POD_DIR),
  ])
  expect(fixture.host.files.get(`${GLOBAL}/iscsi.json`)?.text).toBe(RECORD)
})

it('read-only, and by a PersistentVolume’s options', async () => {
  const { log } = await run({ readOnly: true })
  expect(log.filter((line) => line.startsWith('mount '))).toEqual([
    `mount -t ext4 -o ro,defaults /dev/sdb ${GLOBAL}`,
    `mount -o bind ${GLOBAL} ${POD_DIR}`,
    `mount -o bind,remount,ro ${GLOBAL} ${POD_DIR}`,
  ])
  expect(log).not.toContainEqual(expect.stringMatching(/^fsck/))
})

it('a session that is there is used, and its LUN scanned for only where it is not there', async () => {
  storage.session(1, { iqn: IQN, portal: PORTAL }, { 1: 'sdb' })
  storage.link('by-path', `ip-${PORTAL}-iscsi-${IQN}-lun-1`, 'sdb')
  const { state, log } = await run()
  expect(state).toBe('done')
  expect(log.filter((line) => /^(?:iscsiadm|tee)/.test(line))).toEqual([show()])
})

it.each([
  { name: 'another interface', session: { iqn: IQN, portal: PORTAL, iface: 'eth9' } },
  { name: 'a target whose name begins like it', session: { iqn: `${IQN}1`, portal: PORTAL } },
  { name: 'another portal', session: { iqn: IQN, portal: '10.0.0.10:3260' } },
])('a session of $name is another', async ({ session }) => {
  storage.session(7, session, { 1: 'sdx' })
  storage.link('by-path', `ip-${session.portal}-iscsi-${session.iqn}-lun-1`, 'sdx')
  const { state, iscsiadm, log } = await run()
  expect(state).toBe('done')
  expect(iscsiadm).toContain(node('--login'))
  expect(log).toContain(`mount -t ext4 -o defaults /dev/sdb ${GLOBAL}`)
})

it('of a portal by name the session is the one that came', async () => {
  target.portal('san-1:3260', { iqn: IQN, id: 4, address: '10.9.9.9:3260', luns: { 1: 'sdq' } })
  const { state, log } = await run({ targetPortal: 'san-1' })
  expect(state).toBe('done')
  expect(log).toContainEqual(expect.stringMatching(/^mount -t ext4 -o defaults \/dev\/sdq /))
})

describe('a portal by name that sysfs has by its address, which iscsiadm says there is a session through', () => {
  beforeEach(() => {
    storage.session(4, { iqn: IQN, portal: '10.9.9.9:3260' }, { 1: 'sdq' })
    storage.link('by-path', `ip-10.9.9.9:3260-iscsi-${IQN}-lun-1`, 'sdq')
    target.answers.set('--login', { status: 15, stderr: 'iscsiadm: session exists\n' })
  })

  it('is the one session that there is', async () => {
    const { state, log, iscsiadm } = await run({ targetPortal: 'san-1' })
    expect(state).toBe('done')
    expect(log).toContainEqual(expect.stringMatching(/^mount -t ext4 -o defaults \/dev\/sdq /))
    expect(iscsiadm.at(-1)).toMatch(/--login$/)
  })

  it('may be any of two', async () => {
    storage.session(5, { iqn: IQN, portal: '10.9.9.8:3260' }, {})
    const { state, iscsiadm } = await run({ targetPortal: 'san-1' })
    expect(state).toBe('failed IscsiFailed')
    expect(iscsiadm.at(-1)).toMatch(/--login$/)
  })
})

it('udev is waited for, without asking all the time', async () => {
  fixture.given = { deviceWaitMs: 10_000 }
  const tree = fixture.host.blockTree
  let asked = 0
  const links = (directory: 'by-path' | 'by-id') => (asked++ < 2 ? [] : tree.links(directory))
  fixture.host.blockTree = new Proxy(tree, {
    get: (of, name) => {
      const value: unknown = name === 'links' ? links : Reflect.get(of, name)
      return typeof value === 'function' ? value.bind(of) : value
    },
  })
  expect((await run()).state).toBe('done')
  expect(asked).toBeLessThan(8)
})

it('IPv6: the link has no brackets', async () => {
  target.portal('[fd00::1]:3260', { iqn: IQN, id: 5, luns: { 1: 'sdr' } })
  expect((await run({ targetPortal: '[fd00::1]:3260' })).state).toBe('done')
})

describe('several portals', () => {
  beforeEach(() => void target.portal(SECOND, { iqn: IQN, id: 2, luns: { 1: 'sdc' } }))

  it('all are logged in to, and the multipath map over the disks is mounted', async () => {
    fixture.given = { deviceWaitMs: 5000 }
    const scanned = fixture.host.programs
    fixture.host.programs = (program, args, input) => {
      const result = scanned(program, args, input)
      if (program === 'tee' && args[1]?.includes('/host2/')) storage.map('dm-0', ['sdb', 'sdc'])
      return result
    }
    const { state, log, iscsiadm } = await run({ portals: ['10.0.0.2', '10.0.0.1:3260'] })
    expect(state).toBe('done')
    expect(iscsiadm).toEqual([show(), ...logIn(), ...logIn(SECOND)])
    expect(log).toContain(`mount -t ext4 -o defaults /dev/dm-0 ${GLOBAL}`)
    expect(JSON.parse(fixture.host.files.get(`${GLOBAL}/iscsi.json`)?.text ?? '').Portals).toEqual([
      PORTAL,
      SECOND,
      PORTAL,
    ])
  })

  it('one is enough; the other is tried once more (P74)', async () => {
    target.answers.set(`-p ${SECOND} -I default --discover`, { status: 4, stderr: 'iscsiadm: cannot connect\n' })
    const { state, log, iscsiadm } = await run({ portals: [SECOND] })
    expect(state).toBe('done')
    expect(log).toContain(`mount -t ext4 -o defaults /dev/sdb ${GLOBAL}`)
    const failed = [discovery('-o new', SECOND), discovery('--discover', SECOND), discovery('-o delete', SECOND)]
    expect(iscsiadm).toEqual([show(), ...logIn(), ...failed, ...failed])
  })
})

describe('an interface of the volume’s own (initiatorName)', () => {
  const OWN = `${PORTAL}:v`
  const iface = (rest: string) => `iscsiadm -m iface -I ${OWN} ${rest}`
  const clone = [
    show(),
    iface('-o new'),
    iface('-o update -n iface.initiatorname -v iqn.2003-01.test:me'),
    iface('-o update -n iface.mtu -v 0'),
    iface('-o update -n iface.transport_name -v tcp'),
  ]

  it('is a clone of the one that is named, and the directory bears its name', async () => {
    const { state, iscsiadm } = await run({ initiatorName: 'iqn.2003-01.test:me' })
    expect(state).toBe('done')
    expect(iscsiadm).toEqual([...clone, ...logIn(PORTAL, OWN)])
    expect(left()).toContain(`${GLOBAL.replace('iface-default', `iface-${OWN}`)}/iscsi.json`)
  })

  it('is deleted again where the log-in fails', async () => {
    target.answers.set('--login', { status: 24, stderr: 'iscsiadm: authorization failure\n' })
    const { state, iscsiadm } = await run({ initiatorName: 'iqn.2003-01.test:me' })
    expect(state).toBe('failed IscsiFailed')
    expect(iscsiadm.at(-1)).toBe(iface('-o delete'))
    expect(left()).toEqual([])
  })

  it('is deleted again where a setting is refused', async () => {
    target.answers.set('iface.mtu', { status: 7, stderr: 'iscsiadm: invalid parameter\n' })
    const { state, iscsiadm, message } = await run({ initiatorName: 'iqn.2003-01.test:me' })
    expect(state).toBe('failed IscsiFailed')
    expect(message).toContain('invalid parameter')
    expect(iscsiadm).toEqual([...clone.slice(0, 4), iface('-o delete')])
  })
})

describe('where a program fails, what was made is taken back, the newest first', () => {
  it.each([
    {
      name: 'the interface is not there',
      fails: '-o show',
      state: 'failed IscsiFailed',
      commands: [show()],
    },
    {
      name: 'discovery',
      fails: '--discover',
      state: 'failed IscsiFailed',
      commands: [show(), discovery('-o new'), discovery('--discover'), discovery('-o delete')],
    },
    {
      name: 'log-in',
      fails: '--login',
      state: 'failed IscsiFailed',
      commands: [show(), ...logIn().slice(0, 4), node('-o delete')],
    },
    {
      name: 'nothing is on the device',
      fails: 'blkid',
      state: 'failed MountFailed',
      commands: [show(), ...logIn(), ...logOut()],
    },
    { name: 'mount', fails: 'mount -t', state: 'failed MountFailed', commands: [show(), ...logIn(), ...logOut()] },
    {
      name: 'bind',
      fails: 'mount -o bind',
      state: 'failed MountFailed',
      commands: [show(), ...logIn(), ...logOut()],
    },
  ])('$name', async ({ fails, state, commands }) => {
    target.answers.set(fails, { status: 6, stderr: 'iscsiadm: it said so\n' })
    const result = await run()
    expect(result.state).toBe(state)
    expect(result.message).toContain('it said so')
    expect(result.iscsiadm).toEqual(commands)
    expect([left(), storage.sessions(), storage.disks()]).toEqual([[], [], []])
    expect(fixture.host.mounts).toHaveLength(1)
  })

  it('settings that an old version does not know do not matter', async () => {
    target.answers.set('node.session.scan', { status: 7 })
    target.answers.set('node.startup', { status: 7 })
    expect((await run()).state).toBe('done')
  })

  it('a LUN that does not come', async () => {
    target.portal(PORTAL, { iqn: IQN, id: 1, luns: {} })
    const { state, message, iscsiadm } = await run()
    expect(state).toBe('failed DeviceMissing')
    expect(message).toContain(`LUN 1 of ${IQN} (session1) did not appear`)
    expect(iscsiadm).toEqual([show(), ...logIn(), ...logOut()])
    expect(left()).toEqual([])
  })

  it('a LUN that udev does not link, or links under a longer name', async () => {
    target.portal(PORTAL, { iqn: IQN, id: 1, luns: { 1: 'sdb' }, linked: false })
    storage.link('by-path', `ip-${PORTAL}-iscsi-${IQN}-lun-10`, 'sdb')
    const { state, message } = await run()
    expect(state).toBe('failed DeviceMissing')
    expect(message).toContain('is sdb, but udev has no link to it')
  })

  it('S25: a session that was there stays', async () => {
    storage.session(1, { iqn: IQN, portal: PORTAL }, {})
    target.answers.set('mount -t', { status: 32, stderr: 'mount: no\n' })
    const { state, iscsiadm, message } = await run()
    expect(state).toBe('failed MountFailed')
    expect(iscsiadm).toEqual([show()])
    expect(message).not.toContain('left as it is')
    expect([left(), storage.sessions()]).toEqual([[], ['session1']])
  })

  it('S25: a session that somebody uses meanwhile stays, with its record, and is named', async () => {
    target.answers.set('mount -t', { status: 32, stderr: 'mount: no\n' })
    const scanned = fixture.host.programs
    fixture.host.programs = (program, args, input) => {
      if (program === 'blkid') {
        storage.lun(1, 2, 'sdz')
        fixture.host.openers = [{ pid: 7, process: 'qemu', dev: storage.devOf('sdz') }]
      }
      return scanned(program, args, input)
    }
    const { state, iscsiadm, message } = await run()
    expect(state).toBe('failed MountFailed')
    expect(message).toContain('left as it is: the session of')
    expect(message).toContain('LUN 2 of the same session is in use (qemu (pid 7)')
    expect(iscsiadm).toEqual([show(), ...logIn()])
    expect([left(), storage.sessions()]).toEqual([expect.arrayContaining([`${GLOBAL}/iscsi.json`]), ['session1']])
  })

  it('after a call that was given up nothing more is touched', async () => {
    target.answers.set('--login', { timedOut: true })
    const { state, iscsiadm, message } = await run()
    expect(state).toBe('failed TimedOut')
    expect(iscsiadm.at(-1)).toBe(node('--login'))
    expect(message).toContain(`left as it is: directory`)
  })
})

it('without iscsiadm nothing is begun', async () => {
  fixture.host.missing.add('iscsiadm')
  const { state, log } = await run()
  expect([state, log]).toEqual(['failed CommandMissing', []])
})

it('a device node that is not the kernel’s disk is not mounted', async () => {
  fixture.host.deviceNumber = () => '8:99'
  const { state, log } = await run()
  expect(state).toBe('failed ForeignDevice')
  expect(log).not.toContainEqual(expect.stringMatching(/^mount/))
})

describe('run again', () => {
  it('after it was killed behind the log-in: the session and the record are used', async () => {
    storage.session(1, { iqn: IQN, portal: PORTAL }, { 1: 'sdb' })
    storage.link('by-path', `ip-${PORTAL}-iscsi-${IQN}-lun-1`, 'sdb')
    fixture.host.dir(GLOBAL).file(`${GLOBAL}/iscsi.json`, RECORD)
    const { state, log, iscsiadm } = await run()
    expect(state).toBe('done')
    expect(iscsiadm).toEqual([show()])
    expect(log).not.toContainEqual(expect.stringMatching(/^write/))
  })

  it('after it was killed behind the global mount: nothing is written into the volume’s own file system', async () => {
    storage.session(1, { iqn: IQN, portal: PORTAL }, { 1: 'sdb' })
    storage.link('by-path', `ip-${PORTAL}-iscsi-${IQN}-lun-1`, 'sdb')
    const there = fixture.host.mount(GLOBAL, { dev: storage.devOf('sdb'), fsType: 'ext4', source: '/dev/sdb' })
    expect(there.layers).toHaveLength(1)
    const { state, log } = await run()
    expect(state).toBe('done')
    expect(log.filter((line) => /^(?:write|mount)/.test(line))).toEqual([`mount -o bind ${GLOBAL} ${POD_DIR}`])
  })

  it('another disk on the global directory is in the way', async () => {
    storage.disk('sdx')
    fixture.host.mount(GLOBAL, { dev: storage.devOf('sdx'), fsType: 'ext4', source: '/dev/sdx' })
    const { state, iscsiadm } = await run()
    expect(state).toBe('failed ForeignMount')
    expect(iscsiadm).toEqual([show(), ...logIn(), ...logOut()])
  })

  it.each([
    { name: 'cut off', text: '{"VolName":' },
    { name: 'of other portals', text: RECORD.replace(PORTAL, SECOND) },
  ])('a record that is $name goes into the journal, and is written anew (S14)', async ({ text }) => {
    fixture.host.dir(GLOBAL).file(`${GLOBAL}/iscsi.json`, text)
    expect((await run()).state).toBe('done')
    expect(fixture.host.files.get(`${GLOBAL}/iscsi.json`)?.text).toBe(RECORD)
    expect(fixture.journal()).toContainEqual(expect.objectContaining({ type: 'stateFile', content: text }))
  })
})
