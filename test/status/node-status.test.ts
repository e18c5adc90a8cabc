/** What a status says of volumes in every state, on nodes made by hand. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { StatusRow } from '../../src/core/explain/status/status.ts'
import type { PlanOptions } from '../../src/core/plan/plan.ts'
import { planNode } from '../../src/core/reconcile/plan-node.ts'
import type { NodeState } from '../../src/core/volumes/snapshot.ts'
import { csiUniqueName } from '../../src/core/volumes/volume-names.ts'
import { statusDefects } from '../helpers/closed-schema.ts'
import { nodeStatus } from '../helpers/explaining.ts'
import { claimOf, DRIVER, type NodeBuilder, node, uid, volumeData } from '../helpers/node-builder.ts'
import { planOptions } from '../helpers/plan-options.ts'
import { buildNode, randomNode } from '../helpers/random-node.ts'
import { RUNNING } from '../reconcile/planned.ts'
import { disagreements } from './disagreements.ts'

const POD = uid(7)
const GONE = uid(9)
const csiDir = (pod: string, name: string): string => `pods/${pod}/volumes/kubernetes.io~csi/${name}`

function rowsOf(built: NodeBuilder, options: Partial<PlanOptions> = {}): readonly StatusRow[] {
  const status = nodeStatus(built.build(), planOptions(options))
  expect(statusDefects(status)).toEqual([])
  return status.rows
}

/** One line for the row of a pod, or of the node. */
function brief(rows: readonly StatusRow[], podUid?: string): string {
  const row = rows.find(
    ({ pod, podVolumeNames, volume }) =>
      pod?.uid === podUid && (podVolumeNames.includes('data') || volume.name === 'pv-1'),
  )
  if (row === undefined) return 'no row'
  const { desired, attach, inUse, staged, mounted, due, dead, verdict } = row
  const use = inUse === undefined ? '' : `inUse ${inUse.computed}/${inUse.reported}`
  const at =
    attach === undefined
      ? ''
      : `${attach.attached ? 'attached' : 'detached'}${attach.elsewhere.map((each) => ` on ${each}`).join('')}`
  const parts = [
    desired,
    at,
    use,
    staged?.replace('Device', ''),
    mounted?.replace('Volume', ''),
    dead && `dead ${dead}`,
    ...due,
  ]
  return [...parts, `${verdict.state}${verdict.code === undefined ? '' : ` ${verdict.code}`}`]
    .filter((part) => part)
    .join(', ')
}

/** A pod that wants a CSI volume. */
const wanting = (given: Parameters<NodeBuilder['persistentVolume']>[1] = {}): NodeBuilder =>
  node().persistentVolume('pv-1', given).livingPod(POD, 'web', [claimOf()])

/** As it should be. */
const mounted = (): NodeBuilder => node().served(POD, 'web')

