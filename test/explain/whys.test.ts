/**
 * The questions for which people call volctl, each answered whole: what it is, who wants it, who holds it, what volctl
 * would do and why or why not, and what to do next. Holders are given here; test/privileged/explaining.test.ts has real ones.
 */
import { describe, expect, it } from 'vitest'
import { withHolders } from '../../src/core/explain/explain.ts'
import type { Explanation } from '../../src/core/explain/explanation.ts'
import type { PlanOptions } from '../../src/core/plan/plan.ts'
import { planNode } from '../../src/core/reconcile/plan-node.ts'
import { containerNames, type Holders } from '../../src/core/users/find-holders.ts'
import { renderExplanation } from '../../src/core/views/explain-view.ts'
import { PLAIN_SCREEN } from '../../src/core/views/screen.ts'
import type { InUse, NodeState } from '../../src/core/volumes/snapshot.ts'
import { attachmentName, csiUniqueName } from '../../src/core/volumes/volume-names.ts'
import { recorded } from '../helpers/captures.ts'
import { explanationDefects } from '../helpers/closed-schema.ts'
import { explain, stepsOf } from '../helpers/explaining.ts'
import { claimOf, DRIVER, type NodeBuilder, node, ROOT, uid } from '../helpers/node-builder.ts'
import { planOptions } from '../helpers/plan-options.ts'

const POD = uid(2)
const GONE = uid(9)
const VA = attachmentName('pv-1', DRIVER, 'node-1')
const TARGET = `${ROOT}/pods/${POD}/volumes/kubernetes.io~csi/pv-1/mount`
const NOBODY: Holders = { processes: [], namespaces: [], loops: [], kernel: [], unseen: [] }

interface Answer {
  readonly answer: Explanation
  /** Of the person's next steps, in order. */
  readonly next: readonly string[]
  readonly screen: string
}

function ask(of: NodeState | NodeBuilder, what: string, found = NOBODY, options: Partial<PlanOptions> = {}): Answer {
  const state = 'build' in of ? of.build() : of
  const { explanation } = explain(state, planOptions(options), what)
  const answer = withHolders(explanation, found, containerNames(state.snapshot))
  expect(explanationDefects(answer)).toEqual([])
  // On no screen is any of these left out.
  const screen = renderExplanation(answer, { ...PLAIN_SCREEN, width: 80, rows: 24 })
  expect(screen).toContain('Held by:')
  return { answer, next: stepsOf(answer), screen }
}

const running = { running: true, mayReturn: false } as const

/** A pod that is being deleted, with a mounted and staged volume. */
function terminating(): NodeBuilder {
  return node().left(POD).pod(POD, 'web-0', [claimOf()], { deleted: true })
}

describe('why does this pod hang in Terminating?', () => {
  it('its containers run on, and nobody ends them', () => {
    const { answer, next } = ask(terminating().running(POD, 'web-0'), 'default/web-0')
    expect(answer.pods).toMatchObject([{ deletedAt: '2026-11-21T12:00:00Z' }])
    expect(answer.volumes).toMatchObject([{ desired: 'wanted by pod default/web-0', verdict: { state: 'waiting' } }])
    expect(answer.verdict).toEqual({
      state: 'waiting',
      message: `pod default/web-0 (${POD}) is terminating and still runs: sandbox ready, container c running, processes in its cgroup`,
      code: 'PodStillRunning',
      rule: 'S9',
    })
    expect(answer.operations).toEqual([])
    expect(next.join('\n')).toMatch(
      /^Without a kubelet nothing stops the pod's containers: start the kubelet, or stop them/m,
    )
  })

  it('all of it has ended, and its volumes are still up', () => {
    const { answer, next } = ask(terminating(), 'default/web-0')
    expect(answer.pods).toMatchObject([{ class: 'Finished', rule: 'R220', signsOfLife: [] }])
    expect(answer.volumes).toMatchObject([{ desired: 'not wanted: pod default/web-0 has ended' }])
    expect(answer.verdict).toMatchObject({ state: 'operation', code: 'PodFinished', rule: 'R441' })
    expect(answer.operations.map(({ kind }) => kind)).toEqual(['UnmountVolume', 'UnmountDevice', 'DetachVolume'])
    expect(next).toEqual([
      'Then start the kubelet: only the kubelet reports to the API server that the pod has ended and may be deleted',
      `volctl apply --pod ${POD}  # asks, and carries out the 3 operations that are ready`,
    ])
  })

  it('nothing of it is left here: the kubelet has to say so, or somebody’s finalizer keeps it', () => {
    const kept = { deleted: true, metadata: { finalizers: ['example.com/wait'] } }
    const built = node().pod(POD, 'web-0', [], kept).dir(`pods/${POD}`)
    const { answer, next } = ask(built, 'default/web-0')
    expect(answer.verdict.message).toBe(
      'nothing to do: the pod has ended, with no container or process left; its volumes are torn down, its directory stays',
    )
    expect(next).toEqual([
      'Then start the kubelet: only the kubelet reports to the API server that the pod has ended and may be deleted',
      expect.stringMatching(/^The API server keeps the pod until its finalizers are removed: example\.com\/wait;/),
    ])
    built.with({ kubelet: running })
    expect(ask(built, 'default/web-0').next[0]).toMatch(/^The kubelet has to report to the API server/)
  })
})

