/** What a name means in a cluster, and what is said where it means nothing or several things. */

import { describe, expect, it } from 'vitest'
import type { ClusterState } from '../../../src/core/cluster/model/cluster-state.ts'
import { typedQuestion } from '../../../src/core/explain/typed.ts'
import { attachmentName } from '../../../src/core/names/volume-names.ts'
import { thrownBy } from '../../api/connect.ts'
import {
  ALIVE,
  ago,
  attachment,
  bound,
  claim,
  cluster,
  DRIVER,
  node,
  pod,
  uniqueName,
  volume,
} from '../../helpers/cluster-builder.ts'
import { explainerOf } from '../../helpers/cluster-plan.ts'

const explain = (state: ClusterState, what: string) => explainerOf(state).explain(what)

const NODE_A = node('a', { volumesAttached: [uniqueName('data')], volumesInUse: [uniqueName('data')] })
const small = cluster({
  ...bound('data'),
  nodes: [NODE_A, node('b')],
  pods: [pod('web-0', 'a', ['data'], { uid: '1f0e6c52-8a4b-4c1e-9a51-0d8a7a9f2b11' })],
  attachments: [attachment('data', 'a')],
  controller: { lease: ALIVE },
})
const NAME = attachmentName('h-data', DRIVER, 'a')

describe('a thing by each of its names', () => {
  it.each([
    { words: ['default/web-0'], kind: 'Pod' },
    { words: ['web-0'], kind: 'Pod' },
    { words: ['pod', 'web-0', '-n', 'default'], kind: 'Pod' },
    { words: ['po/default/web-0'], kind: 'Pod' },
    { words: ['1f0e6c52'], kind: 'Pod' },
    { words: ['data'], kind: 'PersistentVolumeClaim' },
    { words: ['persistentvolumeclaim/default/data'], kind: 'PersistentVolumeClaim' },
    { words: ['pvc', 'data', '-n', 'default'], kind: 'PersistentVolumeClaim' },
    { words: ['volume/default/web-0/data'], kind: 'PersistentVolumeClaim' },
    { words: ['pv-data'], kind: 'PersistentVolume' },
    { words: ['pv/pv-data'], kind: 'PersistentVolume' },
    { words: [NAME], kind: 'VolumeAttachment' },
    { words: [`volumeattachment.storage.k8s.io/${NAME}`], kind: 'VolumeAttachment' },
    { words: [`attachment/${NAME.slice(0, 12)}`], kind: 'VolumeAttachment' },
    { words: ['h-data'], kind: 'Volume' },
    { words: [`volume/${uniqueName('data')}`], kind: 'Volume' },
    { words: ['node/a'], kind: 'Node' },
    { words: ['no', 'a'], kind: 'Node' },
    { words: [`csidriver.storage.k8s.io/${DRIVER}`], kind: 'Driver' },
    { words: ['driver', DRIVER], kind: 'Driver' },
  ])('$words is a $kind', ({ words, kind }) => {
    const [first = '', second = '', flag, namespace] = words
    const isFlag = flag === '-n'
    const what = typedQuestion(second === '' ? [first] : [first, second], isFlag ? namespace : undefined)
    expect(explain(small, what).subject.kind).toBe(kind)
  })
})

it('volctl is not to be started on a node whose kubelet is silent, though its Ready still says True', () => {
  const silent = { ...NODE_A, leaseRenewTime: ago(12), heartbeat: ago(12) }
  const notes = (parts: Partial<ClusterState>) => explain({ ...small, ...parts }, 'node/a').notes?.join()
  expect(notes({})).toContain('kubectl volctl on a')
  expect(notes({ nodes: [silent, node('b')], controller: cluster().controller })).toMatch(
    /silent kubelet: kubectl describe node a$/,
  )
})

