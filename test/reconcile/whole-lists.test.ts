/**
 * S3: one judge of whether a list may be taken as whole. Where an entry of `api.errors` says that a list failed, a plan undoes no more
 * than without that list; and an entry that volctl would not write covers everything.
 */
import { describe, expect, it } from 'vitest'
import { parseSnapshot } from '../../src/core/plan/documents/snapshot-file.ts'
import { isListedWhole, type ListedResource } from '../../src/core/volumes/api-lookup.ts'
import type { ApiSnapshot } from '../../src/core/volumes/snapshot.ts'
import { attachmentName } from '../../src/core/volumes/volume-names.ts'
import { BEFORE_BOOT, claimOf, DRIVER, type NodeBuilder, node, uid, volumeData } from '../helpers/node-builder.ts'
import { blocked, codes, GONE, GONE_CSI, kinds, oneManifest, plan } from './planned.ts'

/** A node on which each list of the API decides about something. */
function wholeNode(api: object = {}): NodeBuilder {
  const built = node()
    // Gone as the list of pods does not have it; its driver, by CSINode and attachments, since this boot.
    .file(`${GONE_CSI}/vol_data.json`, volumeData('pv-1', 'vol-1').replaceAll(DRIVER, 'gone.test'), BEFORE_BOOT)
    .mount(`pods/${GONE}/volumes/kubernetes.io~secret/s`)
    // Wanted by nobody, if the claim of one pod and the PersistentVolume of another are not there.
    .persistentVolume('pv-9', { handle: 'vol-9' })
    .staged('vol-9', '7:9')
    .livingPod(uid(2), 'claimless', [{ name: 'data', persistentVolumeClaim: { claimName: 'lost' } }])
    .livingPod(uid(3), 'volumeless', [claimOf('pv-3')])
    .persistentVolume('pv-3', { attached: false })
    // To be mounted, if no other node has it.
    .livingPod(uid(4), 'waits', [claimOf('pv-4')])
    .persistentVolume('pv-4')
  built.volumes.splice(
    built.volumes.findIndex(({ metadata }) => metadata.name === 'pv-3'),
    1,
  )
  built.withApi(api as Partial<ApiSnapshot>)
  return built
}

/** What would be carried out, each as one text. */
function done(api: object = {}): string[] {
  return plan(wholeNode(api))
    .operations.filter((each) => each.blocked === undefined)
    .map(({ kind, volume }) => `${kind} ${volume?.name}`)
    .toSorted()
}

const { api: whole } = wholeNode().build().snapshot
/** Lists that may not be taken as whole. */
const notWhole = (parts: object): ListedResource[] =>
  RESOURCES.filter((resource) => !isListedWhole({ ...whole, ...parts } as ApiSnapshot, resource))

const EVERYTHING = done()
/** What a list that failed leaves. */
const LEFT: Readonly<Record<ListedResource, readonly string[]>> = {
  pods: [],
  persistentvolumeclaims: EVERYTHING.filter((each) => !/Device|Detach/.test(each)),
  persistentvolumes: EVERYTHING.filter((each) => !/Device|Detach/.test(each)),
  volumeattachments: EVERYTHING.filter((each) => each !== 'UnmountVolume pv-1' && !each.startsWith('Mount')),
  csinodes: EVERYTHING.filter((each) => each !== 'UnmountVolume pv-1'),
  csidrivers: EVERYTHING,
  nodes: EVERYTHING,
  configmaps: EVERYTHING,
  secrets: EVERYTHING,
}
const RESOURCES = Object.keys(LEFT) as ListedResource[]

/** In which ways an entry says that a list failed. */
const FORMS: Readonly<Record<string, object>> = {
  'as volctl writes it': { status: 403, reason: 'Forbidden', message: 'no' },
  'nothing but the resource': {},
  'no number, a time-out': { reason: 'Timeout' },
  'a 404 of all': { status: 404, reason: 'NotFound' },
  'a name that is none': { name: '*', status: 404, reason: 'NotFound' },
  'an empty name': { name: '', namespace: '', status: 403 },
  'a list of names': { name: ['a', 'b'], status: 404 },
}

/** What nobody can tell the subject of. */
const JUNK: readonly unknown[] = [
  ...[null, 7, '', 'secrets is forbidden', [], {}, ['pods'], [{ resource: 'secrets' }]],
  { status: 403, reason: 'Forbidden', message: 'no' },
  { resource: 'widgets', status: 403 },
  { resource: 'secrets, pods', status: 403 },
  { resource: ['secrets'], status: 403 },
  { resource: 'secrets', status: '403' },
  { resource: 'secrets', kind: 'Pod', status: 403 },
  // As other programs write it.
  { resource: 'Secret', status: 403 },
  { kind: 'Status', status: 'Failure', code: 403, reason: 'Forbidden', details: { kind: 'secrets' } },
  { status: { toString: 7 }, reason: { toString: null } },
]

