/** S12: what the plan's own table and loop list show of a directory whose content is to go. */
import { describe, expect, it } from 'vitest'
import type { PersistentVolume } from '../../../src/core/kube/api/objects.ts'
import { type NodeBuilder, node, ROOT, uid } from '../../helpers/node-builder.ts'
import { volumePath } from '../../helpers/pod-files.ts'
import { blocked, GONE, kinds, outcome, plan } from '../planned.ts'

const DIR = `pods/${GONE}/volumes/kubernetes.io~empty-dir/v`
const PLACE = `${ROOT}/${DIR}`
const ORPHANS = { orphans: true }

const onDisk = (): NodeBuilder => node().file(`${DIR}/data`, 'x').dir(`${DIR}/sub`)
const inMemory = (): NodeBuilder =>
  node().mount(DIR, { dev: '0:70' }).file(`pods/${GONE}/plugins/kubernetes.io~empty-dir/v/ready`)

/** An overlay on /mnt with these super options, as mountinfo has them. */
const overlay = (options: string, built = onDisk()): NodeBuilder =>
  built.mountLine('/mnt', '/', '0:90', 'overlay', `overlay rw,${options}`)

const loop = (backingFile: string): NodeBuilder =>
  onDisk().with({ blockDevices: [{ name: '/dev/loop7', backingFile }] })

/** Of a pod that is not running yet. */
const hostPath = (path: string, phase = 'Pending'): NodeBuilder =>
  onDisk().pod(uid(7), 'backup', [{ name: 'h', hostPath: { path } }], { phase })

/** Of a PersistentVolume, which some pod may claim. */
const volumeAt = (source: PersistentVolume['spec']): NodeBuilder => onDisk().persistentVolume('pv-path', { source })

const disk = (point: string, root: string, built = onDisk()): NodeBuilder =>
  built.mountLine(point, root, '254:0', 'ext4', '/dev/vda')

