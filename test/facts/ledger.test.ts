/** Rows, their keys and look-ups, and which findings a question shows. */
import { describe, expect, it, vi } from 'vitest'
import type { Ledger } from '../../src/core/facts/ledger.ts'
import { makeRows } from '../../src/core/facts/make-rows.ts'
import { type Scope, SharesOf, scopeTest } from '../../src/core/facts/scope.ts'
import type { PersistentVolume } from '../../src/core/kube/api/objects.ts'
import { decideNode, planNode } from '../../src/core/reconcile/plan-node.ts'
import type { Subject } from '../../src/core/volumes/finding.ts'
import { ActualInputs } from '../../src/core/volumes/on-disk/actual-inputs.ts'
import { isSetUp, stagedVolumes } from '../../src/core/volumes/on-disk/staged-volumes.ts'
import { attachmentName, csiGlobalDir, csiUniqueName } from '../../src/core/volumes/volume-names.ts'
import { claimOf, DRIVER, type NodeBuilder, node, ROOT, uid } from '../helpers/node-builder.ts'
import { planOptions } from '../helpers/plan-options.ts'

vi.mock(import('../../src/core/facts/make-rows.ts'), { spy: true })

const WEB = uid(1)
const GONE = uid(2)
const OTHER = uid(3)
const VOLUME = csiUniqueName(DRIVER, 'vol-1')
const STAGED = csiGlobalDir(DRIVER, 'vol-1')
const UNKNOWN = `plugins/kubernetes.io/csi/${DRIVER}/${'0'.repeat(64)}`

/** A pod with a claim and an emptyDir; a deleted one with a secret, a CSI volume without record; something staged that nothing names. */
function built(): NodeBuilder {
  return node()
    .persistentVolume('pv-1', { handle: 'vol-1' })
    .livingPod(WEB, 'web', [claimOf(), { name: 'tmp', emptyDir: {} }])
    .published(WEB, 'pv-1', '7:1', { handle: 'vol-1' })
    .staged('vol-1', '7:1')
    .mount(`pods/${GONE}/volumes/kubernetes.io~secret/token`, { fsType: 'tmpfs' })
    .mount(`pods/${GONE}/volumes/kubernetes.io~csi/lost/mount`, { dev: '7:9', fsType: 'ext4' })
    .mount(`${UNKNOWN}/globalmount`, { dev: '7:5', fsType: 'ext4' })
}

const ledgerOf = (state = built().build()): Ledger => decideNode(state, planOptions()).context.ledger

it('a plan makes no row where all that is staged, mapped and attached is as it should be', () => {
  const devices = 'plugins/kubernetes.io/csi/volumeDevices'
  const state = node()
    .served(WEB, 'web')
    .entry({ path: `${UNKNOWN}/globalmount`, type: 'dir' })
    .entry({ path: `pods/${WEB}/volumeDevices/kubernetes.io~csi/pv-2`, type: 'link', target: '/dev/loop7' })
    .entry({ path: `${devices}/pv-2/dev/${WEB}`, type: 'file' })
    .mount('plugins/kubernetes.io/gce-pd/mounts/pv-3', { dev: '7:3', fsType: 'ext4' })
    .livingPod(OTHER, 'other', [{ name: 'pd', gcePersistentDisk: { pdName: 'pv-3' } }])
    .build()
  vi.mocked(makeRows).mockClear()
  const { operations, problems } = planNode(state, planOptions())
  expect([operations, problems.map(({ code }) => code)]).toEqual([[], []])
  expect(makeRows).not.toHaveBeenCalled()
})

describe('a row', () => {
  it('has its unique name as key, else its plugin and pod, else its path', () => {
    expect(new Set(ledgerOf().all.map(({ key }) => key))).toEqual(
      new Set([
        VOLUME,
        `kubernetes.io/empty-dir/${WEB}-tmp`,
        `kubernetes.io/secret/${GONE}-token`,
        `kubernetes.io/csi/${GONE}-lost`,
        `${ROOT}/${UNKNOWN}`,
      ]),
    )
  })

  it('is found by each of its names and places', () => {
    const ledger = ledgerOf()
    const [row] = ledger.ofPod(WEB)
    expect(row?.key).toBe(VOLUME)
    const target = `${ROOT}/pods/${WEB}/volumes/kubernetes.io~csi/pv-1/mount`
    const mounts = built().build().mounts.at(target)
    expect([
      ledger.row(VOLUME),
      ledger.ofPersistentVolume('pv-1'),
      ledger.ofClaim('default/claim-pv-1'),
      ledger.ofDriver(DRIVER)[0],
      ledger.at(`pods/${WEB}/volumes/kubernetes.io~csi/pv-1/mount/some/file`)[0],
      ledger.at(STAGED)[0],
      ledger.onDevice(mounts, new Set(), [])[0],
    ]).toEqual(Array(7).fill(row))
  })
})

it('O17: sub-paths whose volume is gone are found by any mount among them', () => {
  const at = (path: string) =>
    built().mount(`pods/${GONE}/volume-subpaths/${path}`).dir(`pods/${GONE}/volume-subpaths/c/d`)
  for (const path of ['a/b/0', 'a/b'])
    expect(
      ledgerOf(at(path).build())
        .leakedSubPaths(GONE)
        .map(({ volumeName }) => volumeName),
    ).toEqual(['a'])
})