describe('S3: a list is whole, or what it lacks is unknown', () => {
  it('control: with every list whole all of it is done', () => {
    expect(kinds(plan(wholeNode())).toSorted()).toEqual(
      ['DetachVolume', 'MountVolume', 'UnmountDevice', 'UnmountVolume', 'UnmountVolume'].toSorted(),
    )
    expect(notWhole({})).toEqual([])
  })

  it.each(RESOURCES)('%s: an entry says that the list failed, and of no other', (resource) => {
    for (const [form, more] of Object.entries(FORMS)) {
      const entry = { resource, ...more }
      // Whatever else is said of other things.
      const beside = [
        { resource: 'leases', status: 403 },
        entry,
        { resource: 'secrets', name: 'x', status: 404, reason: 'NotFound' },
      ]
      for (const errors of [[entry], beside]) expect([form, notWhole({ errors })]).toEqual([form, [resource]])
    }
    expect(done({ errors: [{ resource, status: 403, reason: 'Forbidden' }] })).toEqual(LEFT[resource])
  })

  it('an entry that nobody understands covers everything', () => {
    for (const entry of JUNK) expect([entry, notWhole({ errors: [entry] })]).toEqual([entry, RESOURCES])
    const errors = JUNK.slice(0, 1)
    const made = plan(wholeNode({ errors }))
    expect([made.complete, done({ errors })]).toEqual([false, []])
    expect(codes(made)).toEqual(expect.arrayContaining(['PodListIncomplete', 'ReadFailed']))
  })

  it.each([undefined, null, {}, 'pods', 7])('errors that are no list (%j) cover everything', (errors) => {
    expect(done({ errors })).toEqual([])
  })

  it.each<[ListedResource, object]>([
    ['pods', { pods: undefined }],
    ['pods', { pods: { items: [], metadata: { continue: 'x' } } }],
    ['pods', { metadata: { continue: 'x' } }],
    ['pods', { continue: 'x' }],
    ['pods', { metadata: { remainingItemCount: 3 } }],
    ['pods', { truncated: true }],
    ['persistentvolumeclaims', { persistentVolumeClaims: undefined }],
    ['persistentvolumes', { persistentVolumes: null }],
    ['volumeattachments', { volumeAttachments: undefined }],
    ['csidrivers', { csiDrivers: {} }],
    ['csinodes', { csiNode: undefined }],
    ['nodes', { node: undefined }],
    ['configmaps', { configMaps: undefined }],
    ['secrets', { secrets: 'none' }],
    ['persistentvolumeclaims', { credential: 'kubelet' }],
    ['persistentvolumes', { user: 'system:node:node-1' }],
    ['volumeattachments', { user: 'system:node:node-1' }],
    ['volumeattachments', { credential: '' }],
  ])('%s are not whole with %j', (resource, parts) => {
    expect(notWhole(parts)).toContain(resource)
  })

  it('a second PersistentVolume may be behind an attachment where not all are known (S21)', () => {
    const built = node().persistentVolume('pv-9', { handle: 'vol-9' })
    expect(kinds(plan(built))).toEqual(['DetachVolume'])
    built.withApi({ errors: [{ resource: 'persistentvolumes', name: 'x', status: 403, reason: '', message: '' }] })
    expect(blocked(plan(built))).toEqual(['DetachVolume AttachmentUnclear'])
  })

  it('of a pod that is in the list twice the one that lives is believed', () => {
    for (const reversed of [false, true]) {
      const built = node()
        .pod(uid(5), 'twice', [{ name: 's', secret: { secretName: 'x' } }])
        .pod(uid(5), 'twice', [{ name: 's', secret: { secretName: 'x' } }], { phase: 'Succeeded' })
        .mount(`pods/${uid(5)}/volumes/kubernetes.io~secret/s`)
      if (reversed) built.pods.reverse()
      expect(kinds(plan(built))).not.toContain('UnmountVolume')
      // Control: alone, the one that has ended is torn down.
      built.pods.splice(0, built.pods.length, ...built.pods.filter(({ status }) => status?.phase === 'Succeeded'))
      expect(kinds(plan(built))).toContain('UnmountVolume')
    }
  })

  it('a snapshot file with errors of any form is read, and nothing of it is done', () => {
    const { snapshot } = wholeNode({ errors: JUNK }).build()
    const read = parseSnapshot(Buffer.from(JSON.stringify(snapshot)), 's.json')
    expect(read.api?.errors).toHaveLength(JUNK.length)
  })
})

