/** MountVolume by flexVolume drivers: the calls, what is believed, and what is taken back (P85-P88; S22). */
import { beforeEach, describe, expect, it } from 'vitest'
import type { PodVolumeSource } from '../../../src/core/model/objects.ts'
import type { CommandResult } from '../../../src/core/trust/programs.ts'
import { statesOf } from '../../helpers/apply-plan.ts'
import { node } from '../../helpers/node-builder.ts'
import { Fixture, planOf, ROOT } from '../apply-fixture.ts'
import { WANTING, wantVolume } from '../wanted.ts'

const DRIVER = '/usr/libexec/kubernetes/kubelet-plugins/volume/exec/v~d/d'
const DIR = `${ROOT}/pods/${WANTING}/volumes/v~d/v`
const GLOBAL = `${ROOT}/plugins/kubernetes.io/flexvolume/v/d/mounts/v`
const SUCCESS = { status: 'Success' }
const NOT_SUPPORTED = { status: 'Not supported' }
const FAILURE = { status: 'Failure', message: 'no such export' }

let fixture: Fixture
let attach: boolean
/** What the driver answers, by its call; one without an answer succeeds. */
let answers: Record<string, object>
/** Calls that mount something on their directory. */
let mounting: Set<string>
beforeEach(() => {
  fixture = new Fixture()
  fixture.host.dir(`${ROOT}/plugins`).dir(`${ROOT}/pods`)
  attach = false
  answers = {}
  mounting = new Set(['mount', 'mountdevice'])
  fixture.host.programs = (program, args) => (program === DRIVER ? driver(args) : kernel(program, args))
})

function driver([call = '', path = '']: readonly string[]): Partial<CommandResult> {
  if (mounting.has(call)) fixture.host.mount(path, { dev: '8:1', fsType: 'ext4' })
  if (call === 'unmount' || call === 'unmountdevice') fixture.host.mounts.splice(1)
  const said = answers[call] ?? (call === 'init' ? { ...SUCCESS, capabilities: { attach } } : SUCCESS)
  return { stdout: `${JSON.stringify(said)}\n`, status: 'status' in said && said.status === 'Success' ? 0 : 1 }
}

function kernel(program: string, args: readonly string[]): Partial<CommandResult> {
  const last = args.at(-1) ?? ''
  if (program === 'stat') return { stdout: `61b0 8 1 ${last}\n` }
  if (program === 'readlink') return { stdout: `${last}\n` }
  if (program === 'blkid') return { stdout: 'TYPE=ext4\n' }
  if (program === 'mount') fixture.host.mount(last, { dev: '8:1', fsType: 'ext4', source: '/dev/sdb' })
  return {}
}

async function run(
  source: Partial<NonNullable<PodVolumeSource['flexVolume']>> = {},
  { attached = false, devicePath = '/dev/sdb', fsGroup = undefined as number | undefined } = {},
) {
  const built = node()
  built.flexDrivers = [{ name: 'v/d', executable: DRIVER }]
  const flexVolume = { driver: 'v/d', ...source }
  const group = fsGroup === undefined ? {} : { fsGroup }
  const operation = wantVolume(fixture, { flexVolume }, { attached, devicePath, built, ...group })
  const result = await fixture.apply(planOf([operation]))
  const calls = fixture.host.log.filter((line) => line.startsWith(DRIVER) || /^(?:mount|blkid|fsck)/.test(line))
  return {
    state: Object.values(statesOf(result))[0],
    message: result.outcomes[0]?.message ?? '',
    calls: calls.map((line) => line.replace(DRIVER, 'd')),
    log: fixture.host.log,
  }
}

const options = (more: object = {}) => ({
  'kubernetes.io/fsType': '',
  'kubernetes.io/pvOrVolumeName': 'v',
  'kubernetes.io/readwrite': 'rw',
  ...more,
})
const podOptions = (more: object = {}) => ({
  ...options(),
  'kubernetes.io/pod.name': 'app',
  'kubernetes.io/pod.namespace': 'default',
  'kubernetes.io/pod.uid': WANTING,
  'kubernetes.io/serviceAccount.name': '',
  ...more,
})
const json = (value: object) =>
  JSON.stringify(Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))))
const MOUNT = `d mount ${DIR} ${json(podOptions())}`
const left = () => [...fixture.host.files.keys()].filter((path) => path.includes('v~d') || path.includes('flexvolume/'))

describe('a driver that does not attach', () => {
  it('is asked whether it does, and mounts (P85, P88)', async () => {
    const { state, calls, log } = await run()
    expect(state).toBe('done')
    expect(calls).toEqual(['d init', MOUNT])
    expect(log).toContain(`mkdir ${DIR}`)
  })

  it('is given the options of the volume, which win, and of the pod (P87)', async () => {
    const { calls } = await run(
      { fsType: 'xfs', readOnly: true, options: { share: 'a b', 'kubernetes.io/fsType': 'own' } },
      { fsGroup: 2000 },
    )
    expect(calls[1]).toBe(
      `d mount ${DIR} ${json(
        podOptions({
          'kubernetes.io/fsType': 'own',
          'kubernetes.io/readwrite': 'ro',
          'kubernetes.io/mounterArgs.FsGroup': '2000',
          share: 'a b',
        }),
      )}`,
    )
  })

  it('that does not mount either has nothing to bind', async () => {
    answers = { mount: NOT_SUPPORTED }
    mounting.clear()
    const { state, message } = await run()
    expect(state).toBe('failed DriverFailed')
    expect(message).toMatch(/nothing is mounted on \S+ to bind-mount/)
    expect(left().filter((path) => path === DIR)).toEqual([])
  })
})

