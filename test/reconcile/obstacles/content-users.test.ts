/** S12: what the plan's own table and loop list show of a directory whose content is to go. */
import { describe, expect, it } from 'vitest'
import { type NodeBuilder, node, ROOT, uid } from '../../helpers/node-builder.ts'
import { blocked, GONE, kinds, only, plan } from '../planned.ts'

const DIR = `pods/${GONE}/volumes/kubernetes.io~empty-dir/v`
const PLACE = `${ROOT}/${DIR}`
const ORPHANS = { orphans: true }

const onDisk = (): NodeBuilder => node().file(`${DIR}/data`, 'x').dir(`${DIR}/sub`)
const inMemory = (): NodeBuilder =>
  node().mount(DIR, { dev: '0:70' }).file(`pods/${GONE}/plugins/kubernetes.io~empty-dir/v/ready`)

/** An overlay on /mnt with these super options, as mountinfo has them. */
const overlay = (options: string, built = onDisk()): NodeBuilder =>
  built.mountLine('/mnt', '/', '0:90', 'overlay', `overlay rw,${options}`)

const loop = (backingFile: string): NodeBuilder => {
  const built = onDisk().with({ blockDevices: [{ name: '/dev/loop7', backingFile }] })
  return built
}

/** Of a pod that is not running yet. */
const hostPath = (path: string, phase = 'Pending'): NodeBuilder =>
  onDisk().pod(uid(7), 'backup', [{ name: 'h', hostPath: { path } }], { phase })

/** Of a PersistentVolume, which some pod may claim. */
const volumeAt = (source: object): NodeBuilder => {
  const built = onDisk()
  built.volumes.push({
    metadata: { name: 'pv-path', uid: 'pv-path' },
    spec: { accessModes: ['ReadWriteOnce'], ...source },
  })
  return built
}

const disk = (point: string, root: string, built = onDisk()): NodeBuilder =>
  built.mountLine(point, root, '254:0', 'ext4', '/dev/vda')

