import { beforeEach, describe, expect, it } from 'vitest'
import { parseMountinfo } from '../../src/core/linux/parse-mountinfo.ts'
import { readLazilyDetached } from '../../src/core/node/read-lazily-detached.ts'
import { GrpcError } from '../../src/core/rpc/grpc-status.ts'
import type { ContentLook } from '../../src/core/users/content-look.ts'
import type { ExpectedMount, Step } from '../../src/core/volumes/steps.ts'
import { csiVolume, statesOf } from '../helpers/apply-plan.ts'
import { Fixture, operation, POD, planOf, ROOT, step, withoutPauses } from './apply-fixture.ts'
import { OUTCOMES } from './grpc-outcomes.ts'

const DIR = `${ROOT}/pods/${POD}/volumes/kubernetes.io~csi/pv`
const TARGET = `${DIR}/mount`
const volume = csiVolume()

let fixture: Fixture
withoutPauses()
beforeEach(() => {
  fixture = new Fixture()
})

async function run(steps: readonly Step[], expects: readonly ExpectedMount[] = [], paths?: string[]) {
  const outcome = await fixture.applyOne({ volume, steps, expects, paths })
  return { state: outcome.end, outcome }
}

/** What a CSI driver does to its target: takes this many layers away. */
function driverTakes(count: number) {
  fixture.driver = (_, path) => {
    for (let i = 0; i < count; i++) fixture.host.take(path)
  }
}

describe('the driver first (S16, R441)', () => {
  const teardown = [step('NodeUnpublishVolume', TARGET), step('unlink', `${DIR}/vol_data.json`), step('rmdir', DIR)]

  it('removes target, state file and directory once it has answered', async () => {
    const expects = [fixture.host.mount(TARGET, { dev: '8:1', fsType: 'ext4' })]
    fixture.host.file(`${DIR}/vol_data.json`, '{"driverName":"disk.test"}')
    driverTakes(1)
    expect((await run(teardown, expects)).state).toBe('done')
    expect(fixture.calls).toEqual([`NodeUnpublishVolume vol-1 ${TARGET}`])
    expect(fixture.host.log).toEqual([`rmdir ${TARGET}`, `unlink ${DIR}/vol_data.json`, `rmdir ${DIR}`])
  })

  it('fails, and removes nothing, when it says OK and the mount is still there (T141, R832)', async () => {
    const expects = [fixture.host.mount(TARGET)]
    driverTakes(0)
    expect((await run(teardown, expects)).state).toBe('failed DriverFailed')
    expect(fixture.host.log).toEqual([])
  })

  it('undoes the layers that the driver left of a stack (O23)', async () => {
    const own = { dev: '8:1', fsType: 'ext4' }
    fixture.host.mount(TARGET, own)
    fixture.host.mount(TARGET, own)
    const expects = [fixture.host.mount(TARGET, own)]
    driverTakes(1)
    expect((await run([teardown[0] as Step], expects)).state).toBe('done')
    expect(fixture.host.log).toEqual([`umount plain ${TARGET}`, `umount plain ${TARGET}`, `rmdir ${TARGET}`])
  })

  it('keeps what lies in the directory that it left', async () => {
    fixture.host.file(`${TARGET}/data`, 'data')
    expect((await run(teardown)).state).toBe('failed UnexpectedFile')
    expect(fixture.host.files.has(`${TARGET}/data`)).toBe(true)
  })

  it.each(OUTCOMES)(
    '$code: $state, in the driver’s words, and nothing is removed (C76)',
    async ({ code, state: want }) => {
      fixture.driver = () => {
        throw new GrpcError(code, 'said the driver', 'NodeUnpublishVolume')
      }
      const { state, outcome } = await run(teardown)
      expect(state).toBe(want)
      expect(outcome?.message).toContain('said the driver')
      expect(outcome?.hint).toBeTruthy()
      expect(fixture.host.log).toEqual([])
    },
  )

  it.each(['NOT_FOUND', 'INTERNAL'] as const)(
    '%s of an unstage: it fails, and keeps its record (C125)',
    async (code) => {
      fixture.driver = () => {
        throw new GrpcError(code, 'said the driver', 'NodeUnstageVolume')
      }
      const record = `${TARGET}/vol_data.json`
      fixture.host.file(record, '{}')
      expect((await run([step('NodeUnstageVolume', TARGET), step('unlink', record)])).state).toMatch(/^failed /)
      expect(fixture.host.files.has(record)).toBe(true)
    },
  )

  it.each(['NodeUnpublishVolume', 'NodeUnstageVolume'] as const)(
    'waits for a pending call (C119): %s',
    async (method) => {
      let calls = 0
      fixture.driver = () => {
        if (calls++ === 0) throw new GrpcError('ABORTED', 'pending', method)
      }
      expect((await run([step(method, TARGET)])).state).toBe('done')
      expect(calls).toBe(2)
    },
  )

  it('is given up at the deadline, and the volume left alone', async () => {
    fixture.given = { timeoutMs: 20 }
    fixture.driver = () => new Promise(() => {})
    const other = operation('b', { volume, pod: { uid: 'other' }, steps: [step('NodeUnpublishVolume', `${TARGET}2`)] })
    const result = await fixture.apply([operation('a', { volume, steps: teardown }), other])
    expect(statesOf(result)).toEqual({ a: 'failed TimedOut', b: 'skipped StillAtWork' })
  })

  it('must be there', async () => {
    fixture.driver = undefined
    expect((await run(teardown)).state).toBe('failed DriverUnavailable')
  })
})