it('S30, R007: an attachment elsewhere is of the volume that its name proves, whatever its PersistentVolume is now', () => {
  const attachment = (name: string) => ({
    metadata: { name, uid: name },
    spec: { attacher: DRIVER, nodeName: 'other', source: { persistentVolumeName: 'pv-1' } },
  })
  const own = attachmentName('vol-1', DRIVER, 'other')
  const ledger = ledgerOf(
    built()
      .withApi({ volumeAttachments: [own, 'csi-old'].map(attachment) })
      .build(),
  )
  expect([own, 'csi-old'].map((name) => ledger.ofAttachment(name)?.key)).toEqual([VOLUME, undefined])
})

it('a global mount that two PersistentVolumes may have is of neither', () => {
  const iscsi = (targetPortal: string) => ({ targetPortal, iqn: 'iqn.a', lun: 0 })
  const pv = (name: string, portal: string) => ({ metadata: { name, uid: name }, spec: { iscsi: iscsi(portal) } })
  const at = 'plugins/kubernetes.io/iscsi/iface-default/10.0.0.1:3260-iqn.a-lun-0'
  const keysWith = (...persistentVolumes: readonly PersistentVolume[]) => {
    const ledger = ledgerOf(node().mount(at).withApi({ persistentVolumes }).build())
    return persistentVolumes.map(({ metadata: { name } }) => ledger.ofPersistentVolume(name)?.key)
  }
  const [one, other] = [pv('a', '10.0.0.1:3260'), pv('b', '10.0.0.2:3260')]
  expect(keysWith(one)).toEqual(['kubernetes.io/iscsi/10.0.0.1:3260:iqn.a:0'])
  expect(keysWith(one, other)).toEqual(['persistentvolumes/a', 'persistentvolumes/b'])
})

it('any mount in a staging directory is a trace of a volume (R025)', () => {
  const found = (path: string) =>
    stagedVolumes(new ActualInputs(node().mount(`${STAGED}/${path}`).build())).map(isSetUp)
  expect([found('globalmount'), found('globalmount/x')]).toEqual([[true], [true]])
})

it.each<[string, string, Subject]>([
  ['in a volume', `pods/${WEB}/volumes/kubernetes.io~csi/pv-1/mount/f`, { row: VOLUME, pod: WEB }],
  ['staged', `${STAGED}/globalmount`, { row: VOLUME }],
  ["a pod's directory", `pods/${GONE}`, { pod: GONE }],
  ["in a pod's directory, and in no volume", `pods/${GONE}/core.1`, { path: `${ROOT}/pods/${GONE}/core.1` }],
  ['of nobody', 'plugins/other/file', { path: `${ROOT}/plugins/other/file` }],
  ['elsewhere', '/srv/x', { path: '/srv/x' }],
])('whose a path is: %s', (_, path, subject) => expect(ledgerOf().path(path)).toEqual(subject))

describe('a question shows', () => {
  const ledger = ledgerOf()
  const scope = (given: Partial<Scope>): Scope => ({ pods: [], only: [], volumes: [], paths: [], ...given })
  const volumes = ledger.ofPod(WEB).filter(({ key }) => key === VOLUME)
  const ofPod = scope({ pods: [WEB], only: [WEB], volumes })
  const driver = { name: DRIVER, sockets: [] }
  it.each<[string, Scope, Subject, 'own' | 'problem' | 'nothing']>([
    ['the pod: its volume', ofPod, { row: VOLUME, pod: WEB }, 'own'],
    ['the pod: the node’s part of its volume', ofPod, { row: VOLUME }, 'own'],
    ['the pod: what another does with its volume', ofPod, { row: VOLUME, pod: GONE }, 'nothing'],
    ['the pod: itself', ofPod, { pod: WEB }, 'own'],
    ['the pod: a stray file', ofPod, { path: `${ROOT}/pods/${WEB}/core` }, 'problem'],
    ['the volume: another pod’s part', scope({ volumes }), { row: VOLUME, pod: GONE }, 'own'],
    ['the volume: its pod', scope({ volumes }), { pod: WEB }, 'problem'],
    ['the volume: its driver', scope({ volumes }), { driver: DRIVER }, 'problem'],
    ['the driver: its volume', scope({ driver }), { row: VOLUME }, 'own'],

    ['the driver: staged in its directory', scope({ driver }), ledger.path(UNKNOWN), 'own'],
    ['a path: what lies below', scope({ paths: [`${ROOT}/plugins`] }), { row: VOLUME }, 'own'],
    ['a path: what it lies in', scope({ paths: [`${ROOT}/pods/${WEB}/x`] }), { pod: WEB }, 'own'],
    ['anything: the node', ofPod, { node: true }, 'nothing'],
  ])('%s', (_, asked, subject, shown) => {
    const test = scopeTest(asked, ledger)
    const isOfVolumesDriver = asked.driver !== undefined && 'row' in subject
    expect([test.has(subject), test.concerns(subject)]).toEqual([
      shown === 'own',
      shown !== 'nothing' && !isOfVolumesDriver,
    ])
  })

  it('a part: its own, and what is wrong with its pod, its driver, or with the volume everywhere', () => {
    const [volume] = volumes
    if (volume === undefined) throw new Error('no volume')
    const parts = [
      { volume, pod: { uid: WEB } },
      { volume, pod: { uid: GONE } },
    ] as const
    const shares = new SharesOf(parts)
    expect(shares.of({ row: VOLUME, pod: WEB })).toEqual([parts[0]])
    expect(shares.of({ row: VOLUME })).toEqual([])
    expect(shares.of({ pod: WEB })).toEqual([])
    expect(shares.ofProblem({ row: VOLUME })).toEqual(parts)
    expect(shares.ofProblem({ pod: WEB })).toEqual([parts[0]])
    expect(shares.ofProblem({ driver: DRIVER })).toEqual(parts)
    expect(shares.ofProblem({ path: '/x' })).toEqual([])
  })
})
