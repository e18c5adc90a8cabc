/** How much of the kernel's limits is used, of a /proc made for the test and of this machine's. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { kernelLimits } from '../../src/core/doctor/gather/kernel-limits.ts'
import { fixture } from '../node/helpers/fixture.ts'

const SETTINGS = {
  'sys/fs/file-max': '1000\n',
  'sys/fs/file-nr': '900\t0\t1000\n',
  'sys/fs/aio-nr': '5\n',
  'sys/fs/aio-max-nr': '65536\n',
  'sys/fs/inotify/max_user_instances': '128\n',
  'sys/fs/inotify/max_user_watches': '8192\n',
  'sys/user/max_mnt_namespaces': '96365\n',
  'sys/kernel/pid_max': '32768\n',
  loadavg: '10.46 6.15 3.35 14/339 29636\n',
  '12/status': 'Name:\tkubelet\nUid:\t0\t0\t0\t0\n',
  '12/limits':
    'Limit  Soft Limit  Hard Limit  Units\nMax open files            1024                 524288               files     \n',
  '12/fdinfo/4': 'pos:\t0\nflags:\t00\ninotify wd:2 ino:1 sdev:1\ninotify wd:1 ino:2 sdev:1\n',
  '99/status': 'Name:\tapp\nUid:\t1000\t1000\t1000\t1000\n',
}
const LINKS = {
  '12/ns/mnt': 'mnt:[1]',
  '12/fd/3': '/dev/null',
  '12/fd/4': 'anon_inode:inotify',
  '99/ns/mnt': 'mnt:[2]',
  '99/fd/5': 'anon_inode:inotify',
}

it('counts what is used beside each limit that can be read; inotify of root alone', () => {
  const { path } = fixture({})
  const at = (name: string): string => {
    mkdirSync(dirname(join(path, name)), { recursive: true })
    return join(path, name)
  }
  for (const [name, text] of Object.entries(SETTINGS)) writeFileSync(at(name), text)
  for (const [name, target] of Object.entries(LINKS)) symlinkSync(target, at(name))
  expect(kernelLimits(12, path)).toEqual([
    { name: 'fs.file-max', used: 900, most: 1000 },
    { name: 'LimitNOFILE', used: 2, most: 1024 },
    { name: 'fs.aio-max-nr', used: 5, most: 65_536 },
    { name: 'user.max_mnt_namespaces', used: 2, most: 96_365 },
    { name: 'fs.inotify.max_user_instances', used: 1, most: 128 },
    { name: 'fs.inotify.max_user_watches', used: 2, most: 8192 },
    { name: 'kernel.pid_max', used: 339, most: 32_768 },
  ])
})

it('of this machine', () => {
  const names = kernelLimits(process.pid).map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(['fs.file-max', 'LimitNOFILE', 'fs.aio-max-nr', 'kernel.pid_max']))
})
