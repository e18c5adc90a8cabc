import { expect, it } from 'vitest'
import { explainDecisions } from '../../src/core/reconcile/decisions.ts'
import { planNode } from '../../src/core/reconcile/plan-node.ts'
import { node, ROOT, uid } from '../helpers/node-builder.ts'
import { planOptions } from '../helpers/plan-options.ts'

it('every pod, volume and staging directory can be asked why', () => {
  const state = node()
    .persistentVolume('pv-1')
    .livingPod(uid(2), 'app', [
      { name: 'v', persistentVolumeClaim: { claimName: 'claim-pv-1' } },
      { name: 'h', hostPath: { path: '/srv' } },
    ])
    .published(uid(2), 'pv-1', '7:1')
    .staged('pv-1', '7:1')
    .mount(`pods/${uid(9)}/volumes/kubernetes.io~secret/s`)
    .dir(`pods/${uid(9)}/volumes/kubernetes.io~nfs/n`)
    .build()
  const options = planOptions()
  const why = new Map(explainDecisions(state, options, planNode(state, options)).map((each) => [each.path, each]))
  expect(why.get(`${ROOT}/pods/${uid(2)}`)).toMatchObject({ rule: 'S5' })
  expect(why.get(`${ROOT}/pods/${uid(2)}/volumes/kubernetes.io~csi/pv-1/mount`)?.why).toBe(
    'wanted, and as it should be',
  )
  expect(why.get(`${ROOT}/pods/${uid(2)}/volumes/kubernetes.io~host-path/h`)?.why).toContain('mounts nothing')
  expect(why.get(`${ROOT}/pods/${uid(9)}/volumes/kubernetes.io~secret/s`)?.why).toContain('UnmountVolume')
  expect(why.get(`${ROOT}/pods/${uid(9)}/volumes/kubernetes.io~nfs/n`)?.why).toContain('nothing of it is mounted')
  expect([...why.values()].find((each) => each.path.endsWith('globalmount'))?.why).toContain(uid(2))
})
