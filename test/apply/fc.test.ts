import { beforeEach, describe, expect, it } from 'vitest'
import type { Operation } from '../../src/core/plan/plan.ts'
import { releaseSteps } from '../../src/core/reconcile/unmount-detach-devices/unmount-other-devices.ts'
import { statesOf } from '../helpers/apply-plan.ts'
import { Fixture, operation, ROOT, step, withoutPauses } from './apply-fixture.ts'
import { FakeStorage } from './fake-storage.ts'

const PLUGIN = 'kubernetes.io/fc'
const NAME = '50060e801049cfd1-lun-1'
const LINK = 'pci-0000:05:00.0-fc-0x50060e801049cfd1-lun-1'

let fixture: Fixture
let storage: FakeStorage
withoutPauses()
beforeEach(() => {
  fixture = new Fixture()
  storage = new FakeStorage(fixture.host)
})

/** @param mounted the device's number and its source; undefined: nothing is mounted */
function unmountDevice(mounted?: { dev: string; source?: string; fsType?: string }, name = NAME): Operation {
  const target = `${ROOT}/plugins/kubernetes.io/fc/${name}`
  fixture.host.dir(target)
  const expects = mounted === undefined ? [] : [fixture.host.mount(target, { fsType: 'ext4', ...mounted })]
  return operation('a', {
    kind: 'UnmountDevice',
    volume: {
      name,
      uniqueName: `${PLUGIN}/${name}`,
      plugin: PLUGIN,
      mode: 'Filesystem',
      ...(mounted && { device: `${mounted.dev} ${mounted.source ?? '/dev/x'}` }),
    },
    steps: [...(mounted ? [step('umount', target)] : []), ...releaseSteps(PLUGIN, target)],
    expects,
  })
}

async function run(...operations: Operation[]) {
  const result = await fixture.apply(operations)
  return { states: statesOf(result), log: fixture.host.log }
}

const remove = (disk: string): string[] => [
  `blockdev --flushbufs /dev/${disk}`,
  `tee -- ${storage.sys}/block/${disk}/device/delete <<< 1`,
]

it('unmounts, flushes the multipath map, removes exactly its paths, and the directory (P81)', async () => {
  for (const disk of ['sdb', 'sdc', 'sdd']) storage.fc(disk)
  const dev = storage.map('dm-3', ['sdb', 'sdc'])
  const planned = unmountDevice({ dev, source: '/dev/mapper/mpatha' })
  const { states, log } = await run(planned)
  expect(states).toEqual({ a: 'done' })
  expect(log).toEqual([
    `umount plain ${planned.paths[0]}`,
    'multipath -f /dev/dm-3',
    ...remove('sdb'),
    ...remove('sdc'),
    `rmdir ${planned.paths[0]}`,
  ])
  expect(storage.disks()).toEqual(['sdd'])
})

it('a single path, and a mount of its partition', async () => {
  storage.fc('sdb')
  storage.partition('sdb', 'sdb1', '8:17')
  expect((await run(unmountDevice({ dev: '8:17' }))).states).toEqual({ a: 'done' })
  expect(storage.disks()).toEqual([])
})

it('S25: a map that is made while the disk is flushed keeps it', async () => {
  const dev = storage.fc('sdb')
  storage.before('blockdev', () => storage.map('dm-3', ['sdb']))
  const { states, log } = await run(unmountDevice({ dev }))
  expect(states).toEqual({ a: 'failed HeldBy' })
  expect(log.at(-1)).toBe('blockdev --flushbufs /dev/sdb')
})

it('open by somebody: nothing is begun (S25)', async () => {
  const dev = storage.fc('sdb')
  fixture.host.openers.push({ pid: 10, process: 'app', dev })
  expect(await run(unmountDevice({ dev }))).toEqual({ states: { a: 'refused HeldBy' }, log: [] })
})

describe('nothing is mounted any more, as after a tear-down that was ended half-way (R837)', () => {
  it('the device is the one that udev names whole', async () => {
    for (const disk of ['sdb', 'sdc', 'sdd']) storage.fc(disk)
    storage
      .link('by-path', LINK, 'sdb')
      .link('by-path', `${LINK}0`, 'sdc')
      .link('by-path', 'fc-0x50060e801049cfd10-lun-1', 'sdd')
    const { states, log } = await run(unmountDevice())
    expect(states).toEqual({ a: 'done' })
    expect(log.slice(0, -1)).toEqual(remove('sdb'))
    expect(storage.disks()).toEqual(['sdc', 'sdd'])
  })

  it('a WWID leads to its multipath map', async () => {
    for (const disk of ['sdb', 'sdc']) storage.fc(disk, { wwid: 'naa.600508b400105e21' })
    storage.map('dm-3', ['sdb', 'sdc'])
    storage.link('by-id', 'scsi-3600508b400105e21', 'dm-3').link('by-id', 'scsi-3600508b400105e210', 'sdz')
    expect((await run(unmountDevice(undefined, '3600508b400105e21'))).states).toEqual({ a: 'done' })
    expect(storage.disks()).toEqual([])
  })
})

