/** Who has files open below a place, in a fabricated /proc. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { beforeEach, expect, it } from 'vitest'
import { processFiles } from '../../src/core/holders/process-files.ts'
import { Places } from '../../src/core/holders/searched-places.ts'
import { parseMountinfo } from '../../src/core/mountinfo/parse-mountinfo.ts'
import type { OtherNamespace } from '../../src/core/processes/mount-namespaces.ts'
import { temporaryDirectory } from '../apply/temporary-directory.ts'

const OURS = 'mnt:[1]'
const UID = '6f1e2d3c-0000-4000-8000-000000000001'
const VOLUME = `/var/lib/kubelet/pods/${UID}/volumes/kubernetes.io~csi/pv/mount`
const TABLE = parseMountinfo(
  `1 1 254:0 / / rw shared:1 - ext4 /dev/vda rw\n2 1 7:1 / ${VOLUME} rw shared:2 - ext4 /dev/loop1 rw\n`,
)

let proc: string
beforeEach(() => {
  proc = temporaryDirectory()
  mkdirSync(`${proc}/self/ns`, { recursive: true })
  symlinkSync(OURS, `${proc}/self/ns/mnt`)
})

interface Process {
  readonly namespace?: string
  readonly cwd?: string
  readonly files?: readonly string[]
  readonly cgroup?: string
  /** Where it is: "5", or "5/task/6" for a thread. */
  readonly at?: string
}

function start(
  pid: number,
  { namespace = OURS, cwd = '/', files = [], cgroup = '0::/', at = `${pid}` }: Process,
): void {
  mkdirSync(`${proc}/${at}/ns`, { recursive: true })
  mkdirSync(`${proc}/${at}/fd`)
  symlinkSync(namespace, `${proc}/${at}/ns/mnt`)
  symlinkSync(cwd, `${proc}/${at}/cwd`)
  symlinkSync('/', `${proc}/${at}/root`)
  for (const [fd, file] of files.entries()) symlinkSync(file, `${proc}/${at}/fd/${fd}`)
  writeFileSync(`${proc}/${pid}/comm`, `process${pid}\n`)
  writeFileSync(`${proc}/${pid}/cgroup`, `${cgroup}\n`)
}

/** A mount namespace with one mount of a device. */
function namespace(pid: number, dev: string, root = '/'): OtherNamespace {
  const table = parseMountinfo(`10 1 0:50 / / rw - overlay overlay rw\n11 10 ${dev} ${root} /data rw - ext4 x rw\n`)
  return { pid, process: `process${pid}`, table }
}

const look = (others: readonly OtherNamespace[] = [], paths: readonly string[] = [VOLUME]) =>
  processFiles(new Places(TABLE, paths), others, proc)

it('a file, a working directory, and nothing else', () => {
  start(5, { cwd: VOLUME, files: ['/dev/null', `${VOLUME}/a (deleted)`, 'socket:[1]'] })
  start(6, { cwd: `${VOLUME}x`, files: ['/var/lib/kubelet'] })
  expect(look().holders).toEqual([
    { pid: 5, process: 'process5', what: 'cwd', path: VOLUME },
    { pid: 5, process: 'process5', what: 'file', path: `${VOLUME}/a (deleted)` },
  ])
})

it('a directory is held through what is mounted below it', () => {
  start(5, { cwd: `${VOLUME}/a` })
  expect(look([], [`/var/lib/kubelet/pods/${UID}`]).holders).toMatchObject([{ pid: 5, what: 'cwd' }])
})

it('a container has another name for it, and a pod', () => {
  const id = 'ab'.repeat(32)
  const pod = UID.replaceAll('-', '_')
  start(7, {
    namespace: 'mnt:[7]',
    files: ['/data/a', '/a'],
    cgroup: `0::/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod${pod}.slice/cri-containerd-${id}.scope`,
  })
  expect(look([namespace(7, '7:1')]).holders).toEqual([
    { pid: 7, process: 'process7', what: 'file', path: '/data/a', of: { podUid: UID, containerId: id } },
  ])
  // The pod's directory as well: the volume is mounted below it.
  expect(look([namespace(7, '7:1')], [`/var/lib/kubelet/pods/${UID}`]).holders).toHaveLength(1)
})

it('the files of a process are not read where its namespace shows nothing of the place', () => {
  for (let pid = 100; pid < 400; pid++) start(pid, { namespace: 'mnt:[7]', files: ['/data/a'] })
  start(5, { cwd: VOLUME })
  const { holders, suspects } = look([namespace(100, '8:1')])
  expect(holders).toMatchObject([{ pid: 5 }])
  expect(suspects.map(({ pid }) => pid)).toEqual([5])
})

it('of another part of the same file system nothing is held', () => {
  start(7, { namespace: 'mnt:[7]', files: ['/data/a'] })
  const directory = `/var/lib/kubelet/pods/${UID}/volumes/kubernetes.io~empty-dir/v`
  expect(look([namespace(7, '254:0', '/srv')], [directory]).holders).toEqual([])
  expect(look([namespace(7, '254:0', directory)], [directory]).holders).toHaveLength(1)
})

it('a thread holds what its process held, when the first thread has ended', () => {
  mkdirSync(`${proc}/5/task/5`, { recursive: true })
  start(5, { files: [`${VOLUME}/a`], at: '5/task/6' })
  expect(look().holders).toMatchObject([{ pid: 5, what: 'file' }])
})

it('a process that has ended holds nothing', () => {
  mkdirSync(`${proc}/9`)
  expect(look()).toEqual({ holders: [], suspects: [], hidden: 0, unread: 0 })
})

it('a thread in a mount namespace of its own, and a process that came after the others were read', () => {
  start(5, { namespace: 'mnt:[9]', files: ['/data/a'] })
  writeFileSync(`${proc}/5/mountinfo`, '10 1 0:50 / / rw - overlay overlay rw\n11 10 7:1 / /data rw - ext4 x rw\n')
  expect(look()).toMatchObject({ holders: [{ pid: 5, what: 'file', path: '/data/a' }], unread: 0 })
})

it('a mount table that is not readable is counted', () => {
  start(5, { namespace: 'mnt:[9]', files: ['/data/a'] })
  mkdirSync(`${proc}/5/mountinfo`)
  expect(look()).toMatchObject({ holders: [], unread: 1 })
})
