/** What a person is told of the states that nodes break in. */
import { describe, expect, it } from 'vitest'
import type { Explanation } from '../../src/core/explain/explanation.ts'
import { renderExplanation } from '../../src/core/views/explain-view.ts'
import { PLAIN_SCREEN } from '../../src/core/views/screen.ts'
import { attachmentName, csiGlobalDir, csiUniqueName } from '../../src/core/volumes/volume-names.ts'
import { told as ask, explain, stepsOf } from '../helpers/explaining.ts'
import { claimOf, DRIVER, type NodeBuilder, node, ROOT, uid } from '../helpers/node-builder.ts'
import { planOptions } from '../helpers/plan-options.ts'

const GONE = uid(9)
const LIVING = uid(2)

/** Of the causes that are named, those that stop most first. */
const codes = ({ summary: { causes = [] } }: Explanation): string[] => causes.map(({ code }) => code)

const orphan = (): NodeBuilder => node().left(GONE)

describe('an orphaned pod', () => {
  it('the same volume answers to every name it has', () => {
    const names = [
      'pv/pv-1',
      'pv-1',
      'pvc/default/claim-pv-1',
      'default/claim-pv-1',
      csiUniqueName(DRIVER, 'pv-1'),
      `${DRIVER}^pv-1`,
      `${GONE}/pv-1`,
      attachmentName('pv-1', DRIVER, 'node-1'),
      `${ROOT}/pods/${GONE}/volumes/kubernetes.io~csi/pv-1`,
      `${ROOT}/pods/${GONE}/volumes/kubernetes.io~csi/pv-1/mount/deep/in/it`,
      `${ROOT}/${csiGlobalDir(DRIVER, 'pv-1')}/globalmount`,
      '/dev/loop1',
      '7:1',
      'pv-uid-pv-1',
    ]
    for (const name of names) {
      const { volumes, operations } = ask(orphan(), name)
      expect(
        volumes.map(({ volume }) => volume.uniqueName),
        name,
      ).toEqual([csiUniqueName(DRIVER, 'pv-1')])
      expect(
        operations.map(({ kind }) => kind),
        name,
      ).toEqual(['UnmountVolume', 'UnmountDevice', 'DetachVolume'])
    }
  })
})

it('a living, healthy volume: nothing to do, and by which rule', () => {
  const built = node().served(LIVING, 'web-0')
  const answer = ask(built, 'pv-1')
  expect(answer.verdict).toEqual({
    state: 'nothing',
    message: 'nothing to do: the volume is wanted by pod default/web-0, and as it should be',
    rule: 'R805',
  })
  expect(answer).toMatchObject({ operations: [], waiting: [], problems: [] })
  expect(stepsOf(answer)).toEqual([])
  const pod = ask(built, 'default/web-0')
  expect(pod.pods[0]?.signsOfLife).toEqual(['sandbox ready', 'container c running', 'processes in its cgroup'])
  // The staged mount stays for the pod's sake.
  expect(explain(built.build(), planOptions(), 'pv-1').decisions).toContainEqual(
    expect.objectContaining({ rule: 'R817', why: `pod ${LIVING} wants it` }),
  )
})

it('a leaked sub-path of a volume that has no directory any more', () => {
  const leaf = `pods/${GONE}/volume-subpaths/pv-1/c/0`
  const built = node().persistentVolume('pv-1', { attached: false }).dir(`pods/${GONE}`)
  built.mount(leaf, { dev: '7:1', fsType: 'ext4' })
  for (const what of [`${ROOT}/${leaf}`, `${ROOT}/pods/${GONE}/volume-subpaths`, 'pv/pv-1', GONE]) {
    const answer = ask(built, what)
    expect(answer.verdict, what).toMatchObject({ state: 'operation', code: 'LeakedSubPath', rule: 'O17' })
    expect(
      answer.chain.find(({ kind }) => kind === 'SubPath'),
      what,
    ).toMatchObject({ state: 'bad', name: `${ROOT}/${leaf}` })
  }
})

