/** The main job, whole: a real API server, real mounts, a CSI driver on a socket, and the built volctl; on one layout of mounts. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Layout, timesInTable } from '../helpers/scene/layouts.ts'
import { makeScene, type Scene } from '../helpers/scene/scene.ts'
import { type Run, runVolctl } from '../helpers/scene/volctl.ts'
import { type Fingerprint, fingerprint } from './scenarios/fingerprint.ts'
import { endsOf, eventsOf } from './scenarios/outcomes.ts'
import { APPLY, type PlanRun, planOf } from './story.ts'

export function repairs(layout: Layout): void {
  let scene: Scene
  let broken: PlanRun
  let before: Fingerprint
  let apply: Run
  beforeAll(async () => {
    scene = await makeScene({ layout })
  })
  afterAll(() => scene.dispose())

  it('a healthy node: nothing to do', async () => {
    const { status, plan } = await planOf(scene)
    expect([status, plan.operations, plan.problems]).toEqual([0, [], []])
    expect((await runVolctl(scene, ['plan'])).stdout).toContain('\nNothing to do')
  })

  it('what is broken is found: leaked subPaths, forgotten staging, attachments, deleted pods', async () => {
    await scene.breakIt()
    scene.api.clearRequests()
    before = fingerprint(scene)
    const { mounts } = before
    expect(mounts.length / new Set(mounts).size).toBe(timesInTable(layout))
    broken = await planOf(scene, '--orphans')
    const { operations, complete, problems } = broken.plan
    expect([broken.status, complete, problems]).toEqual([2, true, []])
    expect(operations.filter(({ blocked, pod }) => blocked !== undefined || pod?.uid === scene.pods.web.uid)).toEqual(
      [],
    )
    const kinds = Object.groupBy(operations, ({ kind, reason }) => `${kind} ${reason}`)
    const block = scene.driver.backend === 'loop' ? 1 : 0
    expect(Object.fromEntries(Object.entries(kinds).map(([kind, list]) => [kind, list?.length]))).toEqual({
      // Of each pod its configMap, secret and two emptyDirs; of one two CSI volumes.
      'UnmountVolume PodGone': 10,
      // The hostPath of both, and what is left of a CSI volume.
      'UnmountVolume LeakedSubPath': 3,
      'CleanOrphanVolume NotReconstructable': 1,
      'UnmountDevice LastPodGone': 2,
      'UnmountDevice StagedWithoutPod': 1,
      'DetachVolume NotWanted': 4 + block,
      'RemoveOrphanPodDir OrphanPodDir': 2,
      ...(block === 1 && { 'UnmapVolume PodGone': 1, 'UnmapDevice LastPodGone': 1 }),
    })
  })

  it('a snapshot gives the same plan, byte by byte; and looking changes nothing, on the node or in the cluster', async () => {
    const file = join(scene.directory, 'node.json.gz')
    expect(await runVolctl(scene, ['snapshot', '-o', file])).toMatchObject({ status: 0 })
    expect((statSync(file).mode & 0o777).toString(8)).toBe('600')
    // Without the scene's environment: nothing but the snapshot is left to be read.
    const offline = await planOf({ env: {} }, '--snapshot', file, '--orphans')
    expect(placeless(untimed(offline.text))).toBe(untimed(broken.text))
    expect(offline.status).toBe(broken.status)
    const [live, there] = await Promise.all([
      runVolctl(scene, ['plan', '--orphans']),
      runVolctl({ env: {} }, ['plan', '--snapshot', file, '--orphans']),
    ])
    expect(there.stdout.replace('\nNext: on node worker-1: ', '\nNext: ')).toBe(live.stdout)
    const requests = scene.api.requests().map(({ method, path }) => `${method} ${path}`)
    expect(requests.filter((request) => !isRead(request))).toEqual([])
    expect(fingerprint(scene)).toEqual(before)
  })

  it('apply does it all, says so operation by operation, and keeps their order', async () => {
    apply = await runVolctl(scene, APPLY)
    expect(endsOf(apply).filter((end) => !end.endsWith(': done'))).toEqual([])
    expect(apply).toMatchObject({ status: 0, stderr: '' })
    const { operations } = broken.plan
    const events = eventsOf(apply)
    const at = (type: string, id: string): number => events.findIndex((event) => event.type === type && event.id === id)
    const done = events.filter(({ type }) => type === 'done')
    expect(done.map(({ id }) => id).toSorted()).toEqual(operations.map(({ id }) => id).toSorted())
    expect(events.at(-1)).toMatchObject({ type: 'result', exit: 0, left: 0 })
    for (const { id, after } of operations)
      for (const first of after) expect(at('done', first)).toBeLessThan(at('start', id))
    expect(scene.driver.violations()).toEqual([])
    // The shared volume stays staged for the pod that lives.
    const unstaged = scene.driver.succeeded().filter((call) => call === 'NodeUnstageVolume')
    expect(unstaged).toHaveLength(scene.driver.backend === 'loop' ? 4 : 3)
  })

  it('no byte of any volume has changed, what lives is untouched, and of deleted pods nothing is left', async () => {
    const end = fingerprint(scene)
    const { web, db, batch } = scene.pods
    const ofLiving = (path: string): boolean => path.includes(web.uid)
    expect(end.contents).toEqual(before.contents)
    expect(end.mounts.filter(ofLiving)).toEqual(before.mounts.filter(ofLiving))
    expect(end.files.filter(ofLiving)).toEqual(before.files.filter(ofLiving))
    expect(before.files).toEqual(expect.arrayContaining([db, batch].map(({ uid }) => `pods/${uid}/`)))
    expect(end.files.filter((path) => /^pods\/[^/]+\/$/.test(path))).toEqual([`pods/${web.uid}/`])
  })

  it('the next plan is empty, and there is nothing to apply', async () => {
    const { status, plan } = await planOf(scene, '--orphans')
    expect([status, ...plan.operations.map(({ kind, paths }) => `${kind} ${paths.join(' ')}`)]).toEqual([0])
    const again = await runVolctl(scene, ['apply', '--orphans', '--yes'])
    expect(again).toMatchObject({ status: 0, stdout: expect.stringContaining('Nothing is left to do.') })
  })
}

const untimed = (text: string): string => text.replace(/"createdAt": *"[^"]*"/, '"createdAt": ""')

/** What acts is typed on the node, and only a plan of a snapshot says on which one. */
const placeless = (text: string): string => text.replaceAll(/,\n *"node": "worker-1"(?=\n *\})/g, '')

/** A question about oneself is a POST that stores nothing. */
function isRead(request: string): boolean {
  return (
    request.startsWith('GET ') || /^POST \/apis\/auth(entication|orization)\.k8s\.io\/v1\/selfsubject/.test(request)
  )
}
