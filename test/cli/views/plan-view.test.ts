import { expect, it } from 'vitest'
import { defined } from '../../../src/core/lang/defined.ts'
import { messageOnPod } from '../../../src/core/plan/draft.ts'
import { PLAIN, palette } from '../../../src/core/views/palette.ts'
import { renderPlan } from '../../../src/core/views/plan-view.ts'
import { anOperation, aPlan } from '../plan-builder.ts'

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
  expect(renderPlan(busy, PLAIN, 'table')).toMatchInlineSnapshot(`
    "Node:       node-1 (matches the Node object; boot boot-1)
    Root:       /var/lib/kubelet (118 mounts in the mount table)
    API:        https://10.0.0.1:6443 as system:node:node-1, pods at resource version 4711
    Kubelet:    stopped (kubelet.service inactive; masked)
    Runtime:    cri, 14 pods
    Pods:       14 in the API, 16 pod directories, 2 orphaned

    #  OPERATION      POD         VOLUME  REASON       AFTER  DELETES          STATE
    1  UnmountVolume  shop/web-0  pv-a    PodGone
    2  UnmountVolume  shop/web-0  cache   PodGone             3 files, 12 KiB  blocked: DeletesData
    3  UnmountDevice  -           pv-a    LastPodGone  1

    Why:
      1-2  PodGone: pod shop/web-0 was deleted from the API; no sandbox, container or process is left
      3  LastPodGone: nobody wants it

    Blocked:
      2  DeletesData: it deletes 3 files
          Give --orphans.

      WAITING      POD        VOLUME  CODE         FOR
      MountVolume  shop/db-0  data    NotAttached  the controller has not attached it yet

    Problems:
      ForeignMount: a tmpfs lies below
          Unmount it.

    Notes:
      OrphanPodDir: 2 directories could go

    Plan: 2 unmount, 1 device; 1 blocked; 1 waiting; 2 problems.
    "
  `))

it('wide: everything that is known, before anyone says yes (S31)', () =>
  expect(renderPlan(busy, PLAIN, 'wide')).toMatchInlineSnapshot(`
    "Node:       node-1 (matches the Node object; boot boot-1)
    Root:       /var/lib/kubelet (118 mounts in the mount table)
    API:        https://10.0.0.1:6443 as system:node:node-1, pods at resource version 4711
    Kubelet:    stopped (kubelet.service inactive; masked)
    Runtime:    cri, 14 pods
    Pods:       14 in the API, 16 pod directories, 2 orphaned

    #  OPERATION      POD         VOLUME  REASON       AFTER  DELETES          STATE                 RULE  ID
    1  UnmountVolume  shop/web-0  pv-a    PodGone                                                    R404  op-1
    2  UnmountVolume  shop/web-0  cache   PodGone             3 files, 12 KiB  blocked: DeletesData  R404  op-2
    3  UnmountDevice  -           pv-a    LastPodGone  1                                             R404  op-3

    Steps:
      1  NodeUnpublishVolume /var/lib/kubelet/pods/uid-1/volumes/kubernetes.io~csi/pv-a/mount
      2  NodeUnpublishVolume /var/lib/kubelet/pods/uid-1/volumes/kubernetes.io~csi/pv-a/mount
      3  NodeUnpublishVolume /var/lib/kubelet/pods/uid-1/volumes/kubernetes.io~csi/pv-a/mount

    VOLUME  PLUGIN             CLAIM            PV    DRIVER            HANDLE  HANDLE FROM    ACCESS         ATTACHED  IN USE
    pv-a    kubernetes.io/csi  shop/data-web-0  pv-a  disk.example.com  vol-a   vol_data.json  ReadWriteOnce  yes       yes

    Why:
      1  PodGone: pod shop/web-0 was deleted from the API; no sandbox, container or process is left; volume pv-a is mounted
      2  PodGone: pod shop/web-0 was deleted from the API; no sandbox, container or process is left; empty-dir volume cache is set up
      3  LastPodGone: nobody wants it

    Blocked:
      2  DeletesData: it deletes 3 files
          Give --orphans.

    The kubelet would instead:
      2  delete the content without asking

      WAITING      POD        VOLUME  CODE         FOR
      MountVolume  shop/db-0  data    NotAttached  the controller has not attached it yet

    Problems:
      ForeignMount: a tmpfs lies below
          Unmount it.

    Notes:
      OrphanPodDir: 2 directories could go

    Plan: 2 unmount, 1 device; 1 blocked; 1 waiting; 2 problems.
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
  for (const detail of ['table', 'confirm', 'wide'] as const)
    expect(renderPlan(plan, PLAIN, detail)).toContain(
      `API:        https://10.0.0.1:6443 as system:node:node-1, pods at resource version 4711 ${says}\n`,
    )
})

it('nothing to do', () =>
  expect(renderPlan(aPlan(), PLAIN, 'table').split('\n').at(-2)).toBe(
    'Nothing to do: every volume on this node is as it should be.',
  ))

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
  const text = renderPlan(plan, PLAIN, 'table')
  expect(text).toContain('NOT proven to be the machine of this Node object')
  expect(text).toContain('down, but may come back (kubelet.service restarts)')
  expect(text).toContain('Not judged: attachments elsewhere')
  expect(text).toContain('Not complete')
})

it('colour is decided by the palette alone', async () => {
  expect(renderPlan(busy, PLAIN, 'wide')).not.toContain('\u001b')
  expect(renderPlan(busy, await palette(true), 'wide')).toContain('\u001b[')
})
