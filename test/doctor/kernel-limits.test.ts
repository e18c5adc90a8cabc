/** How much of the kernel's limits is used, of a /proc made for the test and of this machine's. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { kernelLimits } from '../../src/core/doctor/gather/gather-host.ts'
import { fixture } from '../node/helpers/fixture.ts'

const SETTINGS = {
  'sys/fs/file-max': '1000\n',
  'sys/fs/file-nr': '900\t0\t1000\n',
  'sys/user/max_mnt_namespaces': '96365\n',
  '12/limits':
    'Limit  Soft Limit  Hard Limit  Units\nMax open files            1024                 524288               files     \n',
}
const LINKS = {
  '12/ns/mnt': 'mnt:[1]',
  '12/fd/3': '/dev/null',
  '12/fd/4': 'socket:[7]',
  '99/ns/mnt': 'mnt:[2]',
}

it('counts what is used beside each limit that can be read', () => {
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
    { name: 'user.max_mnt_namespaces', used: 2, most: 96_365 },
  ])
})

it('of this machine', () => {
  const names = kernelLimits(process.pid).map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(['fs.file-max', 'LimitNOFILE', 'user.max_mnt_namespaces']))
})
