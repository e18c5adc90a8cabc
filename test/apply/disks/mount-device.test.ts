/** Upstream's TestSafeFormatAndMount without mkfs (P128, S15), and what a device may be busy with. */
import { beforeEach, describe, expect, it } from 'vitest'
import type { ApplyResult, Outcome } from '../../../src/core/plan/events.ts'
import type { StepOf } from '../../../src/core/plan/plan.ts'
import type { CommandResult } from '../../../src/core/trust/programs.ts'
import { Fixture, operation, planOf, ROOT } from '../apply-fixture.ts'

const GLOBAL = `${ROOT}/plugins/kubernetes.io/local-volume/mounts/pv`
const DEVICE = '/dev/sdb'
const PROBE = `blkid -p -s TYPE -s PTTYPE -o export ${DEVICE}`
const READ = `dd if=${DEVICE} of=/dev/null bs=65536 count=1`
const volume = {
  name: 'pv',
  plugin: 'kubernetes.io/local-volume',
  uniqueName: 'kubernetes.io/local-volume/pv',
  mode: 'Filesystem' as const,
}

type Script = Readonly<Record<string, Partial<CommandResult>>>

let fixture: Fixture
beforeEach(() => {
  fixture = new Fixture().wants(volume)
  fixture.host.dir(`${ROOT}/plugins`)
})

/** A device node, links resolved, and programs that answer as the script says; a mount that succeeds is there. */
function scripted(script: Script, stat = '61b0 8 10'): void {
  fixture.host.programs = (program, args) => {
    if (program === 'stat') return { stdout: `${stat} ${args.at(-1)}\n` }
    if (program === 'readlink') return { stdout: `${DEVICE}\n` }
    const answer = script[program] ?? {}
    if (program === 'mount' && (answer.status ?? 0) === 0)
      fixture.host.mount(args.at(-1) ?? '', { dev: '8:16', fsType: args[1] ?? '', source: DEVICE })
    return answer
  }
}

async function run(given: Partial<StepOf<'mountDevice'>> = {}) {
  const step: StepOf<'mountDevice'> = { op: 'mountDevice', target: GLOBAL, source: '/dev/disk/by-id/one', ...given }
  const result = await fixture.apply(planOf([operation('a', { kind: 'MountVolume', volume, steps: [step] })]))
  const { state, code, message, hint } = onlyOutcome(result)
  const commands = fixture.host.log.filter((line) => !/^(stat|readlink|mkdir|chmod|rmdir) /.test(line))
  return { state: code === undefined ? state : `${state} ${code}`, message, hint, commands }
}

const mountLine = (options: string, type = 'ext4') => `mount -t ${type} -o ${options} ${DEVICE} ${GLOBAL}`
const EXT4 = { stdout: 'DEVNAME=/dev/sdb\nTYPE=ext4\n' }
const NOTHING = { status: 2 }

