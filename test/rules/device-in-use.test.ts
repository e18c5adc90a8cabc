/** Who may have a device open that an unmap or an unstage takes away (S21, S24). */
import { writeFileSync } from 'node:fs'
import { beforeEach, expect, it } from 'vitest'
import type { Pod } from '../../src/core/kube/api/objects.ts'
import type { VolumeToMount } from '../../src/core/volumes/desired-state.ts'
import { Fixture, ROOT, step, withoutPauses } from '../apply/apply-fixture.ts'
import { recordDisks } from '../block/recorded-disks.ts'
import { csiVolume } from '../helpers/apply-plan.ts'

const OTHER = '22222222-2222-4222-8222-222222222222'
const MAP = `${ROOT}/plugins/kubernetes.io/csi/volumeDevices/pv/dev/11111111-1111-4111-8111-111111111111`

let fixture: Fixture
withoutPauses()
beforeEach(() => {
  fixture = new Fixture()
  const { host } = fixture
  host.blockTree = recordDisks(fixture.directory, [
    { name: 'vda', dev: '254:0' },
    { name: 'nbd0', dev: '43:0' },
    { name: 'sdb', dev: '8:16' },
    { name: 'dm-1', dev: '253:1', uuid: 'LVM-1', slaves: ['sdb'] },
    { name: 'dm-2', dev: '253:2', uuid: 'LVM-2', slaves: ['sdb'] },
  ])
  host.openers = [{ pid: 42, process: 'postgres', dev: '43:0' }]
})

const volume = { ...csiVolume(), mode: 'Block' as const }

async function unmap(): Promise<string> {
  fixture.host.file(MAP)
  const { code, state } = await fixture.applyOne({
    kind: 'UnmapVolume',
    volume: { ...volume, device: '43:0 /dev/nbd0' },
    steps: [step('unlink', MAP)],
  })
  return code ?? state
}

async function unstage(dev: string): Promise<string> {
  const at = `${ROOT}/plugins/kubernetes.io/csi/disk.test/abc/globalmount`
  const { code, state } = await fixture.applyOne(fixture.unstage(csiVolume(), at, { dev }))
  return code ?? state
}

/** Another pod of this node, in the API; of which the process is. */
function otherPod(wants: boolean): void {
  const pod = { metadata: { name: 'db', uid: OTHER }, spec: {}, status: { phase: 'Running' } } as Pod
  fixture.witness = { listed: new Set([OTHER]), alive: new Set([OTHER]), apiPods: [pod] }
  fixture.host.podProcesses.set(42, OTHER)
  fixture.given = { wanted: () => (wants ? ({} as VolumeToMount) : undefined) }
}

it('a process of nobody’s holds the map of a raw block volume; where not every process could be seen it may be in use (S3)', async () => {
  expect(await unmap()).toBe('HeldBy')
  fixture.host.openers = []
  fixture.host.unseenOpeners = ['what postgres (pid 42) uses could not be read in time']
  expect(await unmap()).toBe('UsersUnknown')
})

it('a process of another pod of this node that wants the volume does not', async () => {
  otherPod(true)
  expect(await unmap()).toBe('done')
})

it('a process of a pod that does not want it does', async () => {
  otherPod(false)
  expect(await unmap()).toBe('HeldBy')
})

it('what serves a network block device has it open until the driver ends it; nobody else may', async () => {
  expect(await unstage('43:0')).toBe('HeldBy')
  writeFileSync(`${fixture.directory}/devices/nbd0/pid`, '42\n')
  expect(await unstage('43:0')).toBe('done')
})

it('a logical volume is unstaged beside others of its disk, which are other pods’', async () => {
  fixture.host.openers = [{ pid: 42, process: 'postgres', dev: '253:2' }]
  expect(await unstage('253:1')).toBe('done')
  fixture.host.openers = [{ pid: 42, process: 'postgres', dev: '253:1' }]
  expect(await unstage('253:1')).toBe('HeldBy')
})
