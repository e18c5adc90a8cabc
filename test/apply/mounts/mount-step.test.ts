/** The calls of mount(8): upstream's TestMakeBindOpts (P124, P125). */
import { beforeEach, describe, expect, it } from 'vitest'
import type { StepOf } from '../../../src/core/volumes/steps.ts'
import { Fixture, POD, ROOT } from '../apply-fixture.ts'

const DIR = `${ROOT}/pods/${POD}/volumes/kubernetes.io~nfs/share`
const volume = {
  name: 'share',
  plugin: 'kubernetes.io/nfs',
  uniqueName: `kubernetes.io/nfs/${POD}-share`,
  mode: 'Filesystem' as const,
}

let fixture: Fixture
beforeEach(() => {
  fixture = new Fixture().wants(volume)
  fixture.host.dir(DIR)
})

const run = (given: Partial<StepOf<'mount'>>) =>
  fixture.applyOne({ kind: 'MountVolume', volume, steps: [{ op: 'mount', target: DIR, source: 'src', ...given }] })

describe('what is called', () => {
  beforeEach(() => {
    fixture.host.programs = (_, args) => {
      if (fixture.host.mounts.every(({ path }) => path !== DIR)) fixture.host.mount(args.at(-1) ?? '')
      return {}
    }
  })

  it.each<{ options: string[]; want: string[] }>([
    { options: ['vers=2', 'ro', '_netdev'], want: ['-o vers=2,ro,_netdev'] },
    { options: ['bind'], want: ['-o bind'] },
    { options: ['bind', 'vers=2', 'ro'], want: ['-o bind', '-o bind,remount,vers=2,ro'] },
    { options: ['bind', 'vers=2', 'ro', '_netdev'], want: ['-o bind,_netdev', '-o bind,remount,vers=2,ro,_netdev'] },
    { options: ['bind', 'remount', 'ro'], want: ['-o bind', '-o bind,remount,ro'] },
  ])('$options', async ({ options, want }) => {
    expect(await run({ options })).toMatchObject({ state: 'done' })
    expect(fixture.host.log).toEqual(want.map((each) => `mount ${each} src ${DIR}`))
  })
})

it.each([
  { has: 'rw', keeps: '' },
  { has: 'ro,nosuid,nodev,noexec,noatime,nodiratime,relatime', keeps: ',ro,nosuid,nodev,noexec,noatime,nodiratime' },
])(
  'what a bind mount has of its source is named again when it is given options (TestGetBindMountOptions): $has',
  async ({ has, keeps }) => {
    fixture.host.programs = () => {
      if (fixture.host.mounts.every(({ path }) => path !== DIR)) fixture.host.mount(DIR, { options: has })
      return {}
    }
    expect(await run({ options: ['bind', 'nosymfollow'] })).toMatchObject({ state: 'done' })
    expect(fixture.host.log.at(-1)).toBe(`mount -o bind,remount,nosymfollow${keeps} src ${DIR}`)
  },
)

it.each<[string, () => unknown, string]>([
  ['nothing', () => {}, 'failed DataUnderMountPoint'],
  ['an empty file', () => fixture.host.file(DIR), 'done'],
  ['a file with data', () => fixture.host.file(DIR, 'x'), 'failed DataUnderMountPoint'],
  ['a link', () => fixture.host.symlink('/x', DIR), 'failed DataUnderMountPoint'],
  ['a directory with data', () => fixture.host.file(`${DIR}/data`, 'x'), 'failed DataUnderMountPoint'],
  ['another mount', () => fixture.host.mount(DIR), 'failed ForeignMount'],
])('S22: what an earlier step leaves there decides: %s', async (_, make, ends) => {
  const other = { op: 'mount', target: `${DIR}-first`, source: 'first' } as const
  fixture.host.dir(other.target)
  fixture.host.programs = (__, args) => {
    const target = args.at(-1) ?? ''
    fixture.host.mount(target)
    if (target === DIR) return {}
    fixture.host.files.delete(DIR)
    make()
    return {}
  }
  const steps = [other, { op: 'mount', target: DIR, source: 'src' } as const]
  const { state, code } = await fixture.applyOne({ kind: 'MountVolume', volume, steps })
  expect([state, code].filter(Boolean).join(' ')).toBe(ends)
  expect(fixture.host.log.filter((line) => line.endsWith(` src ${DIR}`))).toHaveLength(ends === 'done' ? 1 : 0)
})