describe('S12: an emptyDir that is in use under another name is blocked with --orphans', () => {
  it.each<[name: string, built: NodeBuilder, by: string]>([
    ['the directory, bound', disk('/srv/export', PLACE), '/srv/export'],
    ['a directory in it, bound', disk('/srv/export', `${PLACE}/sub`), '/srv/export'],
    ['what was bound and then removed', disk('/srv/export', `${PLACE}/sub//deleted`), '/srv/export'],
    [
      'through a mount of a directory above',
      disk('/srv/pods', `${ROOT}/pods`).mountLine(
        `/srv/pods/${GONE}/volumes/kubernetes.io~empty-dir/v/sub`,
        '/',
        '0:91',
        'tmpfs',
        'tmpfs',
      ),
      'tmpfs mount',
    ],
    [
      'in a root directory that is bound over itself',
      disk('/srv/export', `${PLACE}/sub`, disk(ROOT, ROOT)),
      '/srv/export',
    ],
    ['a directory of the pod above it, bound', disk('/srv/export', `${ROOT}/pods/${GONE}/volumes`), '/srv/export'],
    ['a layer above it', overlay(`lowerdir=${ROOT}/pods/${GONE}`), 'lowerdir'],
    ['lower directory', overlay(`lowerdir=${PLACE}/sub`), `lowerdir ${PLACE}/sub`],
    ['upper directory', overlay(`lowerdir=/a,upperdir=${PLACE}/up,workdir=/w`), 'upperdir'],
    ['a layer by another name of the file system', overlay('lowerdir=/other/sub', disk('/other', PLACE)), '/other'],
    ['the file of a loop device', loop(`${PLACE}/image`), '/dev/loop7'],
    ['a hostPath of another pod', hostPath(`${PLACE}/sub/`), `the hostPath ${PLACE}/sub/ of pod`],
    [
      'the hostPath of a PersistentVolume',
      volumeAt({ hostPath: { path: `${PLACE}/sub` } }),
      `the hostPath ${PLACE}/sub of PersistentVolume pv-path`,
    ],
    ['memory, bound', inMemory().mountLine('/srv/export', '/', '0:70', 'tmpfs', 'tmpfs'), '/srv/export'],
    ['memory below an overlay', overlay(`lowerdir=${PLACE}/a`, inMemory()), 'lowerdir'],
  ])('%s', (_name, built, by) => {
    const made = plan(built, ORPHANS)
    expect(outcome(made)).toEqual(['UnmountVolume HeldBy'])
    expect(made.operations[0]?.blocked?.message).toContain(by)
    // Nobody asked for data to be deleted: that comes first.
    expect(blocked(plan(built))).toEqual(['UnmountVolume DeletesData'])
  })

  it.each<[name: string, built: NodeBuilder]>([
    ['nobody', onDisk()],
    ['nobody, in memory', inMemory()],
    ['a mount of a directory above', disk('/srv/pods', `${ROOT}/pods`)],
    ['a mount of a directory beside it', disk('/srv/export', PLACE.replace(GONE, `${GONE}x`))],
    ['a mount of the same path of another file system', onDisk().mountLine('/srv', PLACE, '8:1', 'ext4', '/dev/sda1')],
    ['a root directory that is bound over itself', disk(ROOT, ROOT)],
    [
      'a container’s overlay',
      overlay('lowerdir=/var/lib/containerd/1/fs:/var/lib/containerd/2/fs,upperdir=/u,workdir=/w'),
    ],
    ['a loop device that this namespace does not show', loop('/')],
    ['a hostPath of a pod that has ended', hostPath(PLACE, 'Succeeded')],
    [
      'its own sub-paths',
      disk(`${ROOT}/pods/${GONE}/volume-subpaths/v/c/0`, `${PLACE}/sub`).dir(`pods/${GONE}/volume-subpaths/v/c/0`),
    ],
    [
      'a copy of its own sub-path, which goes with it (O35)',
      onDisk()
        .mountLine(ROOT, ROOT, '254:0', 'ext4', '/dev/vda', 'shared:70')
        .mountLine('/mnt/peer', ROOT, '254:0', 'ext4', '/dev/vda', 'shared:70')
        .dir(`pods/${GONE}/volume-subpaths/v/c/0`)
        .mountLine(
          `${ROOT}/pods/${GONE}/volume-subpaths/v/c/0`,
          `${PLACE}/sub`,
          '254:0',
          'ext4',
          '/dev/vda',
          'shared:71',
        )
        .mountLine(
          `/mnt/peer/pods/${GONE}/volume-subpaths/v/c/0`,
          `${PLACE}/sub`,
          '254:0',
          'ext4',
          '/dev/vda',
          'shared:71',
        ),
    ],
    [
      'its own sub-paths in memory',
      inMemory().mount(`pods/${GONE}/volume-subpaths/v/c/0`, { dev: '0:70', root: '/sub' }),
    ],
  ])('not for %s', (_name, built) => {
    expect(outcome(plan(built, ORPHANS))).toEqual(['UnmountVolume', 'RemoveOrphanPodDir'])
  })
})

describe('S12: what else is emptied or removed', () => {
  it.each([
    {
      name: 'a config map’s directory that is bound elsewhere',
      plugin: 'configmap',
      make: () => node().configMap(GONE, 'v', { key: 'x' }),
    },
    { name: 'an emptyDir that is empty', plugin: 'empty-dir', make: () => node().emptyDir(GONE, 'v') },
  ])('$name', ({ plugin, make }) => {
    expect(kinds(plan(make()))).toEqual(['UnmountVolume'])
    const bound = disk('/srv/c', `${ROOT}/${volumePath(GONE, plugin, 'v')}`, make())
    expect(blocked(plan(bound))).toEqual(['UnmountVolume HeldBy'])
  })

  it('the directory of a pod that is gone', () => {
    const directory = (): NodeBuilder => node().file(`pods/${GONE}/etc-hosts`, 'x').dir(`pods/${GONE}/volumes`)
    expect(kinds(plan(directory(), ORPHANS))).toEqual(['RemoveOrphanPodDir'])
    const bound = disk('/srv/hosts', `${ROOT}/pods/${GONE}/etc-hosts`, directory())
    expect(blocked(plan(bound, ORPHANS))).toEqual(['RemoveOrphanPodDir HeldBy'])
    const other = disk('/srv/hosts', `${ROOT}/pods/${uid(8)}/etc-hosts`, directory())
    expect(kinds(plan(other, ORPHANS))).toEqual(['RemoveOrphanPodDir'])
  })
})
