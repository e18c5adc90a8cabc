import { expect, it } from 'vitest'
import { defined } from '../../../src/core/lang/defined.ts'
import { messageOnPod } from '../../../src/core/plan/draft.ts'
import { withAdvice } from '../../../src/core/plan/next-steps.ts'
import type { Plan } from '../../../src/core/plan/plan.ts'
import { palette } from '../../../src/core/views/palette.ts'
import { type PlanDetail, renderPlan } from '../../../src/core/views/plan-view.ts'
import { PLAIN_SCREEN, type Screen } from '../../../src/core/views/screen.ts'
import { anOperation, aPlan } from '../plan-builder.ts'

const shown = (plan: Plan, screen: Partial<Screen> = {}, detail: PlanDetail = {}): string =>
  renderPlan(withAdvice(plan, { words: [], settleMs: 120_000 }), { ...PLAIN_SCREEN, ...screen }, detail)

const gonePod = 'pod shop/web-0 was deleted from the API; no sandbox, container or process is left'
const busy = aPlan({
  operations: [
    anOperation(),
    anOperation({
      id: 'op-2',
      ...messageOnPod(gonePod, 'empty-dir volume cache is set up'),
      volume: { name: 'cache', plugin: 'kubernetes.io/empty-dir', mode: 'Filesystem' },
      deletes: { files: 3, bytes: 12_345 },
      blocked: { code: 'DeletesData', message: 'it deletes 3 files', hint: 'Give --orphans.' },
      kubeletWould: 'delete the content without asking',
    }),
    anOperation({
      id: 'op-3',
      kind: 'UnmountDevice',
      reason: 'LastPodGone',
      message: 'nobody wants it',
      after: ['op-1'],
    }),
  ].map(({ pod, podMessage, ownMessage, ...rest }) =>
    rest.kind === 'UnmountDevice' ? rest : { ...rest, ...defined({ pod, podMessage, ownMessage }) },
  ),
  waiting: [
    {
      kind: 'MountVolume',
      code: 'NotAttached',
      message: 'the controller has not attached it yet',
      pod: { namespace: 'shop', name: 'db-0', uid: 'uid-2' },
      volume: { name: 'pv-b', podVolumeName: 'data', plugin: 'kubernetes.io/csi', mode: 'Filesystem' },
      rule: 'S22',
    },
  ],
  problems: [
    {
      severity: 'error',
      code: 'ForeignMount',
      message: 'a tmpfs lies below',
      hint: 'Unmount it.',
      about: { path: '/x' },
    },
    { severity: 'info', code: 'OrphanPodDir', message: '2 directories could go', about: {} },
  ],
})

it('the plan on a screen', () =>
  expect(shown(busy, { width: 80 })).toMatchInlineSnapshot(`
    "Node:       node-1 (matches the Node object; boot boot-1)
    API:        https://10.0.0.1:6443 as system:node:node-1, pods at resource
                version 4711
    Kubelet:    stopped (kubelet.service inactive; masked)
    Pods:       14 in the API, 16 pod directories, 2 orphaned

      #  OPERATION      VOLUME  STATE                 DELETES

    Pod shop/web-0 was deleted from the API; no sandbox, container or process is
    left (PodGone)
      2  UnmountVolume  cache   blocked: DeletesData  3 files, 12 KiB
         it deletes 3 files
         -> Give --orphans.
      1  UnmountVolume  pv-a

    Pod shop/db-0
      -  MountVolume    data    waits: NotAttached
         the controller has not attached it yet

    Volume pv-a (claim shop/data-web-0, driver disk.example.com)
      3  UnmountDevice  pv-a    after 1
         LastPodGone: nobody wants it

    Of the node as a whole:
      x error ForeignMount: a tmpfs lies below
        -> Unmount it.
      note OrphanPodDir: 2 directories could go

    3 operations: 2 ready, 1 blocked (--orphans would free 1); 1 waiting; 2 problems
    (1 error, 1 note).
    Next: volctl apply  # asks, and carries out the 2 operations that are ready
    "
  `))