describe('what is this orphaned pod?', () => {
  it('a real one: what is there, that nobody wants it, what goes and what stays', async () => {
    const state = await recorded('forcedel-killed/before.json')
    const { answer, next, screen } = ask(state, 'pg/sc-a')
    expect(answer.pods).toMatchObject([{ class: 'Gone', listed: false, signsOfLife: [] }])
    expect(new Set(answer.volumes.map(({ desired }) => desired))).toEqual(
      new Set(['not wanted: left over from pod pg/sc-a, which was deleted from the API']),
    )
    expect(answer.verdict).toMatchObject({ state: 'operation', code: 'PodGone' })
    expect(next).toEqual([
      expect.stringMatching(/^volctl apply --pod c2d7ef9e-\S+ {2}# asks, and carries out the 6 operations/),
    ])
    expect(screen).toContain('\nKept: emptyDir data (--orphans deletes it)\n')
    expect(screen).toContain('\nHeld by: nobody\n')
    const { answer: all } = ask(state, 'pg/sc-a', NOBODY, { orphans: true })
    expect(all.operations.at(-1)).toMatchObject({ kind: 'RemoveOrphanPodDir' })
  })

  it('its directory has a file in it that is not the kubelet’s: that it is kept, and which', async () => {
    const state = await recorded('subpath-leak/before.json')
    const kept = explain(state, planOptions({ orphans: true }), ROOT).explanation.problems
    const { about } = kept.find(({ code }) => code === 'OrphanDirKept') ?? {}
    const { answer, next } = ask(state, about?.pod ?? '', NOBODY, { orphans: true })
    expect(answer.problems).toContainEqual(expect.objectContaining({ code: 'OrphanDirKept' }))
    expect(next).toContainEqual(expect.stringMatching(/^Have its owner move the file away once nothing writes it/))
  })
})

describe('why is the device busy?', () => {
  const held: Holders = {
    ...NOBODY,
    processes: [
      { pid: 42, process: 'bash', what: 'cwd', path: TARGET },
      {
        pid: 43,
        process: 'tail',
        what: 'file',
        path: '/data/log',
        of: { podUid: uid(7), containerId: 'c'.repeat(64) },
      },
    ],
    namespaces: [{ pid: 50, process: 'node-exporter', mountPoints: ['/host/mnt'], of: undefined }],
    loops: [{ device: '/dev/loop4', backingFile: `${TARGET}/image` }],
    kernel: ['device dm-3, which is made of 7:1'],
  }

  it('who, and in what way', () => {
    const { answer, screen } = ask(terminating(), TARGET, held)
    expect(answer.volumes).toMatchObject([{ volume: { uniqueName: csiUniqueName(DRIVER, 'pv-1') } }])
    expect(answer.verdict.state).toBe('operation')
    const words = screen.replaceAll(/\s+/g, ' ')
    for (const name of ['Held by: bash (pid 42);', 'mount namespace of node-exporter (pid 50);', 'and 1 more'])
      expect(words).toContain(name)
  })

  it('who wants it, and holds it for that, is in nobody’s way', () => {
    const built = node().served(POD, 'web-0').published(GONE, 'pv-1', '7:1')
    const own = { pid: 7, process: 'nginx', what: 'cwd', path: '/data', of: { podUid: POD } } as const
    const { answer, next } = ask(built, GONE, { ...NOBODY, processes: [own] })
    expect(answer.holders.processes).toMatchObject([{ pod: { name: 'web-0' } }])
    expect(next.join()).not.toContain('End what holds it')
  })
})

describe('what is carried out next', () => {
  it('of two pods of one name: that of both, and of nothing else', () => {
    const built = terminating().pod(uid(3), 'web-0', [{ name: 'cache', emptyDir: {} }])
    built.pod(uid(4), 'web-1', [{ name: 'cache', emptyDir: {} }])
    const { answer } = ask(built, 'default/web-0')
    expect(answer.summary.next?.map(({ command }) => command)).toEqual(['volctl apply --pod default/web-0'])
  })

  it('of a volume that a process holds: that of this volume, once the process ends', () => {
    const target = `${ROOT}/pods/${GONE}/volumes/kubernetes.io~csi/pv-1/mount`
    const held: InUse = {
      ...{ kind: 'UnmountVolume', target, code: 'HeldBy', message: 'in use' },
      users: [{ pid: 191, process: 'sleep' }],
    }
    const built = node().left(GONE).secret(GONE, 'token', {})
    const { answer } = ask(built.with({ inUse: [held] }), 'pv-1')
    expect(answer.summary.next).toMatchObject([
      { first: 'stop sleep (pid 191)', command: 'volctl apply --volume pv-1' },
    ])
  })

  it('of a driver whose volumes no flags name together: all that is ready, as the command says', async () => {
    const state = await recorded('recreate/before.json')
    const { explanation } = explain(state, planOptions(), 'driver/loop.pg.test')
    const { ready = 0 } = planNode(state, planOptions()).summary
    expect(explanation.summary.ready).toBeLessThan(ready)
    expect(explanation.summary.next).toContainEqual({
      command: 'volctl apply',
      why: `asks, and carries out the ${ready} operations that are ready`,
    })
  })
})

it('“transport endpoint is not connected”: on a mount of a pod that lives: what has to be started anew', () => {
  const built = node().served(POD, 'web-0').dead(`pods/${POD}/volumes/kubernetes.io~csi/pv-1/mount`)
  expect(ask(built, TARGET).answer).toMatchObject({
    subject: { kind: 'Mount', name: TARGET },
    places: [{ dead: 'transport endpoint is not connected (ENOTCONN)', mounts: [{ dev: '7:1' }] }],
  })
  for (const what of [TARGET, 'default/web-0', 'pvc/claim-pv-1']) {
    const { answer, next } = ask(built, what)
    expect(answer.verdict, what).toMatchObject({ state: 'problem', code: 'DeadMount' })
    expect(answer.volumes[0]?.desired, what).toBe('wanted by pod default/web-0')
    expect(next[0], what).toBe(
      'Restart the driver or server of the file system; then restart the containers of pod default/web-0.',
    )
  }
})

describe('why does this VolumeAttachment never go away?', () => {
  const idle = (): NodeBuilder => node().persistentVolume('pv-1')

  it('the controller waits for a kubelet that is down; nothing here uses it: volctl detaches it', () => {
    const { answer, next } = ask(idle(), VA)
    expect(answer.volumes).toMatchObject([{ volume: { handle: 'pv-1', handleFrom: 'PersistentVolume pv-1' } }])
    expect(answer.volumes).toMatchObject([{ desired: 'not wanted by any pod on this node' }])
    expect(answer.verdict).toMatchObject({ state: 'operation', code: 'NotWanted', rule: 'S21' })
    expect(answer.verdict.message).toMatch(
      /while node\.status\.volumesInUse lists it, and the kubelet, which updates that, is down/,
    )
    expect(next).toEqual([expect.stringMatching(/^volctl apply --volume pv-1 {2}# asks/)])
  })

  it('a kubelet runs: detaching is the controller’s, and what that waits for', () => {
    const built = idle().with({ kubelet: running })
    const { verdict } = ask(built, VA).answer
    expect(verdict).toMatchObject({ state: 'waiting', code: 'KubeletRunning' })
    expect(verdict.message).toMatch(/will not detach it while node\.status\.volumesInUse lists it$/)
    built.inUse.length = 0
    expect(ask(built, VA).answer.verdict.message).toMatch(/the attach\/detach controller has not detached it yet$/)
  })

  it('it is being deleted, and its driver fails: the finalizer, and the driver’s words', () => {
    const built = node().persistentVolume('pv-1', { attached: false, inUse: true })
    built.attach('pv-1', 'pv-1', 'node-1', {
      metadata: { deletionTimestamp: '2026-11-21T11:00:00Z', finalizers: ['external-attacher/disk-test'] },
      status: { attached: true, detachError: { message: 'volume is busy' } },
    })
    const { answer, next } = ask(built, VA)
    expect(answer.chain.find(({ kind }) => kind === 'VolumeAttachment')).toMatchObject({
      state: 'bad',
      says: 'attached; no pod there wants it; volume is busy; being deleted since 2026-11-21T11:00:00Z, kept by finalizer external-attacher/disk-test',
    })
    expect(answer.verdict).toMatchObject({ state: 'waiting', code: 'AttachmentDeleting' })
    expect(next).toEqual([
      `The driver's external-attacher has to finish the deletion; what it last said: kubectl describe volumeattachment ${VA}`,
    ])
  })

  it('a pod wants it, or still runs on it', () => {
    expect(ask(node().served(POD, 'web-0'), VA).answer.verdict).toEqual({
      state: 'nothing',
      message: 'nothing to do: the volume stays attached: pod default/web-0 wants it',
      rule: 'R706',
    })
    const ran = node().left(GONE).running(GONE, 'old')
    expect(ask(ran, VA).answer.verdict).toMatchObject({ state: 'problem', code: 'PodGoneButRunning' })
  })
})
