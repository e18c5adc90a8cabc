import { expect, it } from 'vitest'
import { podProcessOf } from '../../src/core/linux/pod-cgroups.ts'
import { containerNames, describeHolders, type Holders } from '../../src/core/users/find-holders.ts'
import { node, uid } from '../helpers/node-builder.ts'

const ID = 'ab'.repeat(32)

it.each([
  ['cgroupfs', `0::/kubepods/burstable/pod${uid(2)}/${ID}`],
  [
    'CRI-O, in a cgroup of its own',
    `0::/kubepods.slice/kubepods-pod${uid(2).replaceAll('-', '_')}.slice/crio-${ID}.scope/container`,
  ],
])('pod and container by the cgroup: %s', (_name, text) =>
  expect(podProcessOf(text)).toEqual({ podUid: uid(2), containerId: ID }),
)

it('names of the runtime and of the API; else what is known', () => {
  const built = node().livingPod(uid(2), 'web')
  built.sandboxes = [
    {
      uid: uid(3),
      namespace: 'shop',
      name: 'gone',
      state: 'SANDBOX_READY',
      containers: [
        { name: 'db', state: 'X', id: ID },
        { name: '', state: 'X', id: '5678' },
      ],
    },
  ]
  const { snapshot } = built.build()
  const [, listed] = snapshot.api?.pods ?? []
  const status = {
    containerStatuses: ['1234', ''].map((id) => ({ name: `app${id}`, containerID: `containerd://${id}` })),
  }
  const api = { ...snapshot.api, pods: [{ ...listed, status }] } as NonNullable<typeof snapshot.api>
  const nameOf = containerNames({ ...snapshot, api })
  expect(nameOf({ podUid: uid(3), containerId: ID })).toEqual({
    pod: { namespace: 'shop', name: 'gone', uid: uid(3) },
    container: 'db',
  })
  expect(nameOf({ podUid: uid(2), containerId: '1234' })).toEqual({
    pod: { namespace: 'default', name: 'web', uid: uid(2) },
    container: 'app1234',
  })
  // In none of its containers, and in one without a name.
  expect(nameOf({ podUid: uid(2) }).container).toBeUndefined()
  expect(nameOf({ podUid: uid(3), containerId: '5678' }).container).toBeUndefined()
  expect(nameOf({ podUid: uid(9), containerId: 'cd'.repeat(32) })).toEqual({
    pod: { uid: uid(9) },
    container: 'cdcdcdcdcdcdc',
  })
})

it('a line names each process once, with all that it holds, its container and pod, and counts what is too much', () => {
  const of = { podUid: uid(2), containerId: ID }
  const file = (pid: number) => ({ pid, process: 'sleep', what: 'file', path: '/x' }) as const
  const holders: Holders = {
    processes: [
      { ...file(7), what: 'cwd', of },
      { ...file(7), of },
      { ...file(7), of },
      ...[8, 9, 10, 11, 12].map(file),
    ],
    namespaces: [{ pid: 7, process: 'sleep', mountPoints: ['/data'], of }],
    loops: [{ device: '/dev/loop1', backingFile: '/x/y' }],
    kernel: ['the swap file /x/swap'],
    unseen: [],
  }
  const nameOf = () => ({ pod: { namespace: 'default', name: 'web', uid: uid(2) }, container: 'app' })
  expect(describeHolders(holders, nameOf)).toBe(
    [
      '/dev/loop1, backed by /x/y',
      'the swap file /x/swap',
      'sleep (pid 7, cwd, file; container app of pod default/web)',
      ...[8, 9, 10].map((pid) => `sleep (pid ${pid}, file)`),
      '2 more',
      '/data in the mount namespace of sleep (pid 7; container app of pod default/web)',
    ].join(', '),
  )
  expect(
    describeHolders({ processes: [], namespaces: [], loops: [], kernel: [], unseen: [{ text: 'x', hint: 'y' }] }),
  ).toBe('')
})
