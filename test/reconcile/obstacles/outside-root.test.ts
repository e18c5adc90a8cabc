/** Volumes that are set up elsewhere than below the root directory, found by the shape of their paths (S8). */
import { describe, expect, it } from 'vitest'
import { csiGlobalDir } from '../../../src/core/volumes/volume-names.ts'
import { DRIVER, type NodeBuilder, node, uid } from '../../helpers/node-builder.ts'
import { BLOCK, only, plan } from '../planned.ts'

const OLD = '/mnt/old/kubelet'
const POD = uid(9)
const STAGED = `${csiGlobalDir(DRIVER, 'vol-1')}/globalmount`
const attached = (mode = 'Filesystem'): NodeBuilder => node().persistentVolume('pv-1', { handle: 'vol-1', mode })
/** Alone on the node: a private mount, of a device that nothing below the root directory shows. */
const mounted = (built: NodeBuilder, path: string, dev = '7:5'): NodeBuilder =>
  built.mountLine(path, '/', dev, 'ext4', '/dev/loop5', '-')

describe('S8: a mount outside of the root directory holds the detach of the volume that its path is of', () => {
  it.each([
    `${OLD}/${STAGED}`,
    // The driver's directory was a link to another disk.
    `/mnt/disk/${STAGED.split('/').slice(-2).join('/')}`,
    `/var/lib/kubelet.old/plugins/kubernetes.io/csi/pv/pv-1/globalmount`,
    `${OLD}/pods/${POD}/volumes/kubernetes.io~csi/pv-1/mount`,
    // `pods` was a link to another disk.
    `/mnt/disk/${POD}/volumes/kubernetes.io~csi/pv-1/mount`,

    `${OLD}/pods/${POD}/volume-subpaths/pv-1/c/0`,
  ])('%s', (path) => {
    const { blocked } = only(plan(mounted(attached(), path)), 'DetachVolume')
    expect(blocked?.code).toBe('HeldBy')
    expect(blocked?.message).toContain(path.replace(' (deleted)', ''))
  })

  it.each([
    // What is above it was a link to another disk.
    `volumeDevices/publish/pv-1/${POD}`,
    `${BLOCK}/pv-1/dev/${POD}`,
    `${BLOCK}/publish/pv-1/${POD}`,
    `${BLOCK}/staging/pv-1`,
  ])('a raw block volume: %s', (path) => {
    const built = attached('Block').mountLine(`${OLD}/${path}`, '/loop7', '0:6', 'devtmpfs', 'udev', '-')
    expect(only(plan(built), 'DetachVolume').blocked?.code).toBe('HeldBy')
  })

  it.each([
    ['another volume', `${OLD}/${csiGlobalDir(DRIVER, 'vol-2')}/globalmount`],
    ["another driver's volume of the same handle", `${OLD}/${csiGlobalDir('other.example', 'vol-1')}/globalmount`],
    ['a secret of the same name', `${OLD}/pods/${POD}/volumes/kubernetes.io~secret/pv-1`],
    ["a container's root", `/run/containerd/io.containerd.runtime.v2.task/k8s.io/${'b'.repeat(64)}/rootfs`],
  ])('is none: %s', (_what, path) => {
    expect(only(plan(mounted(attached(), path)), 'DetachVolume').blocked).toBeUndefined()
  })
})

it('S8, S24: it holds the unstage as well, also where the devices differ', () => {
  const staged = attached().staged('vol-1', '7:1')
  expect(only(plan(staged), 'UnmountDevice').blocked).toBeUndefined()
  const made = plan(mounted(attached().staged('vol-1', '7:1'), `${OLD}/${STAGED}`))
  expect(only(made, 'UnmountDevice').blocked).toMatchObject({ code: 'HeldBy' })
  expect(only(made, 'UnmountDevice').blocked?.message).toContain(OLD)
  expect(only(made, 'DetachVolume').blocked).toBeDefined()
})

it.each([
  { whose: 'the pod', at: uid(2), code: 'HeldBy' },
  { whose: 'another pod', at: POD, code: undefined },
])('a volume outside of it of $whose, before one is set up', ({ at, code }) => {
  const built = node().livingPod(uid(2), 'app', [{ name: 'e', emptyDir: {} }])
  const made = plan(mounted(built, `${OLD}/pods/${at}/volumes/kubernetes.io~empty-dir/e`))
  expect(only(made, 'MountVolume').blocked?.code).toBe(code)
})
