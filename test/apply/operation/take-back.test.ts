/** What is taken back where a step fails, and what is left because it may be somebody else's (S11, S26, S30). */
import { beforeEach, describe, expect, it } from 'vitest'
import { StepFailed, VolctlError } from '../../../src/core/messages/findings.ts'
import type { CommandResult } from '../../../src/core/trust/programs.ts'
import type { Step } from '../../../src/core/volumes/steps.ts'
import { DEVICE, Fixture, localVolume, operation, POD, ROOT } from '../apply-fixture.ts'

const DIR = `${ROOT}/pods/${POD}/volumes/kubernetes.io~local-volume/pv`
const GLOBAL = `${ROOT}/plugins/kubernetes.io/local-volume/mounts/pv`

let fixture: Fixture
beforeEach(() => {
  fixture = new Fixture().wants(localVolume('pv'))
  fixture.host.dir(DIR).dir(`${ROOT}/plugins`)
})

const run = (...steps: Step[]) => fixture.applyOne({ kind: 'MountVolume', volume: localVolume('pv'), steps })

const bind: Step = { op: 'mount', target: DIR, source: '/src', options: ['bind', 'ro'] }
const mkdir: Step = { op: 'mkdir', target: `${DIR}/below` }
const mountsOn = (path: string) => fixture.host.mounts.filter((each) => each.path === path).length
const isRemount = (args: readonly string[]) => args.some((each) => each.includes('remount'))

/** mount(8) that mounts what it is told, and then what the script says of it. */
function mounting(answer: (args: readonly string[]) => Partial<CommandResult>, given: { dev?: string } = {}): void {
  fixture.onDevice((program, args) => {
    if (program === 'blkid') return { stdout: 'TYPE=ext4\n' }
    if (program !== 'mount') return {}
    if (!isRemount(args)) fixture.host.mount(args.at(-1) ?? '', { source: DEVICE, ...given })
    return answer(args)
  })
}

describe('the mount of this operation goes', () => {
  it('where its options cannot even be asked for: it is writable, and was to be read-only', async () => {
    mounting((args) => {
      if (isRemount(args))
        throw new VolctlError({ code: 'CommandFailed', message: 'mount could not be started: spawn EAGAIN' })
      return {}
    })
    expect(await run(bind)).toMatchObject({ state: 'failed', code: 'CommandFailed' })
    expect(mountsOn(DIR)).toBe(0)
  })

  it('where another device than the one that was looked at is mounted', async () => {
    mounting(() => ({}), { dev: '8:32' })
    expect(await run({ op: 'mountDevice', target: GLOBAL, source: DEVICE })).toMatchObject({
      state: 'failed',
      code: 'ForeignMount',
    })
    expect(mountsOn(GLOBAL)).toBe(0)
    expect(fixture.host.files.has(GLOBAL)).toBe(false)
  })
})

describe('nothing of somebody else’s goes', () => {
  it('a mount that was there first, by the word of the kernel', async () => {
    mounting(() => ({ status: 32, stderr: `mount: ${DIR}: /src already mounted or mount point busy.` }))
    const outcome = await run({ op: 'mount', target: DIR, source: '/src' })
    expect(outcome).toMatchObject({ state: 'failed', message: expect.stringContaining('left as it is') })
    expect(mountsOn(DIR)).toBe(1)
  })

  it('two mounts where one was made: whose is which nobody can tell', async () => {
    mounting(() => {
      fixture.host.mount(DIR)
      return {}
    })
    const outcome = await run({ op: 'mount', target: DIR, source: '/src' })
    expect(outcome).toMatchObject({ state: 'failed', code: 'ForeignMount' })
    expect(mountsOn(DIR)).toBe(2)
  })

  it('what a kubelet that came meanwhile may count on', async () => {
    mounting((args) => {
      if (!isRemount(args)) return {}
      fixture.kubelet = { running: true, mayReturn: true }
      return { status: 32, stderr: 'mount: no' }
    })
    const outcome = await run(bind)
    expect(outcome).toMatchObject({ state: 'failed', message: expect.stringContaining(`the mount on ${DIR}`) })
    expect(mountsOn(DIR)).toBe(1)
  })
})

it.each([
  { comes: false, says: /^no space$/, undone: ['undone'] },
  { comes: true, says: /^no space; left as it is: the first file$/, undone: [] },
])('of content that could be written in part what was made goes, unless a kubelet came: $comes', async (given) => {
  const plugin = 'kubernetes.io/projected'
  const volume = { name: 'v', plugin, uniqueName: `${plugin}/v`, mode: 'Filesystem' as const }
  const pod = { metadata: { name: 'p', namespace: 'n', uid: POD }, spec: {} }
  const source = { name: 'v', projected: { sources: [] } }
  fixture.wants({ ...volume, source, pod, podVolumeNames: [] } as never)
  fixture.host.mount(DIR, { fsType: 'tmpfs' })
  const undone: string[] = []
  fixture.host.writeAtomically = async (_path, { made }) => {
    made.push({ what: 'the first file', back: () => void undone.push('undone') })
    if (given.comes) fixture.kubelet = { running: true, mayReturn: true }
    throw new StepFailed({ code: 'WriteFailed', message: 'no space' })
  }
  const steps: Step[] = [{ op: 'writeContent', target: `${DIR}/..data` }]
  const outcome = await fixture.applyOne({ kind: 'MountVolume', volume, steps })
  expect([outcome.code, undone]).toEqual(['WriteFailed', given.undone])
  expect(outcome.message).toMatch(given.says)
})

it('an undo that hangs leaves the volume alone from then on', async () => {
  fixture.host.hanging.add(DIR)
  mounting((args) => (isRemount(args) ? { status: 32, stderr: 'mount: no' } : {}))
  const volume = localVolume('pv')
  const { outcomes } = await fixture.apply([
    operation('a', { kind: 'MountVolume', volume, steps: [bind] }),
    operation('b', { kind: 'MountVolume', volume, steps: [mkdir] }),
  ])
  expect(outcomes.map(({ code }) => code)).toEqual(['MountFailed', 'StillAtWork'])
})

it('two volumes of one device are never at work at once: the second finds the first (S30)', async () => {
  const [one, other] = [localVolume('pv'), localVolume('pv2')]
  const OTHER = '22222222-2222-4222-8222-222222222222'
  const pod = { name: 'q', namespace: 'n', uid: OTHER }
  fixture.volumes = [
    { ...one, podUid: POD },
    { ...other, podUid: OTHER },
  ] as never
  const { witness } = fixture
  fixture.witness = { ...witness, apiPods: [...witness.apiPods, { metadata: pod, spec: {} }] }
  mounting(() => ({}), { dev: '8:16' })
  const second = GLOBAL.replace(/pv$/, 'pv2')
  const { outcomes } = await fixture.apply([
    operation('a', {
      kind: 'MountVolume',
      volume: one,
      steps: [{ op: 'mountDevice', target: GLOBAL, source: '/dev/disk/by-id/one' }],
    }),
    operation('b', {
      kind: 'MountVolume',
      pod,
      volume: other,
      steps: [{ op: 'mountDevice', target: second, source: '/dev/disk/by-path/one' }],
    }),
  ])
  expect(outcomes.map(({ state, code }) => code ?? state)).toEqual(['done', 'HeldBy'])
})