it('wide: everything that is known, before anyone says yes (S31)', () =>
  expect(shown(busy, { wide: true })).toMatchInlineSnapshot(`
    "Node:       node-1 (matches the Node object; boot boot-1)
    Root:       /var/lib/kubelet (118 mounts in the mount table)
    API:        https://10.0.0.1:6443 as system:node:node-1, pods at resource version 4711
    Kubelet:    stopped (kubelet.service inactive; masked)
    Runtime:    cri, 14 pods
    Pods:       14 in the API, 16 pod directories, 2 orphaned

    VOLUME  PLUGIN             CLAIM            PV    DRIVER            HANDLE  HANDLE FROM    ACCESS         ATTACHED  IN USE
    pv-a    kubernetes.io/csi  shop/data-web-0  pv-a  disk.example.com  vol-a   vol_data.json  ReadWriteOnce  yes       yes

      #  OPERATION      VOLUME  STATE                 DELETES          REASON       RULE  ID

    Pod shop/web-0 was deleted from the API; no sandbox, container or process is left (PodGone)
      2  UnmountVolume  cache   blocked: DeletesData  3 files, 12 KiB  PodGone      R404  op-2
         it deletes 3 files
         -> Give --orphans.
         PodGone: empty-dir volume cache is set up
         the kubelet would delete the content without asking
      1  UnmountVolume  pv-a                                           PodGone      R404  op-1
         PodGone: volume pv-a is mounted

    Pod shop/db-0
      -  MountVolume    data    waits: NotAttached
         the controller has not attached it yet

    Volume pv-a (claim shop/data-web-0, driver disk.example.com)
      3  UnmountDevice  pv-a    after 1                                LastPodGone  R404  op-3
         LastPodGone: nobody wants it

    Steps:
      1  NodeUnpublishVolume /var/lib/kubelet/pods/uid-1/volumes/kubernetes.io~csi/pv-a/mount
      2  NodeUnpublishVolume /var/lib/kubelet/pods/uid-1/volumes/kubernetes.io~csi/pv-a/mount
      3  NodeUnpublishVolume /var/lib/kubelet/pods/uid-1/volumes/kubernetes.io~csi/pv-a/mount

    Of the node as a whole:
      x error ForeignMount: a tmpfs lies below
        -> Unmount it.
      note OrphanPodDir: 2 directories could go

    3 operations: 2 ready, 1 blocked (--orphans would free 1); 1 waiting; 2 problems (1 error, 1 note).
    Next: volctl apply  # asks, and carries out the 2 operations that are ready
    "
  `))

it.each([
  { api: { insecure: 'TlsNotVerified' }, says: '(certificate not verified: anyone on the network path could answer)' },
  {
    api: { insecure: 'PlainHttp' },
    says: '(plain http: anyone on the network path could read the credential, and answer)',
  },
  {
    api: { secondLookInsecure: 'TlsNotVerified' },
    says: "(with the kubelet's credential: certificate not verified: anyone on the network path could answer)",
  },
] as const)('S34: the header says that the API server is not verified: $api', ({ api, says }) => {
  const { inputs } = aPlan()
  const plan = aPlan({ inputs: { ...inputs, api: { ...inputs.api, ...api } } })
  for (const text of [shown(plan), shown(plan, {}, { confirm: true }), shown(plan, { wide: true })])
    expect(text).toContain(
      `API:        https://10.0.0.1:6443 as system:node:node-1, pods at resource version 4711 ${says}\n`,
    )
})

it('nothing to do', () =>
  expect(shown(aPlan()).split('\n').at(-2)).toBe('Nothing to do: every volume on this node is as it should be.'))