describe('umount', () => {
  it.each([
    { fsType: 'tmpfs', detail: undefined, how: 'plain' },
    { fsType: 'nfs4', detail: undefined, how: 'careful' },
    { fsType: 'ext4', detail: 'dead', how: 'careful' },
    { fsType: 'nfs4', detail: 'force', how: 'force' },
  ])('$fsType, detail $detail: $how', async ({ fsType, detail, how }) => {
    const expects = [fixture.host.mount(DIR, { fsType })]
    expect((await run([step('umount', DIR, detail)], expects)).state).toBe('done')
    expect(fixture.host.log).toEqual([`umount ${how} ${DIR}`])
  })

  it('is forced though the root directory that is bound over itself shows a copy, which is no other mount (S19, O35)', async () => {
    const shared = { fields: 'shared:1', dev: '254:0', fsType: 'ext4' }
    const root = '/var/lib/kubelet'
    fixture.host.mounts = [{ id: 1, ...shared, root: '/', path: '/' }]
    fixture.host.mounts.push({ id: 2, ...shared, root, path: root })
    const expects = [fixture.host.mount(DIR, { fsType: 'nfs', dev: '0:50', parentId: 2 })]
    // It is seen elsewhere, too: in the peer that the root directory is bound from.
    fixture.host.mounts.push({ id: 3, ...shared, root, path: '/kubelet' })
    const copy = { fsType: 'nfs', dev: '0:50', parentId: 3, path: `/kubelet${DIR.slice(root.length)}` }
    fixture.host.mount(copy.path, copy)
    const { state, outcome } = await run([step('umount', DIR, 'force')], expects)
    // The kernel of this test leaves the copy, and that is said; it is not refused.
    expect(state).toBe('failed HeldBy')
    expect(outcome?.message).toContain('a copy of the mount remains')
    expect(fixture.host.log).toContain(`umount force ${DIR}`)
  })

  it('is not forced where the connection has another mount, here or in another namespace (S19)', async () => {
    const nfs = { fsType: 'nfs', dev: '0:50' }
    const expects = [fixture.host.mount(DIR, nfs)]
    const steps = [step('umount', DIR, 'force')]
    const there = parseMountinfo('90 1 0:50 / /srv rw - nfs server:/share rw\n')
    fixture.host.namespaces = [{ pid: 7, process: 'app', table: there }]
    const elsewhere = await run(steps, expects)
    expect(elsewhere.state).toBe('refused SharedConnection')
    expect(elsewhere.outcome?.message).toContain('the mount namespace of app (pid 7)')
    fixture.host.namespaces = []
    fixture.host.mount('/srv', nfs)
    expect((await run(steps, expects)).state).toBe('refused SharedConnection')
    expect(fixture.host.log).toEqual([])
  })

  it.each([
    {
      how: 'force',
      why: 'SharedConnection',
      change: () => void fixture.host.mount('/srv', { fsType: 'nfs', dev: '0:52' }),
    },
    { how: 'lazy', why: 'FlagWithoutEffect', change: () => void fixture.host.dead.delete(TARGET) },
  ])('S26: $how is judged again right before each of several: $why', async ({ how, why, change }) => {
    const { host } = fixture
    const paths = [DIR, TARGET]
    const expects = paths.map((path, index) => host.mount(path, { fsType: 'nfs', dev: `0:${51 + index}` }))
    for (const path of paths) host.dead.add(path)
    host.superblockGone = () => true
    host.beforeUmount = change
    const steps = paths.map((path) => step('umount', path, how))
    expect((await run(steps, expects)).state).toBe(`failed ${why}`)
    expect(host.log).toEqual([`umount ${how} ${DIR}`])
  })

  it('is lazy only for a dead mount that nobody holds, and nothing follows (S20)', async () => {
    const expects = [fixture.host.mount(DIR, { fsType: 'nfs' })]
    const steps = [step('umount', DIR, 'lazy'), step('rmdir', DIR)]
    const alive = await run(steps, expects)
    expect(alive.state).toBe('refused FlagWithoutEffect')
    expect(alive.outcome?.message).toContain('answers, so it is not dead')
    fixture.host.dead.add(DIR)
    fixture.host.holders = [{ pid: 42, process: 'tail', what: 'cwd', path: DIR }]
    expect((await run(steps, expects)).state).toBe('refused HeldBy')
    fixture.host.holders = []
    fixture.host.unseen = ['who uses it was not read']
    expect((await run(steps, expects)).state).toBe('refused UsersUnknown')
    fixture.host.unseen = []
    expect((await run(steps, expects)).state).toBe('done DetachedLazily')
    expect(fixture.host.log).toEqual([`umount lazy ${DIR}`])
    expect(fixture.journal()).toContainEqual(expect.objectContaining({ type: 'lazy', path: DIR }))
    const { bootID } = planOf([])
    const remembered = readLazilyDetached(`${fixture.directory}/journal`, bootID, parseMountinfo(''), () => false)
    expect(remembered).toMatchObject({ detached: [{ path: DIR }] })
  })
})