describe('what others only refer to', () => {
  const lost = cluster({
    nodes: [node('a')],
    pods: [pod('web-0', 'a', ['never'])],
    attachments: [attachment('old', 'gone')],
    controller: { lease: ALIVE },
  })

  it.each([
    { what: 'pvc/default/never', says: 'does not exist' },
    { what: 'pv/pv-old', says: 'does not exist' },
    { what: 'node/gone', says: 'does not exist' },
  ])('$what: $says', ({ what, says }) => {
    const answer = explain(lost, what)
    expect(answer.chains.flatMap(({ links }) => links.map((link) => link.says))).toContainEqual(
      expect.stringContaining(says),
    )
    expect(answer.verdict.state).not.toBe('nothing')
  })

  it('an attachment that is still to be created', () => {
    const wanted = cluster({ ...bound('data'), pods: [pod('web-0', 'a', ['data'])] })
    const { subject, operations, verdict } = explain(wanted, `va/${NAME}`)
    expect(subject).toEqual({ kind: 'VolumeAttachment', name: NAME })
    expect(operations.map(({ kind }) => kind)).toEqual(['AttachVolume'])
    expect(verdict).toMatchObject({ state: 'operation', code: 'WantedNotAttached' })
  })
})

describe('what means nothing, or several things', () => {
  const errorOf = (state: ClusterState, what: string) => thrownBy(() => explain(state, what))
  const twice = {
    ...small,
    claims: [...small.claims, claim('data', { namespace: 'other', uid: 'other', volumeName: '' })],
  }

  it.each([
    { what: 'defualt/web-0', code: 'NotFound', hint: 'Did you mean pod/default/web-0?' },
    { what: 'pvc/data', of: twice, code: 'AmbiguousName', hint: 'volctl explain --cluster pvc/default/data' },
    { what: 'path/var/lib/kubelet/pods', code: 'NotFound', hint: 'kubectl volctl on NODE explain WHAT' },
    { what: '/var/lib/kubelet/pods', code: 'NotFound', hint: 'kubectl volctl on NODE explain WHAT' },
    { what: 'completely-different', code: 'NotFound', hint: 'Give NAMESPACE/POD' },
  ])('$what: $code', ({ what, of = small, code, hint }) => {
    const error = errorOf(of, what)
    expect(error.code).toBe(code)
    expect(error.hint).toContain(hint)
  })

  it('says which lists were not read whole: what is not found may be there (S3)', () => {
    const part = { ...small, lists: { ...small.lists, pods: { state: 'part' as const, count: 1 } } }
    expect(errorOf(part, 'pod/shop/other').message).toContain('not all pods could be read')
  })
})

describe('which rule a volume follows', () => {
  const pods = [pod('web-0', 'a', ['data'])]
  const onA = {
    ...bound('data'),
    nodes: [NODE_A, node('b')],
    attachments: [attachment('data', 'a')],
    controller: { lease: ALIVE },
  }

  it.each<{ about: string; state: ClusterState; rule: string }>([
    { about: 'a pod wants it', state: cluster({ ...onA, pods }), rule: 'R706' },
    { about: 'no pod wants it', state: cluster(onA), rule: 'R731' },
    {
      about: 'another node has it',
      state: cluster({ ...onA, pods: [...pods, pod('web-1', 'b', ['data'])] }),
      rule: 'R742',
    },
    {
      about: 'a pod without a node wants it',
      state: cluster({ ...bound('data'), pods: [pod('web-0', undefined, ['data'])] }),
      rule: 'R706',
    },
    {
      about: 'its driver needs no attachment',
      state: cluster({ claims: [claim('data')], volumes: [volume('data', { attachability: 'notAttachable' })], pods }),
      rule: 'C35',
    },
    {
      about: 'the node is not managed',
      state: cluster({ ...bound('data'), nodes: [node('a', { managed: false })], pods }),
      rule: 'R702',
    },
    { about: 'nobody wants it, and it is attached nowhere', state: cluster(bound('data')), rule: 'R706' },
  ])('$about: $rule', ({ state, rule }) => {
    const { chains } = explain(state, 'pv/pv-data')
    expect(chains.map(({ decision }) => decision.rule)).toContain(rule)
  })
})

it('a pod of a shared volume is not concerned by other nodes, one of an exclusive volume is', () => {
  const two = (modes: readonly string[]): ClusterState =>
    cluster({
      claims: [claim('data')],
      volumes: [volume('data', { accessModes: modes })],
      pods: [pod('web-0', 'a', ['data'])],
      attachments: [attachment('data', 'b')],
      nodes: [node('a'), node('b')],
    })
  const kinds = (modes: readonly string[]): string[] =>
    explain(two(modes), 'default/web-0').operations.map(({ kind, node: on }) => `${kind} ${on}`)
  expect(kinds(['ReadWriteMany'])).toEqual(['AttachVolume a'])
  expect(kinds(['ReadWriteOnce'])).toEqual(['DetachVolume b', 'AttachVolume a'])
})