it('what makes a plan doubtful is said: another machine, a kubelet that may return, unjudged guards, incompleteness', () => {
  const { inputs } = aPlan()
  const plan = aPlan({
    inputs: {
      ...inputs,
      machine: { matches: false },
      kubelet: { state: 'mayReturn', note: 'kubelet.service restarts' },
      unjudged: [{ rule: 'S30', message: 'attachments elsewhere' }],
    },
    complete: false,
  })
  const text = shown(plan)
  expect(text).toContain('NOT proven to be the machine of this Node object')
  expect(text).toContain('down, but may come back (kubelet.service restarts)')
  expect(text).toContain('Not judged: attachments elsewhere')
  expect(text).toContain('Not complete')
})

it('colour is decided by the palette alone', async () => {
  expect(shown(busy, { wide: true })).not.toContain('\u001b')
  expect(shown(busy, { wide: true, paint: await palette(true) })).toContain('\u001b[')
})

it('problems that differ only in their volume are one with a count; -v and -o wide show each', () => {
  const problems = ['pv-a', 'pv-b', 'pv-c'].map((volume) => ({
    severity: 'error' as const,
    code: 'MountedButNotAttached' as const,
    message: `${volume} is staged but not attached`,
    hint: `volctl plan --volume ${volume} shows how to unstage it.`,
    about: { volume },
  }))
  const plan = aPlan({ problems })
  const text = shown(plan)
  expect(text).toContain(
    '\n  x 3 errors MountedButNotAttached: pv-a is staged but not attached; likewise pv-b, pv-c (-v or -o wide shows all)\n',
  )
  expect(text.match(/->/g)).toHaveLength(1)
  for (const all of [shown(plan, { wide: true }), shown(plan, {}, { unfolded: true })])
    expect(all.match(/ error MountedButNotAttached: pv-[abc] is staged but not attached\n/g)).toHaveLength(3)
})

it('what comes after something blocked says after what, and counts as blocked', () => {
  const { pod: _, ...ofVolume } = anOperation({ kind: 'UnmountDevice' })
  const volume = { name: 'pv-b', plugin: 'kubernetes.io/csi', mode: 'Filesystem' as const }
  const plan = aPlan({
    operations: [
      anOperation({ blocked: { code: 'ForeignMount', message: 'a tmpfs is mounted below' } }),
      anOperation({ id: 'op-2', volume }),
      { ...ofVolume, id: 'op-3', after: ['op-1', 'op-2'], blocked: { code: 'PredecessorBlocked', message: 'not yet' } },
      { ...ofVolume, id: 'op-4', kind: 'DetachVolume', after: ['op-2', 'op-3'] },
      { ...ofVolume, id: 'op-5', kind: 'DetachVolume', volume, after: ['op-3'] },
    ],
  })
  const text = shown(plan)
  expect(text).toMatch(/ 3 {2}UnmountDevice .* blocked: PredecessorBlocked, after 1\n/)
  expect(text).toMatch(/ 4 {2}DetachVolume .* after 2-3 \(blocked: 3\)\n/)
  expect(text).toMatch(/ 5 {2}DetachVolume .* after 3 \(blocked\)\n/)
  expect(text).toContain('5 operations: 1 ready, 4 blocked.')
})

it('pods with nothing but the same problem are one group', () => {
  const problems = ['web-0', 'web-1', 'web-2'].map((name, n) => ({
    severity: 'error' as const,
    code: 'AlivenessUnknown' as const,
    message: `pod shop/${name} (uid-${n}) may still run: nobody knows`,
    about: { pod: `uid-${n}`, podRef: { namespace: 'shop', name, uid: `uid-${n}` }, path: `/pods/uid-${n}` },
  }))
  const plan = aPlan({ problems })
  expect(shown(plan)).toContain(`
Pods shop/web-0, shop/web-1, shop/web-2
  x 3 errors AlivenessUnknown: pod shop/web-0 (uid-0) may still run: nobody knows; likewise shop/web-1, shop/web-2 (-v or -o wide shows all)
`)
  expect(shown(plan, {}, { unfolded: true }).match(/\nPod shop\/web-\d\n {2}x error AlivenessUnknown/g)).toHaveLength(3)
})
