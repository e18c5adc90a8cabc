/** The files of an operation, and the network that it is carried out in, are as its plan has them. */
import { mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { beforeEach, expect, it } from 'vitest'
import type { FileIdentity } from '../../src/core/plan/plan.ts'
import { changedFile, otherNetwork } from '../../src/core/rules/expected-mounts.ts'
import { linuxHost } from '../../src/core/rules/host.ts'
import type { MachineFacts } from '../../src/core/rules/machine-facts.ts'
import type { Step } from '../../src/core/volumes/steps.ts'
import { operation } from '../apply/apply-fixture.ts'
import { FakeHost } from '../apply/fake-host.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

let path: string
let files: FileIdentity[]
beforeEach(() => {
  const directory = `${temporaryDirectory()}/volume`
  mkdirSync(directory)
  path = `${directory}/vol_data.json`
  writeFileSync(path, 'content')
  files = [identity(path, true), identity(directory, false)]
})

function identity(of: string, whole: boolean): FileIdentity {
  const { size, id = { dev: 0, ino: 0, mtime: 0 } } = linuxHost.lstat(of) ?? { size: 0 }
  const { dev, ino, mtime } = id
  return { path: of, dev, ino, ...(whole && { size, mtime }) }
}

const judge = () =>
  changedFile({ operation: operation('a', { basis: { files } }), host: linuxHost } as unknown as MachineFacts)

it.each([
  { name: 'as they were', change: () => undefined },
  { name: 'gone by now', change: () => rmSync(path) },
])('files $name are what was decided on', ({ change }) => {
  change()
  expect(judge()).toBeUndefined()
})

it.each([
  {
    name: 'another file under its name',
    change: () => {
      writeFileSync(`${path}.new`, 'content')
      renameSync(`${path}.new`, path)
    },
  },
  { name: 'written again', change: () => utimesSync(path, 1, 1) },
])('$name: refused, with was and now (S26)', ({ change }) => {
  change()
  expect(judge()).toEqual({
    code: 'Changed',
    args: expect.anything(),
    message: expect.stringMatching(/vol_data\.json was inode .*, now inode /),
  })
})

const target = '/kubelet/pods/uid/volumes/p/v'

it.each<{ name: string; step: Step; code?: string }>([
  { name: 'NFS', step: { op: 'mount', target, source: 'a:/b', fsType: 'nfs' }, code: 'WrongNamespace' },
  { name: 'tmpfs', step: { op: 'mount', target, source: 'tmpfs', fsType: 'tmpfs' } },
  { name: 'a CSI call: the driver mounts', step: { op: 'NodePublishVolume', target } },
])("over a container's network, which ends with it: $name", ({ step, code }) => {
  const host = new FakeHost()
  const facts = { operation: operation('a', { kind: 'MountVolume', steps: [step] }), host } as unknown as MachineFacts
  expect(otherNetwork(facts)).toBeUndefined()
  host.inContainersNetwork = true
  expect(otherNetwork(facts)).toEqual(code === undefined ? undefined : expect.objectContaining({ code }))
})