it('an attachment of another node is for that node to explain', () => {
  const built = node().persistentVolume('pv-1', { attached: false }).attach('pv-1', 'pv-1', 'node-2')
  const answer = ask(built, attachmentName('pv-1', DRIVER, 'node-2'))
  expect(answer.verdict.message).toBe('nothing to do: the attachment is of node node-2: run volctl there')
  expect(ask(built, 'pv/pv-1').volumes[0]?.volume.attachedElsewhere).toEqual(['node-2'])
})

it('data that only a flag lets go: blocked without it, an operation with it', () => {
  const built = node().dir(`pods/${GONE}`)
  const dir = `pods/${GONE}/volumes/kubernetes.io~empty-dir/cache`
  built.file(`${dir}/file`, 'x').file(`pods/${GONE}/plugins/kubernetes.io~empty-dir/cache/ready`)
  const without = ask(built, `${ROOT}/${dir}`)
  expect(without.verdict).toMatchObject({ state: 'blocked', code: 'DeletesData' })
  expect(codes(without)).toEqual(['DeletesData'])
  const withFlag = ask(built, GONE, { orphans: true })
  expect(withFlag.verdict).toMatchObject({ state: 'operation', code: 'PodGone' })
  expect(withFlag.operations.map(({ kind }) => kind)).toEqual(['UnmountVolume', 'RemoveOrphanPodDir'])
  expect(
    explain(built.build(), planOptions({ orphans: true }), GONE, { applyFlags: ['--orphans'], settleMs: 0 }).explanation
      .summary.next?.[0]?.command,
  ).toBe(`volctl apply --orphans --pod ${GONE}`)
})

it('a claim that does not exist', () => {
  const built = node().livingPod(LIVING, 'web-0', [claimOf('missing')])
  for (const what of ['pvc/default/claim-missing', 'volume/default/web-0/data', 'default/web-0']) {
    const answer = ask(built, what)
    expect(answer.verdict, what).toMatchObject({ state: 'waiting', code: 'ClaimMissing' })
    expect(answer.volumes[0]?.desired, what).toMatch(/^wanted by pod default\/web-0, but not resolved: /)
  }
  expect(ask(built, 'pvc/default/claim-missing').chain[0]).toMatchObject({ state: 'bad', says: 'does not exist' })
})

it('what comes first is shown, though it is another pod’s', () => {
  const answer = ask(orphan().published(uid(8), 'pv-1', '7:1'), GONE)
  expect(answer.operations.map(({ kind, pod }) => [kind, pod?.uid])).toEqual([
    ['UnmountVolume', uid(8)],
    ['UnmountVolume', GONE],
    ['UnmountDevice', undefined],
    ['DetachVolume', undefined],
  ])
})

it('a plan that is refused says so beside the verdict', () => {
  const built = orphan().with({ machineID: 'other', systemUUID: 'other' })
  const answer = ask(built, GONE)
  expect(answer.refused).toMatchObject({ rule: 'S1', code: 'WrongMachine' })
  expect(answer.verdict).toMatchObject({ state: 'blocked', code: 'Refused' })
  expect(renderExplanation(answer, PLAIN_SCREEN)).toContain(answer.refused?.message)
})

it('what must be seen to first stands first: an error before the command, and who is in the way of an operation is one', () => {
  // Sub-paths of a hostPath come down at once; the claim's volume is mounted and not attached.
  const built = node().persistentVolume('pv-1', { attached: false, inUse: false }).published(GONE, 'pv-1', '7:1')
  built.staged('pv-1', '7:1')
  const answer = ask(built, 'pv/pv-1')
  expect(answer.operations.length).toBeGreaterThan(0)
  expect(codes(answer)[0]).toBe('MountedButNotAttached')
  const { kind, paths: [target = ''] = [] } = answer.operations[0] ?? {}
  const held = {
    kind: kind ?? '',
    target,
    code: 'HeldBy',
    message: 'pv-1 is in use by sh (pid 7)',
    hint: 'End it.',
    users: [{ pid: 7, process: 'sh' }],
  } as const
  built.with({ inUse: [held] })
  const { operations, ...rest } = ask(built, 'pv/pv-1')
  expect(operations[0]?.blocked).toMatchObject({
    code: 'HeldBy',
    message: held.message,
    hint: held.hint,
    users: held.users,
  })
  expect(codes({ ...rest, operations }).slice(0, 2)).toEqual(['HeldBy', 'MountedButNotAttached'])
})
