/** Upstream's TestSafeFormatAndMount without mkfs (P128, S15), and what a device may be busy with. */
import { beforeEach, describe, expect, it } from 'vitest'
import { parseMountinfo } from '../../../src/core/linux/parse-mountinfo.ts'
import type { CommandResult } from '../../../src/core/trust/programs.ts'
import type { StepOf } from '../../../src/core/volumes/steps.ts'
import { DEVICE, Fixture, localVolume, ROOT } from '../apply-fixture.ts'

const GLOBAL = `${ROOT}/plugins/kubernetes.io/local-volume/mounts/pv`
const PROBE = `blkid -p -s TYPE -s PTTYPE -o export ${DEVICE}`
const READ = `dd if=${DEVICE} of=/dev/null bs=65536 count=1`
const volume = localVolume('pv')

type Script = Readonly<Record<string, Partial<CommandResult>>>

let fixture: Fixture
beforeEach(() => {
  fixture = new Fixture().wants(volume)
  fixture.host.dir(`${ROOT}/plugins`)
})

/** A device node, links resolved, and programs that answer as the script says; a mount that succeeds is there. */
function scripted(script: Script, stat?: string): void {
  fixture.onDevice((program, args) => {
    const answer = script[program] ?? {}
    if (program === 'mount' && (answer.status ?? 0) === 0)
      fixture.host.mount(args.at(-1) ?? '', { dev: '8:16', fsType: args[1] ?? '', source: DEVICE })
    return answer
  }, stat)
}

async function run(given: Partial<StepOf<'mountDevice'>> = {}) {
  const step: StepOf<'mountDevice'> = { op: 'mountDevice', target: GLOBAL, source: '/dev/disk/by-id/one', ...given }
  const { end: state, message } = await fixture.applyOne({ kind: 'MountVolume', volume, steps: [step] })
  const commands = fixture.host.log.filter((line) => !/^(stat|readlink|mkdir|chmod|rmdir) /.test(line))
  return { state, message, commands }
}

const mountLine = (options: string, type = 'ext4') => `mount -t ${type} -o ${options} ${DEVICE} ${GLOBAL}`
const EXT4 = { stdout: 'DEVNAME=/dev/sdb\nTYPE=ext4\n' }
const NOTHING = { status: 2 }
const IO_ERROR = { status: 1, stderr: "dd: error reading '/dev/sdb': Input/output error" }
const [UNFIT, FAILED] = ['failed FilesystemUnfit', 'failed MountFailed']
const FSCK = 'fsck -a /dev/sdb'
const ALL = [PROBE, FSCK, mountLine('defaults')]
const READ_ONLY = { options: ['ro'] }

describe('S15: a file system is checked and mounted, never made', () => {
  it.each<[string, Script, state: string, commands: string[], says?: string, given?: Partial<StepOf<'mountDevice'>>]>([
    ['formatted, read-only', { blkid: EXT4 }, 'done', [PROBE, mountLine('ro,defaults')], '', READ_ONLY],
    ['formatted, writable', { blkid: EXT4 }, 'done', ALL],
    ['unformatted, read-only', { blkid: NOTHING }, UNFIT, [PROBE, READ], 'finds no file system', READ_ONLY],
    ['unformatted, writable', { blkid: NOTHING }, UNFIT, [PROBE, READ], 'finds no file system'],
    // Nobody is told to format.
    ['unformatted by blkid, and not to be read', { blkid: NOTHING, dd: IO_ERROR }, FAILED, [PROBE, READ]],
    [
      'not to be opened by blkid',
      { blkid: { ...NOTHING, stderr: 'error: /dev/sdb: No such device' } },
      FAILED,
      [PROBE],
    ],
    ['blkid fails', { blkid: { status: 4 } }, FAILED, [PROBE]],
    ['blkid is not understood', { blkid: { stdout: 'TYPE=a=b\n' } }, FAILED, [PROBE]],
    ['partitions', { blkid: { stdout: 'PTTYPE=dos\n' } }, UNFIT, [PROBE], 'has a partition table'],
    [
      'partitions and another type',
      { blkid: { stdout: 'TYPE=vfat\nPTTYPE=dos\n' } },
      UNFIT,
      [PROBE],
      'has a partition',
    ],
    [
      'remains of a partition table beside the wanted type',
      { blkid: { stdout: 'TYPE=ext4\nPTTYPE=dos\n' } },
      'done',
      ALL,
    ],
    ...[1, 2, 8, 16].map((status) => {
      const row: [string, Script, string, string[]] = [
        `fsck: ${status}`,
        { blkid: EXT4, fsck: { status } },
        'done',
        ALL,
      ]
      return row
    }),
    ['fsck leaves errors', { blkid: EXT4, fsck: { status: 4 } }, UNFIT, [PROBE, FSCK], 'fsck left errors'],
    ['the mount fails', { blkid: EXT4, mount: { status: 32, stderr: 'mount: bad superblock' } }, FAILED, ALL],
    [
      'another type than wanted, and the mount fails',
      { blkid: { stdout: 'TYPE=xfs\n' }, mount: { status: 32, stderr: 'mount: wrong fs type' } },
      UNFIT,
      ALL,
      'but the volume asks for',
    ],
    // The kernel does not mind.
    ['ext4 for ext3', { blkid: EXT4 }, 'done', [PROBE, FSCK, mountLine('defaults', 'ext3')], '', { fsType: 'ext3' }],
  ])('%s, %j: %s', async (_, script, state, commands, says = '', given = {}) => {
    scripted(script)
    const outcome = await run(given)
    expect(outcome).toMatchObject({ state, commands })
    expect(outcome.message ?? '').toContain(says)
    expect(fixture.host.files.has(GLOBAL)).toBe(state === 'done')
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

  it('S36: what lies on a file system that does not answer is not looked at', async () => {
    scripted({ blkid: EXT4 })
    fixture.host.mount('/srv', { fsType: 'nfs4' })
    fixture.host.dead.add('/srv')
    expect(await run({ source: '/srv/disk' })).toMatchObject({ state: 'failed InvalidPath' })
    expect(fixture.host.log.filter((line) => line.startsWith('stat '))).toEqual([])
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
    { name: 'a loop device', arrange: () => fixture.host.backingFiles.set('/dev/loop7', DEVICE), who: '/dev/loop7' },
    {
      name: 'the kernel',
      arrange: () => fixture.host.uses.set('8:16', ['the kernel, which swaps to it']),
      who: 'swaps',
    },
    {
      name: 'another mount namespace',
      arrange: () => {
        const table = parseMountinfo('7 1 8:16 / /data rw - ext4 /dev/sdb rw\n')
        fixture.host.namespaces.push({ pid: 7, process: 'app', table })
      },
      who: 'app (pid 7)',
    },
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

  it('a raw device is not mapped while it is mounted, be it by a pod of the same volume (S30)', async () => {
    scripted({})
    fixture.host.mount(own, { dev: '8:16' })
    const steps = [{ op: 'mapDevice' as const, target: `${GLOBAL}-map`, source: DEVICE }]
    expect((await fixture.applyOne({ kind: 'MapVolume', volume, steps })).end).toBe('failed HeldBy')
  })
})