describe('S15: a file system is checked and mounted, never made', () => {
  it.each<{
    name: string
    script: Script
    given?: Partial<StepOf<'mountDevice'>>
    state: string
    says?: string
    commands: string[]
  }>([
    {
      name: 'formatted, read-only',
      script: { blkid: EXT4 },
      given: { options: ['ro'] },
      state: 'done',
      commands: [PROBE, mountLine('ro,defaults')],
    },
    {
      name: 'formatted, writable',
      script: { blkid: EXT4 },
      state: 'done',
      commands: [PROBE, 'fsck -a /dev/sdb', mountLine('defaults')],
    },
    {
      name: 'unformatted, read-only',
      script: { blkid: NOTHING },
      given: { options: ['ro'] },
      state: 'failed FilesystemUnfit',
      says: 'finds no file system',
      commands: [PROBE, READ],
    },
    {
      name: 'unformatted, writable',
      script: { blkid: NOTHING },
      state: 'failed FilesystemUnfit',
      says: 'finds no file system',
      commands: [PROBE, READ],
    },
    {
      name: 'unformatted by blkid, and not to be read: nobody is told to format',
      script: { blkid: NOTHING, dd: { status: 1, stderr: "dd: error reading '/dev/sdb': Input/output error" } },
      state: 'failed MountFailed',
      commands: [PROBE, READ],
    },
    {
      name: 'not to be opened by blkid',
      script: { blkid: { status: 2, stderr: 'error: /dev/sdb: No such device or address' } },
      state: 'failed MountFailed',
      commands: [PROBE],
    },
    { name: 'blkid fails', script: { blkid: { status: 4 } }, state: 'failed MountFailed', commands: [PROBE] },
    {
      name: 'blkid is not understood',
      script: { blkid: { stdout: 'TYPE=a=b\n' } },
      state: 'failed MountFailed',
      commands: [PROBE],
    },
    {
      name: 'partitions',
      script: { blkid: { stdout: 'PTTYPE=dos\n' } },
      state: 'failed FilesystemUnfit',
      says: 'has a partition table',
      commands: [PROBE],
    },
    {
      name: 'partitions and another type',
      script: { blkid: { stdout: 'TYPE=vfat\nPTTYPE=dos\n' } },
      state: 'failed FilesystemUnfit',
      says: 'has a partition table',
      commands: [PROBE],
    },
    {
      name: 'remains of a partition table beside the wanted type',
      script: { blkid: { stdout: 'TYPE=ext4\nPTTYPE=dos\n' } },
      state: 'done',
      commands: [PROBE, 'fsck -a /dev/sdb', mountLine('defaults')],
    },
    ...[1, 2, 8, 16].map((status) => ({
      name: `fsck ends with ${status}: goes on`,
      script: { blkid: EXT4, fsck: { status } },
      state: 'done',
      commands: [PROBE, 'fsck -a /dev/sdb', mountLine('defaults')],
    })),
    {
      name: 'fsck leaves errors',
      script: { blkid: EXT4, fsck: { status: 4 } },
      state: 'failed FilesystemUnfit',
      says: 'fsck left errors',
      commands: [PROBE, 'fsck -a /dev/sdb'],
    },
    {
      name: 'the mount fails',
      script: { blkid: EXT4, mount: { status: 32, stderr: 'mount: bad superblock' } },
      state: 'failed MountFailed',
      commands: [PROBE, 'fsck -a /dev/sdb', mountLine('defaults')],
    },
    {
      name: 'another type than wanted, and the mount fails',
      script: { blkid: { stdout: 'TYPE=xfs\n' }, mount: { status: 32, stderr: 'mount: wrong fs type' } },
      state: 'failed FilesystemUnfit',
      says: 'but the volume asks for',
      commands: [PROBE, 'fsck -a /dev/sdb', mountLine('defaults')],
    },
    {
      name: 'ext4 where ext3 is wanted, and the kernel does not mind',
      script: { blkid: EXT4 },
      given: { fsType: 'ext3' },
      state: 'done',
      commands: [PROBE, 'fsck -a /dev/sdb', mountLine('defaults', 'ext3')],
    },
  ])('$name: $state', async ({ script, given, state, says = '', commands }) => {
    scripted(script)
    const outcome = await run(given)
    expect(outcome).toMatchObject({ state, commands })
    expect(outcome.message ?? '').toContain(says)
    expect(fixture.host.files.has(GLOBAL)).toBe(state === 'done')
  })

  it('names the command that a person would run', async () => {
    scripted({ blkid: NOTHING })
    expect((await run({ fsType: 'xfs' })).hint).toContain('mkfs.xfs /dev/sdb')
  })

  it('goes on without fsck', async () => {
    scripted({ blkid: EXT4 })
    fixture.host.missing.add('fsck')
    expect(await run()).toMatchObject({ state: 'done', commands: [PROBE, mountLine('defaults')] })
    expect(fixture.events).toContainEqual(expect.objectContaining({ message: expect.stringContaining('not checked') }))
  })
})

describe('what is at the path', () => {
  it.each([
    { name: 'a directory is used as it is', stat: '41ed 0 0', want: 'done' },
    { name: 'a character device', stat: '2190 1 3', want: 'failed InvalidPath' },
  ])('$name: $want', async ({ stat, want }) => {
    scripted({}, stat)
    expect(await run()).toMatchObject({ state: want, commands: [] })
    expect(fixture.host.files.has(GLOBAL)).toBe(false)
  })

  it('nothing any more', async () => {
    fixture.host.programs = () => ({ status: 1, stderr: "stat: cannot stat '/x': No such file or directory" })
    expect(await run()).toMatchObject({ state: 'failed InvalidPath', message: '/dev/disk/by-id/one does not exist' })
  })
})

describe('who has the device', () => {
  const own = `${ROOT}/pods/other/volumes/kubernetes.io~local-volume/pv`

  it('this very mount is used', async () => {
    scripted({ blkid: EXT4 })
    fixture.host.mount(GLOBAL, { dev: '8:16' })
    expect(await run()).toMatchObject({ state: 'done', commands: [] })
  })

  it('another mount in its place refuses it', async () => {
    scripted({ blkid: EXT4 })
    fixture.host.mount(GLOBAL, { dev: '8:32' })
    expect((await run()).state).toBe('failed ForeignMount')
  })

  it.each<{ name: string; arrange: () => void; who: string }>([
    { name: 'a mount elsewhere', arrange: () => fixture.host.mount('/srv', { dev: '8:16' }), who: '/srv' },
    { name: 'a loop device', arrange: () => fixture.host.backingFiles.set('/dev/loop7', DEVICE), who: '/dev/loop7' },
  ])('$name is named', async ({ arrange, who }) => {
    scripted({ blkid: EXT4 })
    arrange()
    expect(await run()).toMatchObject({
      state: 'failed HeldBy',
      message: expect.stringContaining(who),
      commands: who === '/dev/loop7' ? [expect.stringMatching(/^losetup --list /)] : [],
    })
  })

  it('a pod of the same volume is none, and what is mounted is not checked (O31)', async () => {
    scripted({ blkid: EXT4 })
    fixture.host.mount(own, { dev: '8:16' })
    expect(await run()).toMatchObject({ state: 'done', commands: [PROBE, mountLine('defaults')] })
  })
})

function onlyOutcome({ outcomes }: ApplyResult): Outcome {
  const [outcome, ...more] = outcomes
  if (outcome === undefined || more.length > 0) throw new Error('not one outcome')
  return outcome
}
