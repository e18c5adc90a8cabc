/** "As it should be" is true: what a real API server says of attachments is said, from the plan and explain alike. */
import { expect } from 'vitest'
import type { Explanation } from '../../src/core/explain/explanation.ts'
import { attachedTo, attachmentObject, nodeObject, podObject } from '../helpers/objects.ts'
import {
  DRIVER,
  handleOf,
  NAMESPACE,
  NODE,
  node,
  pvOf,
  type SceneVolume,
  volumeObjects,
} from '../helpers/scene/api-objects.ts'
import type { Scene } from '../helpers/scene/scene.ts'
import { answerOf, runVolctl } from '../helpers/scene/volctl.ts'
import { it, planOf } from './story.ts'

const AS_IT_SHOULD_BE = 'Nothing to do: every volume on this node is as it should be.'
const OTHER = 'worker-2'
const SINCE = '2026-01-02T03:04:05Z'
const LATE: SceneVolume = { name: 'late', kind: 'filesystem' }
const LUN: SceneVolume = { name: 'lun', kind: 'filesystem' }
const LUN_NAME = 'kubernetes.io/iscsi/192.0.2.1:iqn.2026-01.com.example:disk:3'

function attachmentElsewhere(volume: SceneVolume): object {
  const made = attachmentObject(DRIVER, handleOf(volume), pvOf(volume), OTHER)
  return { ...made, metadata: { ...made.metadata, creationTimestamp: SINCE } }
}

function podOf(name: string, nodeName: string, claimName: string, uid: string, phase = 'Running'): object {
  const metadata = { name, namespace: NAMESPACE, uid, creationTimestamp: SINCE }
  const volumes = [{ name: 'v', persistentVolumeClaim: { claimName } }]
  return podObject(metadata, volumes, { spec: { nodeName }, status: { phase } })
}

/** What a plan says, and what was asked of other nodes for it. */
async function said(scene: Scene, user: string) {
  scene.api.clearRequests()
  const { status, plan } = await planOf(scene, '--kubeconfig', scene.api.kubeconfig(user))
  const asked = scene.api.requests().map((each) => `${decodeURIComponent(each.path)} ${each.status}`)
  const { operations, waiting, problems } = plan
  return {
    status,
    operations: operations.length,
    waiting: waiting.map(({ code, volume }) => `${volume?.name}: ${code}`),
    problems: problems.map(({ severity, code }) => `${severity} ${code}`),
    words: [...waiting, ...problems].map(({ message, hint = '' }) => `${message} | ${hint}`).join('\n'),
    asked: asked.filter((each) => each.includes(OTHER) || each.startsWith('/api/v1/nodes?')),
  }
}

async function verdictOn(scene: Scene, what: string): Promise<string> {
  const { verdict } = answerOf<Explanation>(await runVolctl(scene, ['explain', what, '-o', 'json']))
  return `${verdict.state} ${verdict.code ?? ''} ${verdict.message}`
}

it("control: of a healthy node nothing is said, and no other node is asked about; nor with the kubelet's own credential, or volctl's role", async ({
  scene,
}) => {
  for (const user of ['admin', 'kubelet', 'plan'])
    expect(await said(scene, user)).toEqual({
      status: 0,
      operations: 0,
      waiting: [],
      problems: [],
      words: '',
      asked: [],
    })
  expect((await runVolctl(scene, ['plan'])).stdout).toContain(`\n${AS_IT_SHOULD_BE}\n`)
  expect(await verdictOn(scene, 'pv/pv-common')).toMatch(/^nothing /)
})

it("S30: Multi-Attach: which node has it, since when, and which pod there; S3: with the kubelet's own credential it is not known, which is not that nobody has it", async ({
  scene,
}) => {
  // A pod that came here while its old node still has its volume.
  scene.api.put(
    ...volumeObjects(LATE, '').slice(0, 2),
    attachmentElsewhere(LATE),
    podOf('late-0', OTHER, LATE.name, 'u-late-0'),
    podOf('late-1', NODE, LATE.name, '11111111-2222-4333-8444-000000000021', 'Pending'),
  )
  const { words, ...rest } = await said(scene, 'admin')
  const verdict = await verdictOn(scene, `pod/${NAMESPACE}/late-1`)
  const forbidden = await said(scene, 'kubelet')
  scene.api.remove('Pod', 'late-1', NAMESPACE)
  expect(rest).toMatchObject({
    status: 5,
    waiting: ['pv-late: AccessMode'],
    problems: [],
    asked: [expect.stringMatching(/^\/api\/v1\/pods\?.*spec\.nodeName=worker-2.* 200$/)],
  })
  for (const text of [words, verdict])
    expect(text).toContain('worker-2 since 2026-01-02T03:04:05Z, where pod shop/late-0 uses it')
  expect(words).toContain('kubectl delete pod -n shop late-0')
  expect(verdict).toMatch(/^waiting AccessMode /)
  expect(forbidden.waiting).toEqual(['pv-late: NotAttached'])
  expect(forbidden.words).toContain('this credential does not show whether pv-late is attached elsewhere')
})

it('S30: of a plugin without VolumeAttachments the status of the other Node tells; S3: where it may not be read, that is said', async ({
  scene,
}) => {
  const objects = volumeObjects(LUN, '').slice(0, 2) as { kind: string; spec: { csi?: object } }[]
  scene.api.put(
    ...objects.map((object) => {
      const { csi: _, ...spec } = object.spec
      const iscsi = { targetPortal: '192.0.2.1', iqn: 'iqn.2026-01.com.example:disk', lun: 3 }
      return object.kind === 'PersistentVolume' ? { ...object, spec: { ...spec, iscsi } } : object
    }),
    nodeObject(attachedTo([LUN_NAME]), { name: OTHER, uid: 'other-node' }),
    node(Object.values(scene.pods).flatMap(({ volumes }) => volumes)),
    podOf('lun-0', OTHER, LUN.name, 'u-lun-0'),
    podOf('lun-1', NODE, LUN.name, '11111111-2222-4333-8444-000000000022', 'Pending'),
  )
  const told = await said(scene, 'plan')
  expect(told.waiting).toEqual(['pv-lun: AccessMode'])
  expect(told.problems.filter((each) => !each.endsWith('ReadFailed'))).toEqual([])
  expect(told.words).toContain('worker-2, where pod shop/lun-0 uses it')
  expect(told.asked).toHaveLength(2)
  const forbidden = await said(scene, 'kubelet')
  expect(forbidden.waiting).toEqual(['pv-lun: NotAttached'])
  expect(forbidden.words).toContain('this credential does not show whether pv-lun is attached elsewhere: other nodes')
  expect(forbidden.asked).toEqual([expect.stringMatching(/^\/api\/v1\/nodes\?.* 403$/)])
})