describe('udev’s links are not believed alone', () => {
  const WWID = '3600508b400105e21'
  it.each([
    { name: 'stale, of another LUN', make: () => storage.fc('sdb', { address: '5:0:0:7' }) },
    { name: 'of what is behind no port', make: () => storage.disk('sdb') },
  ])('a link by path that is $name', async ({ make }) => {
    make()
    storage.link('by-path', LINK, 'sdb')
    expect(await run(unmountDevice())).toEqual({ states: { a: 'failed IdentityUnconfirmed' }, log: [] })
    expect(storage.disks()).toEqual(['sdb'])
  })

  it('a link by id to a disk with another identifier', async () => {
    storage.fc('sdb', { wwid: 'naa.600508b400105e210' })
    storage.link('by-id', `scsi-${WWID}`, 'sdb')
    expect((await run(unmountDevice(undefined, WWID))).states).toEqual({ a: 'failed IdentityUnconfirmed' })
    expect(storage.disks()).toEqual(['sdb'])
  })

  it.each([
    { name: NAME, make: () => storage.fc('sdb') },
    { name: WWID, make: () => storage.fc('sdb', { wwid: 'naa.600508b400105e21' }) },
  ])('a disk of $name that none leads to keeps the directory', async ({ name, make }) => {
    make()
    expect(await run(unmountDevice(undefined, name))).toEqual({ states: { a: 'failed IdentityUnconfirmed' }, log: [] })
  })

  it('a disk that was mounted must be of the directory’s name too', async () => {
    const dev = storage.fc('sdb', { address: '5:0:0:7' })
    expect((await run(unmountDevice({ dev }))).states).toEqual({ a: 'failed IdentityUnconfirmed' })
    expect(storage.disks()).toEqual(['sdb'])
  })
})

describe('the number of what was mounted was given again', () => {
  it.each([
    { name: 'a map', dev: '252:0', make: () => storage.map('dm-0', [storage.disk('sdc') && 'sdc'], 'mpath-other') },
    { name: 'a disk', dev: '8:16', make: () => storage.fc('sdb') },
  ])('since the plan, to $name: it is left alone', async ({ dev, make }) => {
    const planned = unmountDevice({ dev })
    fixture.host.mounts = fixture.host.mounts.filter((mount) => mount.dev !== dev)
    make()
    const disks = storage.disks()
    expect(await run(planned)).toEqual({ states: { a: 'failed IdentityUnconfirmed' }, log: [] })
    expect(storage.disks()).toEqual(disks)
  })

  it('since the unmount: it is left alone', async () => {
    storage.fc('sdb')
    fixture.host.diskSequences.set('8:16', '12')
    const planned = unmountDevice({ dev: '8:16' })
    fixture.host.beforeUmount = () => fixture.host.diskSequences.set('8:16', '99')
    const { states, log } = await run(planned)
    expect(states).toEqual({ a: 'failed ForeignDevice' })
    expect(log).toHaveLength(1)
  })
})

it('what is no SCSI disk is left alone', async () => {
  const planned = unmountDevice({ dev: storage.disk('sdb', { scsi: false }) })
  const { states, log } = await run(planned)
  expect(states).toEqual({ a: 'failed ForeignDevice' })
  expect(log).toEqual([`umount plain ${planned.paths[0]}`])
})

it('a block map: the device is the one that was bound on it', async () => {
  storage.fc('sdb')
  const dir = `${ROOT}/plugins/kubernetes.io/fc/volumeDevices/${NAME}`
  const volume = { name: NAME, uniqueName: `${PLUGIN}/${NAME}`, plugin: PLUGIN, mode: 'Block' as const }
  fixture.host.deviceNumber = (path) => (path === '/dev/sdb' ? '8:16' : undefined)
  const expects = [fixture.host.mount(`${dir}/uid`, { dev: '0:5', root: '/sdb', fsType: 'devtmpfs' })]
  fixture.host.file(`${dir}/uid`)
  const unmap = operation('a', {
    kind: 'UnmapVolume',
    volume,
    steps: [step('umount', `${dir}/uid`), step('unlink', `${dir}/uid`)],
    expects,
  })
  const unmapDevice = operation('b', { kind: 'UnmapDevice', volume, steps: releaseSteps(PLUGIN, dir), after: ['a'] })
  const { states, log } = await run(unmap, unmapDevice)
  expect(states).toEqual({ a: 'done', b: 'done' })
  expect(log.slice(2)).toEqual([...remove('sdb'), `rmdir ${dir}`])
})