describe('S12: an emptyDir that is in use under another name is blocked with --orphans', () => {
  it.each<{ name: string; built: NodeBuilder; by: string }>([
    { name: 'the directory, bound', built: disk('/srv/export', PLACE), by: '/srv/export' },
    { name: 'a directory in it, bound', built: disk('/srv/export', `${PLACE}/sub`), by: '/srv/export' },

    { name: 'what was bound and then removed', built: disk('/srv/export', `${PLACE}/sub//deleted`), by: '/srv/export' },
    {
      name: 'through a mount of a directory above',
      built: disk('/srv/pods', `${ROOT}/pods`).mountLine(
        `/srv/pods/${GONE}/volumes/kubernetes.io~empty-dir/v/sub`,
        '/',
        '0:91',
        'tmpfs',
        'tmpfs',
      ),
      by: 'tmpfs mount',
    },
    {
      name: 'in a root directory that is bound over itself',
      built: disk('/srv/export', `${PLACE}/sub`, disk(ROOT, ROOT)),
      by: '/srv/export',
    },
    {
      name: 'a directory of the pod above it, bound',
      built: disk('/srv/export', `${ROOT}/pods/${GONE}/volumes`),
      by: '/srv/export',
    },
    { name: 'a layer above it', built: overlay(`lowerdir=${ROOT}/pods/${GONE}`), by: 'lowerdir' },
    { name: 'lower directory', built: overlay(`lowerdir=${PLACE}/sub`), by: `lowerdir ${PLACE}/sub` },

    { name: 'upper directory', built: overlay(`lowerdir=/a,upperdir=${PLACE}/up,workdir=/w`), by: 'upperdir' },

    {
      name: 'a layer by another name of the file system',
      built: overlay('lowerdir=/other/sub', disk('/other', PLACE)),
      by: '/other',
    },
    { name: 'the file of a loop device', built: loop(`${PLACE}/image`), by: '/dev/loop7' },

    { name: 'a hostPath of another pod', built: hostPath(`${PLACE}/sub/`), by: `the hostPath ${PLACE}/sub/ of pod` },

    {
      name: 'the hostPath of a PersistentVolume',
      built: volumeAt({ hostPath: { path: `${PLACE}/sub` } }),
      by: `the hostPath ${PLACE}/sub of PersistentVolume pv-path`,
    },

    {
      name: 'memory, bound',
      built: inMemory().mountLine('/srv/export', '/', '0:70', 'tmpfs', 'tmpfs'),
      by: '/srv/export',
    },

    { name: 'memory below an overlay', built: overlay(`lowerdir=${PLACE}/a`, inMemory()), by: 'lowerdir' },
  ])('$name', ({ built, by }) => {
    const made = plan(built, ORPHANS)
    expect(blocked(made)).toEqual(['UnmountVolume HeldBy'])
    expect(only(made, 'UnmountVolume').blocked?.message).toContain(by)
    expect(kinds(made)).toEqual([])
    // Nobody asked for data to be deleted: that comes first.
    expect(blocked(plan(built))).toEqual(['UnmountVolume DeletesData'])
  })

  it.each<{ name: string; built: NodeBuilder }>([
    { name: 'nobody', built: onDisk() },
    { name: 'nobody, in memory', built: inMemory() },
    { name: 'a mount of a directory above', built: disk('/srv/pods', `${ROOT}/pods`) },
    { name: 'a mount of a directory beside it', built: disk('/srv/export', PLACE.replace(GONE, `${GONE}x`)) },
    {
      name: 'a mount of the same path of another file system',
      built: onDisk().mountLine('/srv', PLACE, '8:1', 'ext4', '/dev/sda1'),
    },
    { name: 'a root directory that is bound over itself', built: disk(ROOT, ROOT) },
    {
      name: 'a container’s overlay',
      built: overlay('lowerdir=/var/lib/containerd/1/fs:/var/lib/containerd/2/fs,upperdir=/u,workdir=/w'),
    },

    { name: 'a loop device that this namespace does not show', built: loop('/') },

    { name: 'a hostPath of a pod that has ended', built: hostPath(PLACE, 'Succeeded') },
    {
      name: 'its own sub-paths',
      built: disk(`${ROOT}/pods/${GONE}/volume-subpaths/v/c/0`, `${PLACE}/sub`).dir(
        `pods/${GONE}/volume-subpaths/v/c/0`,
      ),
    },
    {
      name: 'its own sub-paths in memory',
      built: inMemory().mount(`pods/${GONE}/volume-subpaths/v/c/0`, { dev: '0:70', root: '/sub' }),
    },
  ])('not for $name', ({ built }) => {
    const made = plan(built, ORPHANS)
    expect(blocked(made)).toEqual([])
    expect(kinds(made)).toEqual(['UnmountVolume', 'RemoveOrphanPodDir'])
  })
})

describe('S12: what else is emptied or removed', () => {
  const CONFIG = `pods/${GONE}/volumes/kubernetes.io~configmap/c`
  const config = (): NodeBuilder => {
    const generation = `${CONFIG}/..2026_11_21_02_04_30.123456789`
    return node()
      .dir(generation)
      .file(`${generation}/key`, 'x')
      .link(`${CONFIG}/..data`, '..2026_11_21_02_04_30.123456789')
      .link(`${CONFIG}/key`, '..data/key')
  }

  it('a config map’s directory that is bound elsewhere', () => {
    expect(kinds(plan(config()))).toEqual(['UnmountVolume'])
    expect(blocked(plan(disk('/srv/c', `${ROOT}/${CONFIG}`, config())))).toEqual(['UnmountVolume HeldBy'])
  })

  it('an emptyDir that is empty', () => {
    const empty = (): NodeBuilder => node().dir(DIR).file(`pods/${GONE}/plugins/kubernetes.io~empty-dir/v/ready`)
    expect(kinds(plan(empty()))).toEqual(['UnmountVolume'])
    expect(blocked(plan(disk('/srv/e', PLACE, empty())))).toEqual(['UnmountVolume HeldBy'])
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