describe('what was not read is said once, with what hangs on it', () => {
  const refused = (resource: string, name: object = {}) => ({
    ...{ resource, status: 403, reason: 'Forbidden', ...name },
    message: `${resource} is forbidden`,
  })
  /** Every problem that the refusals add to those of the same node. */
  const said = (built: NodeBuilder, errors: readonly object[], api: object = {}) => {
    built.overrideApi = api as never
    const before = plan(built).problems.map(({ message }) => message)
    built.withApi({ ...api, errors } as never)
    const { problems, complete } = plan(built)
    const added = problems.filter(({ message }) => !before.includes(message))
    return { complete, added: added.map(({ severity, code, message, hint }) => [severity, code, message, hint]) }
  }
  const LEFT_HERE = (): NodeBuilder => node().persistentVolume('pv-9', { handle: 'vol-9' }).staged('vol-9', '7:9')
  const NAME = attachmentName('vol-9', DRIVER, 'node-1')

  it('S21: no VolumeAttachment could be read, and a volume that no pod wants may be attached', () => {
    expect(said(LEFT_HERE(), [refused('volumeattachments')], { volumeAttachments: [] })).toEqual({
      complete: false,
      added: [
        [
          'warning',
          'ReadFailed',
          'VolumeAttachments could not be read, so these volumes are not detached: pv-9 (403 Forbidden volumeattachments is forbidden)',
          'Use a credential that may list volumeattachments (--kubeconfig).',
        ],
      ],
    })
  })

  it('nothing of a refused list whose objects were read singly, or of a volume that a pod wants or an ended one had', () => {
    const quiet = { complete: true, added: [] }
    expect(said(LEFT_HERE(), [refused('volumeattachments')])).toEqual(quiet)
    const absent = { resource: 'volumeattachments', name: NAME, status: 404, reason: 'NotFound', message: '' }
    expect(said(LEFT_HERE(), [refused('volumeattachments'), absent], { volumeAttachments: [] })).toEqual(quiet)
    const volumes = [claimOf('pv-9')]
    const wanted = LEFT_HERE().livingPod(uid(2), 'app', volumes)
    expect(said(wanted, [refused('volumeattachments')], { volumeAttachments: [] })).toEqual(quiet)
    const bound = node().persistentVolume('pv-9', { handle: 'vol-9', attached: false })
    const ended = bound.pod(uid(2), 'job', volumes, { phase: 'Succeeded' })
    expect(said(ended, [refused('volumeattachments', { name: NAME })], { volumeAttachments: [] })).toEqual(quiet)
  })

  const cm = (name: string) => ({
    metadata: { name, namespace: 'default', uid: name },
    data: { k: 'v' },
    digests: { k: 'd' },
  })
  it.each([
    { name: 'a credential that reads others', configMaps: [cm('other')], notes: 1 },
    { name: 'a role without content', configMaps: [], notes: 0 },
  ])('a ConfigMap that a mounted volume needs, with $name', ({ configMaps, notes }) => {
    const built = node().livingPod(uid(2), 'app', [{ name: 'v', configMap: { name: 'c' } }])
    built.configMap(uid(2), 'v', { k: 'v' })
    const error = refused('configmaps', { namespace: 'default', name: 'c' })
    const { complete, added } = said(built, [error], { configMaps })
    expect(complete).toBe(true)
    const read = 'configmaps default/c could not be read: 403 Forbidden configmaps is forbidden'
    expect(added.flatMap(([severity, , message]) => (severity === 'info' ? message : []))).toEqual(
      Array.from({ length: notes }, () => read),
    )
  })

  it('S2, S29: pods that could not be read are no word of the API: nothing is planned, and no flag accepts it', () => {
    for (const [error, hint] of [
      [refused('pods'), 'Use a credential that may list pods (--kubeconfig).'],
      [{ resource: 'pods', reason: 'ETIMEDOUT', message: 'x' }, expect.stringContaining('the API server answers')],
    ] as const) {
      const built = wholeNode({ pods: [], errors: [error] }).with(oneManifest())
      for (const options of [{}, { acceptOutage: 0 }]) {
        const made = plan(built, options)
        expect([made.operations, made.waiting, made.refused, made.complete]).toEqual([[], [], undefined, false])
        expect(made.problems).toMatchObject([{ severity: 'error', code: 'PodListIncomplete', hint }])
        expect(made.problems[0]?.message).toContain('no pod counts as deleted: pods could not be read (')
        expect(JSON.stringify(made.problems)).not.toContain('accept-outage')
      }
      // Control: of a whole list that is empty it is the API's word, and the manifest has no mirror pod.
      built.overrideApi = { pods: [] }
      expect(plan(built).refused).toMatchObject({ code: 'OutageSuspected' })
      expect(codes(plan(built))).toContain('StaticPodsUnmatched')
    }
  })
})