describe('removing', () => {
  it.each([`${DIR}/inner`, DIR])('is refused where %s was mounted since the plan (S18)', async (path) => {
    fixture.host.dir(DIR)
    fixture.host.mount(path, { fsType: 'tmpfs' })
    expect((await run([step('rmdir', DIR)])).state).toBe('refused ForeignMount')
    expect(fixture.host.log).toEqual([])
  })

  it('is idempotent: what is gone is fine (R837)', async () => {
    expect((await run([step('unlink', `${DIR}/ready`), step('rmdir', DIR)])).state).toBe('done')
  })

  it.each(
    (['unlink', 'rmdir'] as const).flatMap((op) => [
      { op, name: 'an empty leaf', text: '', want: /^done$/ },
      { op, name: 'a leaf with data', text: 'data', want: /^failed / },
    ]),
  )('$op of $name of a subPath: $want', async ({ op, text, want }) => {
    const leaf = `${ROOT}/pods/${POD}/volume-subpaths/pv/app/0`
    fixture.host.file(leaf, text)
    expect((await run([step(op, leaf)])).state).toMatch(want)
    expect(fixture.host.files.has(leaf)).toBe(text !== '')
  })

  it('removes nothing while the mounts of another namespace are unknown, and names its process (S3)', async () => {
    fixture.host.dir(DIR)
    const unseen = 'its mount table is larger than 4 MiB'
    fixture.host.namespaces = [{ pid: 7, process: 'app', table: parseMountinfo(''), unseen }]
    const { state, outcome } = await run([step('rmdir', DIR)])
    expect(state).toBe('failed UsersUnknown')
    expect(outcome?.message).toContain(`the mount namespace of app (pid 7) could not be read: ${unseen}`)
    expect(fixture.host.files.has(DIR)).toBe(true)
  })

  it('refuses a pod directory in which something new is (all or nothing)', async () => {
    const directory = `${ROOT}/pods/${POD}`
    fixture.host.file(`${directory}/etc-hosts`, 'x').file(`${directory}/new`, 'x')
    const steps = [step('unlink', `${directory}/etc-hosts`), step('rmdir', directory)]
    const result = await fixture.apply([operation('a', { kind: 'RemoveOrphanPodDir', steps })])
    expect(statesOf(result)).toEqual({ a: 'refused UnexpectedFile' })
    expect(fixture.host.log).toEqual([])
  })
})

describe('content and loop devices', () => {
  it('looks anew at what a dead mount covered: no look before the unmount has seen it (S12)', async () => {
    const { host } = fixture
    const covered = `${DIR}-covered`
    for (const dir of [DIR, covered]) host.file(`${dir}/data`, 'x')
    const expects = [host.mount(covered, { fsType: 'fuse.x' })]
    host.dead.add(covered)
    host.superblockGone = () => true
    const seen: object[] = []
    host.lookForUsers = async (search) => ({ table: search?.table, unseen: [] }) as unknown as ContentLook
    host.contentHolders = async ({ table }, { path }) => {
      seen.push({ path, mounts: table.at(path).length })
      return host.findHolders({ paths: [path] })
    }
    const dead = [{ path: covered, error: 'ENOTCONN' }]
    const steps = [step('umount', covered, 'lazy'), step('deleteContent', covered)]
    const result = await fixture.apply([
      operation('a', { steps: [step('deleteContent', DIR)] }),
      operation('b', { steps, expects, dead }),
    ])
    expect(statesOf(result)).toEqual({ a: 'done', b: 'done' })
    expect(seen.at(-1)).toEqual({ path: covered, mounts: 0 })
  })

  it.each([
    { name: 'released', file: `${DIR}/dev/x`, busy: false, want: 'done' },
    { name: 'on a file that was removed', file: `${DIR}/dev/x (deleted)`, busy: false, want: 'done' },
    { name: 'given to somebody else', file: '/other', busy: false, want: 'failed ForeignDevice' },
    { name: 'still open', file: `${DIR}/dev/x`, busy: true, want: 'failed HeldBy' },
  ])('a loop device that is $name: $want', async ({ file, busy, want }) => {
    if (file !== undefined) fixture.host.backingFiles.set('/dev/loop9', file)
    if (busy) fixture.host.busy.add('/dev/loop9')
    expect((await run([step('losetup -d', '/dev/loop9')], [], [`${DIR}/dev/x`])).state).toBe(want)
  })
})
