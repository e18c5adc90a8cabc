/** Snapshots that are odd and whole: the same node gives the same plan. */
import { describe, expect, it } from 'vitest'
import { planNode } from '../../src/core/reconcile/plan-node.ts'
import { node, ROOT, uid } from '../helpers/node-builder.ts'
import { planOptions } from '../helpers/plan-options.ts'
import { GONE, kinds, outcome, plan } from './planned.ts'

const secret = (podUid: string) => `pods/${podUid}/volumes/kubernetes.io~secret/s`

it.each([`${ROOT}/`, `${ROOT}//`, '/var/lib/../lib/./kubelet'])('a root directory written otherwise: %s', (rootDir) => {
  const built = node()
    .livingPod(uid(2), 'app', [{ name: 's', secret: { secretName: 'x' } }])
    .mount(secret(uid(2)))
  built.published(GONE, 'pv-1', '7:1').staged('pv-1', '7:1').mount(secret(GONE))
  const state = built.build()
  const options = planOptions({ orphans: true })
  expect(planNode({ ...state, snapshot: { ...state.snapshot, rootDir } }, options)).toEqual(planNode(state, options))
})

describe('a part that was not read', () => {
  it('the node: this machine is not known to be it (S1)', () => {
    const made = plan(node().mount(secret(GONE)).withApi({ node: undefined }))
    expect(made.refused).toMatchObject({ rule: 'S1', message: expect.stringContaining('was not read') })
    expect(kinds(made)).toEqual([])
  })
  it('the directory of pods is not there: another directory than the kubelet’s, or its disk is not mounted', () => {
    const built = node().persistentVolume('pv-1').persistentVolume('pv-2').staged('pv-2', '7:2')
    for (const path of [...built.tree.keys()]) if (/^pods(?:\/|$)/.test(path)) built.tree.delete(path)
    const made = plan(built)
    expect(made.complete).toBe(false)
    expect(made.problems).toContainEqual(
      expect.objectContaining({ code: 'NodeUnreadable', message: expect.stringContaining('pods') }),
    )
    // What pods have left of them is not known (S21).
    expect(outcome(made)).toEqual(['UnmountDevice MayBeInUse', 'DetachVolume MayBeInUse', 'DetachVolume MayBeInUse'])
  })
})

it('P115: a mount point whose directory was removed is the volume’s all the same', () => {
  const built = node().mountLine(`${ROOT}/${secret(GONE)} (deleted)`, '/', '0:99', 'tmpfs', 'tmpfs')
  expect(plan(built).operations[0]?.steps).toMatchObject([
    { op: 'umount', target: `${ROOT}/${secret(GONE)}` },
    { op: 'rmdir', target: `${ROOT}/${secret(GONE)}` },
  ])
})
