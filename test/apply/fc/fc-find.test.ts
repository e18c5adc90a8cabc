/** MountVolume of FC: which disk is taken for the volume's, and which is not (P79-P81; S25). */
import { beforeEach, describe, expect, it } from 'vitest'
import type { PodVolumeSource } from '../../../src/core/model/objects.ts'
import { statesOf } from '../../helpers/apply-plan.ts'
import { Fixture, planOf, ROOT } from '../apply-fixture.ts'
import { FakeStorage } from '../fake-storage.ts'
import { FakeTarget } from '../fake-target.ts'
import { WANTING, wantVolume } from '../wanted.ts'

const WWN = '50060e801049cfd1'
const LINK = `pci-0000:05:00.0-fc-0x${WWN}-lun-1`
const WWID = '3600508b400105e21'
const POD_DIR = `${ROOT}/pods/${WANTING}/volumes/kubernetes.io~fc/v`
const BY_WWN = { targetWWNs: [WWN], lun: 1 }

let fixture: Fixture
let storage: FakeStorage
let target: FakeTarget
beforeEach(() => {
  fixture = new Fixture()
  fixture.given = { deviceWaitMs: 0 }
  fixture.host.dir(`${ROOT}/plugins`).dir(`${ROOT}/pods`)
  storage = new FakeStorage(fixture.host)
  target = new FakeTarget(fixture.host, storage)
  for (const host of ['host3', 'host4']) storage.scsiHost(host, { fc: host === 'host3' })
})

async function run(fc: PodVolumeSource['fc'] = BY_WWN) {
  const operation = wantVolume(fixture, { fc: { fsType: 'ext4', ...fc } })
  const result = await fixture.apply(planOf([operation]))
  return {
    state: Object.values(statesOf(result))[0],
    message: result.outcomes[0]?.message ?? '',
    log: fixture.host.log.filter((line) => /^(?:tee|mount|fsck)/.test(line)),
  }
}

const global = (name: string) => `${ROOT}/plugins/kubernetes.io/fc/${name}`
const rescan = () => ['host3', 'host4'].map((host) => `tee -- ${storage.sys}/class/scsi_host/${host}/scan <<< - - -`)
const mounts = (device: string, name = `${WWN}-lun-1`) => [
  `fsck -a /dev/${device}`,
  `mount -t ext4 -o defaults /dev/${device} ${global(name)}`,
  `mount -o bind ${global(name)} ${POD_DIR}`,
]

it('a multipath map is taken at once', async () => {
  for (const disk of ['sdb', 'sdc']) storage.fc(disk)
  storage.map('dm-3', ['sdb', 'sdc'])
  storage.link('by-path', LINK, 'sdb')
  expect(await run()).toMatchObject({ state: 'done', log: mounts('dm-3') })
})

it('without a map every SCSI host looks once more, and the disk is taken (P80)', async () => {
  storage.fc('sdb')
  storage.link('by-path', LINK, 'sdb')
  expect(await run()).toMatchObject({ state: 'done', log: [...rescan(), ...mounts('sdb')] })
})

it('a disk that comes only then', async () => {
  target.onRescan = () => {
    if (storage.disks().includes('sdb')) return
    storage.fc('sdb')
    storage.link('by-path', LINK, 'sdb')
  }
  expect(await run()).toMatchObject({ state: 'done', log: [...rescan(), ...mounts('sdb')] })
})

it('by WWID, whose spaces udev writes as _', async () => {
  storage.fc('sdb', { wwid: 't10.VENDOR  36005' })
  storage.link('by-id', 'scsi-1VENDOR_36005', 'sdb')
  expect(await run({ wwids: ['1VENDOR 36005'] })).toMatchObject({
    state: 'done',
    log: [...rescan(), ...mounts('sdb', '1VENDOR_36005')],
  })
})

describe('names are compared whole, and the kernel has the last word', () => {
  it.each([
    { name: 'a longer LUN', make: () => storage.link('by-path', `${LINK}0`, 'sdb') },
    { name: 'a longer WWN', make: () => storage.link('by-path', `fc-0x${WWN}0-lun-1`, 'sdb') },
    { name: 'a partition', make: () => storage.link('by-path', `${LINK}-part1`, 'sdb') },
    { name: 'nothing', make: () => {} },
  ])('$name: no disk, and what was looked for is said', async ({ make }) => {
    storage.fc('sdb')
    make()
    const { state, message, log } = await run()
    expect(state).toBe('failed DeviceMissing')
    expect(message).toContain(`no disk is linked as fc-0x${WWN}-lun-1; the adapters host3 do not see it`)
    expect(log).toEqual(rescan())
    expect([...fixture.host.files.keys()].filter((path) => path.includes(WWN))).toEqual([])
  })

  it.each([
    { name: 'another LUN', fc: BY_WWN, given: { address: '5:0:0:7' } },
    { name: 'another port', fc: BY_WWN, given: { port: '0x50060e801049cfd2' } },
    {
      name: 'another WWID',
      fc: { wwids: [WWID] },
      given: { wwid: 'naa.600508b400105e22' },
    },
  ])('a stale link to $name', async ({ fc, given }) => {
    storage.fc('sdb', given)
    storage.link('by-path', LINK, 'sdb').link('by-id', `scsi-${WWID}`, 'sdb')
    const { state, log } = await run(fc)
    expect(state).toBe('failed IdentityUnconfirmed')
    expect(log).toEqual([])
  })
})

it('a host without an adapter says so', async () => {
  storage.withoutFcHosts()
  const { state, message } = await run({ wwids: [WWID] })
  expect(state).toBe('failed DeviceMissing')
  expect(message).toBe(`no disk is linked as scsi-${WWID}; this host has no Fibre Channel adapter (/sys/class/fc_host)`)
})

it('where the mount fails, no directory is left, and the disk stays', async () => {
  storage.fc('sdb')
  storage.link('by-path', LINK, 'sdb')
  target.answers.set('mount -t', { status: 32, stderr: 'mount: no\n' })
  expect((await run()).state).toBe('failed MountFailed')
  expect([...fixture.host.files.keys()].filter((path) => path.includes(WWN))).toEqual([])
  expect(storage.disks()).toEqual(['sdb'])
})