describe('a volume that a pod wants', () => {
  it.each<{ name: string; built: NodeBuilder; want: string }>([
    {
      name: 'as it should be',
      built: mounted(),
      want: 'wanted, attached, inUse true/true, GloballyMounted, Mounted, good',
    },
    {
      name: 'not attached yet: the kubelet reports it in use before it mounts (T73)',
      built: wanting({ attached: false }),
      want: 'wanted, detached, inUse true/false, NotMounted, NotMounted, waiting NotAttached',
    },
    {
      name: 'attached, and not reported in use',
      built: wanting({ inUse: false }),
      want: 'wanted, attached, inUse true/false, NotMounted, NotMounted, waiting NotReportedInUse',
    },
    {
      name: 'listed by the Node, and its attachment is not attached (R814)',
      built: wanting({ attached: false, inUse: true }).attach('pv-1', 'pv-1', 'node-1', {
        status: { attached: false },
      }),
      want: 'wanted, detached, inUse true/true, NotMounted, NotMounted, waiting NotAttached',
    },
    {
      name: 'attached to another node',
      built: wanting({ attached: false }).attach('pv-1', 'pv-1', 'node-2'),
      want: 'wanted, detached on node-2, inUse true/false, NotMounted, NotMounted, waiting AccessMode',
    },
    {
      name: 'mounted, and its state file lost',
      built: wanting().staged('pv-1', '7:1').published(POD, 'pv-1', '7:1', { stateFile: false }),
      want: 'wanted, attached, inUse true/true, GloballyMounted, MountUncertain, operation StateFileMissing',
    },
    {
      name: 'mounted, and its state file names another volume (S5)',
      built: wanting().staged('pv-1', '7:1').published(POD, 'pv-1', '7:1', { handle: 'other' }),
      want: 'wanted, attached, inUse true/true, GloballyMounted, MountUncertain, error MountedButNotAttached',
    },
    {
      name: 'a state file without a mount, as after a reboot (R806)',
      built: wanting().file(`${csiDir(POD, 'pv-1')}/vol_data.json`, volumeData('pv-1', 'pv-1')),
      want: 'wanted, attached, inUse true/true, NotMounted, MountUncertain, operation NotMounted',
    },
    {
      name: 'staged without its state file',
      built: wanting().staged('pv-1', '7:1', { stateFile: false }),
      want: 'wanted, attached, inUse true/true, MountUncertain, NotMounted, operation NotMounted',
    },
    {
      name: 'a claim that does not exist',
      built: node().livingPod(POD, 'web', [claimOf('none')]),
      want: 'unresolved, NotMounted, waiting ClaimMissing',
    },
  ])('$name', ({ built, want }) => expect(brief(rowsOf(built), POD)).toBe(want))

  it('a mount that does not answer', () => {
    expect(brief(rowsOf(mounted().dead(`${csiDir(POD, 'pv-1')}/mount`)), POD)).toBe(
      'wanted, attached, inUse true/true, GloballyMounted, Mounted, dead ENOTCONN, error DeadMount',
    )
  })

  it('that has grown', () => {
    const built = mounted()
    built.volumes[0] = {
      ...built.volumes[0],
      spec: { ...built.volumes[0]?.spec, capacity: { storage: '2Gi' } },
    } as never
    expect(brief(rowsOf(built), POD)).toContain('Mounted, expand, notAsked NotAsked')
    built.with(RUNNING)
    expect(brief(rowsOf(built), POD)).toContain('Mounted, expand, waiting KubeletRunning')
  })

  it('that no container uses has no row of its pod: the controller attaches it (R105, R708)', () => {
    const built = node().persistentVolume('pv-1', { inUse: false })
    const rows = rowsOf(built.livingPod(POD, 'web', [claimOf()], { spec: { containers: [{ name: 'c' }] } }))
    expect(rows.map(({ pod }) => pod)).toEqual([undefined])
    expect(brief(rows)).toBe('notWanted, attached, inUse false/false, good')
  })

  it('of a pod that terminates and still runs', () => {
    const built = node().left(POD).pod(POD, 'web', [claimOf()], { deleted: true })
    expect(brief(rowsOf(built.running(POD, 'web')), POD)).toBe(
      'wanted, attached, inUse true/true, GloballyMounted, Mounted, kept PodStillRunning',
    )
  })
})

describe('what is left of a volume', () => {
  it('of an orphaned pod: the pod has a row, and the node', () => {
    const rows = rowsOf(node().left(GONE))
    expect(brief(rows, GONE)).toBe('notWanted, attached, inUse true/true, GloballyMounted, Mounted, operation PodGone')
    expect(brief(rows)).toBe('notWanted, attached, inUse true/true, GloballyMounted, operation LastPodGone')
  })

  it('staged without a pod, while the kubelet that has forgotten it runs', () => {
    const built = node().persistentVolume('pv-1').staged('pv-1', '7:1')
    built.with(RUNNING)
    expect(brief(rowsOf(built))).toBe('notWanted, attached, inUse true/true, GloballyMounted, waiting KubeletRunning')
  })
})

