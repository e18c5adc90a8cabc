/**
 * S-rules on a whole node with real parts: an API server over HTTPS, a CSI driver, a container runtime's socket, real
 * mounts and ext4 on loop devices, and the built volctl. Without anything wrong all of its plan is carried out (control),
 * so that what is left undone in the others is left for the rule's sake.
 */
import { describe, expect, it, onTestFailed } from 'vitest'
import { noCgroups } from '../../helpers/cgroup.ts'
import { inNamespace } from '../../helpers/in-namespace.ts'
import { noMounts } from '../../helpers/namespace.ts'

const WORKER = new URL('./rules.worker.ts', import.meta.url)

interface Found {
  readonly status: number
  readonly blocked: readonly string[]
  readonly problems: readonly string[]
  readonly undone: readonly string[]
  readonly done: number
  readonly detached: number
  readonly unchanged: boolean
  readonly saw?: unknown
}

/** What was not done, and why, is told where a count is not as it should be. */
async function run(scenario: string): Promise<Found> {
  const found = await inNamespace<Found>(WORKER, scenario)
  onTestFailed(() => console.error(JSON.stringify(found)))
  return found
}

describe.skipIf(noMounts !== undefined)(
  `S-rules on a broken node${noMounts === undefined ? '' : ` (${noMounts})`}`,
  () => {
    it('control: where nothing is wrong all of it is done', async () => {
      const { stderr: _, ...found } = await inNamespace<Found & { stderr: string }>(WORKER, 'control')
      const all = { status: 0, blocked: [], problems: [], undone: [], done: 14, detached: 3, unchanged: true }
      expect(found).toEqual(all)
    })

    it('S4: a volume of a living pod that cannot be read holds back every unstage and detach', async () => {
      const found = await run('S4')
      expect(found).toMatchObject({ status: 3, done: 9, detached: 0, unchanged: true, saw: 0 })
      expect(found.blocked).toHaveLength(5)
      for (const each of found.blocked) expect(each).toMatch(/^(UnmountDevice|DetachVolume) .*: MayBeInUse$/)
    })

    it('S4: a pod whose volumes cannot be used holds back what is its own, and nothing else', async () => {
      const { undone, ...found } = await run('S4bad')
      expect(found).toMatchObject({
        status: 0,
        blocked: [],
        problems: ['MayBeInUse'],
        done: 13,
        detached: 2,
        unchanged: true,
      })
      expect(undone).toEqual([])
    })

    it('S5: a pod that lives keeps its mounts though its claim is deleted', async () => {
      expect(await run('S5')).toMatchObject({ problems: ['MayBeInUse'], unchanged: true, saw: [2, 2] })
    })

    it('S9: a runtime that knows none of the pods that live is no witness, and nothing of a pod is undone', async () => {
      expect(await run('S9')).toMatchObject({
        status: 3,
        problems: ['AlivenessUnknown', 'RuntimeUnknown'],
        undone: ['DetachVolume vol-old: skipped AlivenessUnknown', 'UnmountDevice vol-old: refused AlivenessUnknown'],
        // What is merely attached, and of no pod.
        done: 1,
        unchanged: true,
      })
    })

    it('S9: a pod that nothing here knows holds every device', async () => {
      const found = await run('S9unknown')
      expect(found).toMatchObject({ status: 3, problems: ['UnknownPodProcess'], done: 9, detached: 0, unchanged: true })
      expect(found.blocked).toHaveLength(5)
      for (const each of found.blocked) expect(each).toMatch(/^(UnmountDevice|DetachVolume) .*: UnknownPodProcess$/)
    })

    it.skipIf(noCgroups !== undefined)(
      `S9: the pods of a kubelet in a container use no volume of this node${noCgroups === undefined ? '' : ` (${noCgroups})`}`,
      async () => {
        expect(await run('S9nested')).toMatchObject({
          ...{ status: 0, blocked: [], problems: [], undone: [], done: 14, detached: 3, unchanged: true, saw: true },
        })
      },
    )

    it("S10: the directory of a static pod with a UID of its manifest's own is left alone, mount and all", async () => {
      const found = await run('S10')
      expect(found).toMatchObject({ problems: ['MayBeStatic', 'StaticPodsUnmatched'], done: 14, saw: 'x' })
    })

    it('S11: while a kubelet runs only what pods that are gone have left for long is undone, and no device', async () => {
      expect(await inNamespace(WORKER, 'S11')).toEqual(['RemoveOrphanPodDir: done', 'UnmountVolume: done'])
    })

    it('S12: a bind mount of the same device below an emptyDir keeps it, and what is behind', async () => {
      expect(await run('S12')).toMatchObject({
        blocked: ['UnmountVolume scratch: ForeignMount'],
        done: 12,
        unchanged: true,
        saw: ['access.log'],
      })
    })

    it('S13: data goes only with --orphans, and what is no data of an emptyDir never', async () => {
      expect(await inNamespace(WORKER, 'S13')).toEqual({
        without: { status: 0, code: true, note: true, data: true },
        with: { note: true, data: false },
      })
    })

    it('S13: a file whose name is not UTF-8 is data of an emptyDir as well, and keeps any other directory', async () => {
      expect(await inNamespace(WORKER, 'S13names')).toEqual({
        without: { code: true, data: true },
        counted: [{ files: 1, bytes: 4 }],
        kept: 2,
        undone: [],
        with: { data: false, strays: [true, true] },
      })
    })

    it('S18: of what the root directory hides, bound over itself, nothing is touched; it is done once that is gone', async () => {
      expect(await inNamespace(WORKER, 'S18covered')).toEqual({
        blocked: 11,
        // What the pod that lives had is not mounted where it would look.
        ofLiving: ['MountVolume password: ForeignMount', 'MountVolume pv-common: ForeignMount'],
        // What is mounted nowhere.
        done: ['DetachVolume pv-idle: done', 'UnmountVolume scratch: done', 'UnmountVolume settings: done'],
        kept: true,
        later: 11,
        status: 0,
      })
    })

    it('S18: a directory that is bound over itself, and shared, hides copies alone, which go with their mounts', async () => {
      expect(await inNamespace(WORKER, 'S18shared')).toEqual({ twice: 2, status: 0, done: 14, ends: 14 })
    })

    it('S14: a state file stays while its driver is away', async () => {
      const found = await run('S14')
      expect(found).toMatchObject({ status: 3, detached: 1, unchanged: true, saw: true })
      expect(found.blocked).toContain('UnmountVolume pv-common: DriverUnavailable')
    })

    it('S16: where the driver fails the kernel is not asked instead', async () => {
      expect(await run('S16')).toMatchObject({
        undone: ['RemoveOrphanPodDir -: skipped DriverFailed', 'UnmountVolume pv-common: failed DriverFailed'],
        unchanged: true,
        saw: true,
      })
    })

    it('S17: a PersistentVolume that was made anew does not tell the handle of what is staged under its name', async () => {
      const found = await run('S17')
      expect(found).toMatchObject({ status: 3, detached: 2, unchanged: true, saw: true })
      expect(found.blocked).toEqual([expect.stringMatching(/^UnmountDevice [0-9a-f]{64}: IdentityUnconfirmed$/)])
    })

    it('S18: a foreign mount over a volume blocks it and stays', async () => {
      expect(await run('S18')).toMatchObject({
        blocked: ['UnmountVolume pv-common: ForeignMount'],
        done: 12,
        unchanged: true,
        saw: 'x',
      })
    })

    it('S21: what a second PersistentVolume shares the handle of is not detached', async () => {
      expect(await run('S21handle')).toMatchObject({
        blocked: ['DetachVolume vol-old: AttachmentUnclear'],
        done: 13,
        detached: 2,
      })
    })

    it('S22: nothing is mounted over a file, which stays', async () => {
      expect(await run('S22')).toMatchObject({
        status: 3,
        blocked: ['MountVolume memory: DataUnderMountPoint'],
        undone: [],
        done: 14,
        unchanged: true,
        saw: ['x', false],
      })
    })

    it('S23: changed content is not written unasked', async () => {
      expect(await run('S23')).toMatchObject({
        blocked: ['RemountVolume password: NotAsked'],
        done: 14,
        unchanged: true,
        saw: 'open sesame',
      })
    })

    it('S24: what somebody else has mounted as well is not unstaged, nor detached', async () => {
      const found = await run('S24')
      expect(found).toMatchObject({ done: 12, detached: 2, unchanged: true })
      expect(found.blocked).toEqual(['DetachVolume vol-old: Predecessor', 'UnmountDevice vol-old: HeldBy'])
      expect(found.saw).not.toBe('')
    })

    it('S28: times in the future or of zero count as just now', async () => {
      expect(await inNamespace(WORKER, 'S28')).toEqual({ future: 0, zero: 0, past: 4 })
    })

    it('S30: what another node has attached, too, against its access mode is neither unstaged nor detached', async () => {
      expect(await run('S30')).toMatchObject({
        blocked: ['DetachVolume vol-old: TwoWriters', 'UnmountDevice vol-old: TwoWriters'],
        done: 12,
        detached: 2,
        unchanged: true,
      })
    })

    it('S31: before the question stand cluster, machine, kubelet, guards, volumes and bytes', async () => {
      const { text, server } = await inNamespace<{ text: string; server: string }>(WORKER, 'S31')
      for (const shown of [
        'worker-1 (matches the Node object; boot ',
        `${server} as kubernetes-admin`,
        'stopped (kubelet.service inactive)',
        '3 pod directories, 2 orphaned',
        '1 file, 17 B',
        '.example.com',
        'ReadWriteOnce',
      ])
        expect(text).toContain(shown)
    })
  },
)