describe('a driver that attaches', () => {
  beforeEach(() => {
    attach = true
  })

  it('waits until the Node lists the volume: nothing is mounted before (S22)', async () => {
    const { state, calls } = await run()
    expect(state).toBe('refused NotAttached')
    expect(calls).toEqual(['d init'])
    expect(left()).not.toContain(DIR)
  })

  it('gives the device, mounts it and binds it', async () => {
    answers = { waitforattach: { ...SUCCESS, device: '/dev/sdq' } }
    const { state, calls } = await run({}, { attached: true })
    expect(state).toBe('done')
    expect(calls).toEqual([
      'd init',
      `d waitforattach /dev/sdb ${json(options())}`,
      `d mountdevice ${GLOBAL} /dev/sdq ${json(options())}`,
      MOUNT,
    ])
  })

  it('leaves to volctl what it does not support: the Node’s device, checked and mounted, and a bind', async () => {
    answers = { waitforattach: NOT_SUPPORTED, mountdevice: NOT_SUPPORTED, mount: NOT_SUPPORTED }
    mounting.clear()
    const { state, calls } = await run({ fsType: 'ext4' }, { attached: true })
    expect(state).toBe('done')
    expect(calls.slice(-5)).toEqual([
      'blkid -p -s TYPE -s PTTYPE -o export /dev/sdb',
      'fsck -a /dev/sdb',
      `mount -t ext4 -o rw,defaults /dev/sdb ${GLOBAL}`,
      expect.stringMatching(/^d mount /),
      `mount -o bind ${GLOBAL} ${DIR}`,
    ])
  })

  it('and has no device is not given one (P87)', async () => {
    answers = { waitforattach: NOT_SUPPORTED, mountdevice: NOT_SUPPORTED }
    mounting.delete('mountdevice')
    const { state, calls } = await run({}, { attached: true, devicePath: '' })
    expect(state).toBe('done')
    expect(calls.slice(1)).toEqual([
      `d waitforattach  ${json(options())}`,
      `d mountdevice ${GLOBAL}  ${json(options())}`,
      MOUNT,
    ])
  })

  it('whose mount fails: its device is unmounted by the driver again', async () => {
    answers = { mount: FAILURE }
    mounting.delete('mount')
    const { state, calls } = await run({}, { attached: true })
    expect(state).toBe('failed DriverFailed')
    expect(calls.at(-1)).toBe(`d unmountdevice ${GLOBAL}`)
    expect(left().filter((path) => path === DIR || path === GLOBAL)).toEqual([])
    expect(fixture.host.mounts).toHaveLength(1)
  })

  it('that gives a device that is no path', async () => {
    answers = { waitforattach: { ...SUCCESS, device: '--help' } }
    const { state, calls } = await run({}, { attached: true })
    expect(state).toBe('failed DriverFailed')
    expect(calls).toHaveLength(2)
  })
})

describe('a failure leaves neither mount nor directory', () => {
  it.each([
    { name: 'init', given: { init: FAILURE }, calls: ['d init'] },
    { name: 'mount', given: { mount: FAILURE }, calls: ['d init', MOUNT] },
    { name: 'mount, with words that are no JSON', given: { mount: [] }, calls: ['d init', MOUNT] },
  ])('$name', async ({ given, calls }) => {
    answers = given
    mounting.clear()
    const result = await run()
    expect(result.state).toBe('failed DriverFailed')
    expect(result.calls).toEqual(calls)
    expect(left()).not.toContain(DIR)
  })

  it('of a driver that has mounted all the same', async () => {
    answers = { mount: FAILURE }
    const { state, calls } = await run()
    expect(state).toBe('failed DriverFailed')
    expect(calls).toEqual(['d init', MOUNT, `d unmount ${DIR}`])
    expect(fixture.host.mounts).toHaveLength(1)
    expect(left()).not.toContain(DIR)
  })

  it('Success without a mount is not believed (S27)', async () => {
    mounting.clear()
    const { state, calls, message } = await run()
    expect(state).toBe('failed DriverFailed')
    expect(message).toContain('nothing is mounted there')
    expect(calls).toEqual(['d init', MOUNT, `d unmount ${DIR}`])
    expect(left()).not.toContain(DIR)
  })

  it('a call that was given up may still be at work: nothing is touched, and what is there is named', async () => {
    const others = fixture.host.programs
    fixture.host.programs = (program, args) => (args[0] === 'mount' ? { timedOut: true } : others(program, args))
    const { state, message } = await run()
    expect(state).toBe('failed TimedOut')
    expect(message).toContain(`directory ${DIR}`)
    expect(left()).toContain(DIR)
  })
})

it.each([
  { name: 'its own', fsGroup: false, want: 0 },
  { name: 'volctl’s', fsGroup: true, want: 1 },
  { name: 'volctl’s where it says nothing', fsGroup: undefined, want: 1 },
])('the group of the files is $name to see to (P88)', async ({ fsGroup, want }) => {
  answers = { init: { ...SUCCESS, capabilities: { attach: false, fsGroup } } }
  const { state, log } = await run({}, { fsGroup: 2000 })
  expect(state).toBe('done')
  expect(log.filter((line) => line.startsWith('changeOwnership'))).toHaveLength(want)
})

it('data in the directory is not mounted over', async () => {
  fixture.host.file(`${DIR}/file`)
  const { state, calls } = await run()
  expect(state).toBe('failed DataUnderMountPoint')
  expect(calls).toEqual(['d init'])
})