describe('a node that was not seen whole', () => {
  it.each([
    { name: 'no mount table', override: { mountinfo: '' }, staged: true },
    { name: 'no directories', override: { tree: undefined }, staged: true },
    { name: 'neither', override: { tree: undefined, mountinfo: '' }, staged: false },
  ])('$name: what nobody looked at is not said to be unmounted', ({ override, staged }) => {
    const built = staged ? mounted() : wanting()
    built.with(override as never)
    expect(brief(rowsOf(built), POD)).toMatch(/, MountUncertain, MountUncertain, unknown/)
  })

  it('what could not be read of it is unknown (S3)', () => {
    const built = node().entry({ path: csiDir(GONE, 'pv-1'), type: 'dir', error: 'EIO', mtime: 1 })
    expect(rowsOf(built).map(({ verdict }) => verdict)).toMatchObject([{ state: 'unknown', code: 'NodeUnreadable' }])
  })

  it('what a pod asks for could not be read: what it has on disk may be that (S3, S4)', () => {
    const built = mounted().published(GONE, 'pv-1', '7:1')
    const rows = rowsOf(built.unlisted('persistentVolumeClaims'))
    const named = rows.filter(({ volume }) => volume.name === 'pv-1')
    expect(named.map(({ pod, desired }) => [pod?.uid, desired])).toEqual(
      expect.arrayContaining([
        [POD, 'unknown'],
        [GONE, 'notWanted'],
        [undefined, 'unknown'],
      ]),
    )
  })

  it.each([
    { name: 'no mount table', override: { mountinfo: '' }, why: 'the mount table was not read' },
    {
      name: 'a list of pods that failed',
      api: { errors: [{ resource: 'pods', status: 503, message: 'x' }] },
      why: 'the pod list',
    },
  ])('$name: nothing is good', ({ override, api, why }) => {
    const built = mounted().with(override ?? {})
    built.withApi((api ?? {}) as never)
    const state = built.build()
    const status = nodeStatus(state, planOptions())
    expect(status.complete).toBe(false)
    expect(status.rows.map(({ verdict }) => verdict.state)).not.toContain('good')
    expect(status.rows.some(({ verdict }) => verdict.message.includes(why))).toBe(true)
    expect(status.next?.[0]?.command).toMatch(/^volctl explain /)
  })
})

it('a name that is empty in the status of the Node is that of no volume on disk', () => {
  const built = node().entry({ path: csiDir(GONE, 'pv-1'), type: 'dir', error: 'EIO', mtime: 1 })
  built.inUse.push('')
  expect(rowsOf(built).map(({ pod, volume }) => pod?.uid ?? volume.uniqueName)).toEqual([GONE, ''])
})

describe('names', () => {
  const two = (): NodeBuilder => mounted().published(GONE, 'pv-1', '7:1')
  const podsOf = (options: Partial<PlanOptions>): string[] =>
    rowsOf(two(), options).map(({ pod }) => pod?.name ?? pod?.uid ?? 'node')

  it.each<{ name: string; options: Partial<PlanOptions>; want: string[] }>([
    { name: 'none', options: {}, want: [GONE, 'web', 'node'] },
    {
      name: 'a pod: its rows, and what the node has of its volumes',
      options: { pods: ['web'] },
      want: ['web', 'node'],
    },
    { name: 'a namespace', options: { namespaces: ['default'] }, want: [GONE, 'web', 'node'] },
    { name: 'a volume', options: { volumes: ['data'] }, want: ['web'] },
    { name: 'a PersistentVolume', options: { volumes: ['pv-1'] }, want: [GONE, 'web', 'node'] },
  ])('$name', ({ options, want }) => expect(podsOf(options)).toEqual(want))

  it('the beginning of the UIDs of several pods', () =>
    expect(() => podsOf({ pods: [GONE.slice(0, -1)] })).toThrow(/matches 3 pods/))

  it.each([
    { options: { pods: ['none'] }, message: /none matches no pod/ },
    { options: { namespaces: ['none'] }, message: /none matches no namespace/ },
    { options: { volumes: ['none'] }, message: /none matches no volume/ },
  ])('$message: an error, unless --ignore-not-found', ({ options, message }) => {
    expect(() => nodeStatus(two().build(), planOptions(options))).toThrow(message)
    expect(nodeStatus(two().build(), planOptions(options), true).rows).toEqual([])
  })
})

it('a volume that the Node lists, and that nothing here has', () => {
  const built = node()
  built.inUse.push(csiUniqueName(DRIVER, 'lost'))
  const [row] = rowsOf(built)
  expect(row).toMatchObject({ desired: 'notWanted', inUse: { computed: false, reported: true } })
  expect(row?.pod).toBeUndefined()
})

it('what to type next is about the worst', () => {
  const built = wanting({ inUse: false }).published(GONE, 'pv-1', '7:1')
  built.drivers = []
  const nextOf = (state: NodeState): string | undefined => nodeStatus(state, planOptions()).next?.[0]?.command
  expect(nextOf(built.build())).toBe('volctl explain driver/disk.test')
  expect(nextOf(wanting({ inUse: false }).build())).toBe('volctl explain default/web')
})

it('nodes as no one would think of them: every operation, wait and problem of the plan is shown', () =>
  fc.assert(
    fc.property(randomNode, fc.boolean(), (random, orphans) => {
      const state = buildNode(random)
      const options = planOptions({ orphans })
      const status = nodeStatus(state, options)
      expect(disagreements(planNode(state, options), status)).toEqual([])
      expect(statusDefects(status)).toEqual([])
    }),
    { numRuns: 100, seed: 1136 },
  ))
