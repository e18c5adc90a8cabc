import { mkdirSync, symlinkSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loopDevices } from '../../src/core/linux/block/device-use.ts'
import { parseMountinfo } from '../../src/core/linux/parse-mountinfo.ts'
import { type StandingFacts, standingObstacles } from '../../src/core/linux/standing.ts'
import { hostIdentity } from '../../src/core/node/host-identity.ts'
import { checkMountNamespace, firstDifference } from '../../src/core/node/read-mountinfo.ts'
import { reentryCommand } from '../../src/core/node/reenter.ts'
import { readStaticPods } from '../../src/core/node/static-pods.ts'
import { PinnedProcess } from '../../src/core/trust/processes.ts'
import { fixture } from './helpers/fixture.ts'

describe('hostIdentity', () => {
  it("reads what the kubelet's Node object shows", () => {
    using root = fixture({
      'etc/machine-id': 'b0c1\n',
      'sys/class/dmi/id/product_uuid': 'EC2F-01\n',
      'proc/sys/kernel/random/boot_id': '2f6f\n',
      'proc/stat': 'cpu 1 2\nbtime 1795224500\nprocesses 4\n',
    })
    expect(hostIdentity(root.path)).toMatchObject({
      machineID: 'b0c1',
      systemUUID: 'EC2F-01',
      bootID: '2f6f',
      bootTime: '2026-11-21T01:28:20Z',
    })
  })

  it('takes the boot for no later than the clock said then (S28)', () => {
    using root = fixture({ 'proc/stat': 'btime 1795224500\n', 'dev/null': '' })
    const setDevice = (seconds: number): void => utimesSync(join(root.path, 'dev/null'), seconds, seconds)
    // The clock was set forward by a day, and the kernel reckons the boot from it.
    setDevice(1795224500 - 86_400)
    expect(hostIdentity(root.path).bootTime).toBe('2026-11-20T01:28:20Z')
    // It was set back; or this is no file of the kernel's.
    setDevice(1795224500 + 86_400)
    expect(hostIdentity(root.path).bootTime).toBe('2026-11-21T01:28:20Z')
  })
})

describe('S1: hostIdentity', () => {
  it("does not take another file's word where the kubelet's own may not be read", () => {
    using root = fixture({ 'etc/machine-id': 'm' })
    // For want of a file that root may not read either.
    mkdirSync(join(root.path, 'sys/class/dmi/id/product_uuid'), { recursive: true })
    expect(hostIdentity(root.path)).toMatchObject({ machineID: 'm' })
    expect(hostIdentity(root.path).systemUUID).toBeUndefined()
  })

  it("reads the files that the kubelet's flags name", () => {
    using root = fixture({
      ...{ 'etc/machine-id': 'm', 'srv/id': 'own\n', 'srv/boot': 'b\n' },
      'proc/sys/kernel/random/boot_id': '2f6f\n',
    })
    const flags = new Map([
      ['machine-id-file', '/srv/none,/srv/id'],
      ['boot-id-file', '/srv/boot'],
    ])
    expect(hostIdentity(root.path, flags)).toMatchObject({ machineID: 'own', bootID: 'b' })
  })
})

it('loopDevices: lists those with a backing file, in order of their number', () => {
  using sys = fixture({
    'block/loop10/loop/backing_file': '/srv/b.img (deleted)\n',
    'block/loop2/loop/backing_file': '/\n',
    'block/loop3/ro': '0\n',
  })
  expect(loopDevices(sys.path)).toEqual([
    { name: '/dev/loop2', backingFile: '/' },
    { name: '/dev/loop10', backingFile: '/srv/b.img (deleted)' },
  ])
})

describe('S10: readStaticPods', () => {
  const pod = 'kind: Pod\nmetadata: {name: p-static}\n'
  it('reads one pod a file, in order, any extension, not recursive, no hidden names', () => {
    using dir = fixture({
      'b.json': '{"kind":"Pod","metadata":{"name":"b","namespace":"ns","uid":"my-uid"}}',
      'a.yaml': pod,
      '.hidden': 'broken: [',
      'sub/c.yaml': pod,
    })
    expect(readStaticPods({ path: dir.path })).toEqual({
      path: dir.path,
      readable: true,
      manifests: [
        { file: join(dir.path, 'a.yaml'), namespace: 'default', name: 'p-static' },
        { file: join(dir.path, 'b.json'), namespace: 'ns', name: 'b', uid: 'my-uid' },
      ],
    })
    expect(readStaticPods({ path: join(dir.path, 'a.yaml') }).manifests).toHaveLength(1)
  })

  it.each([
    { name: 'a broken file', text: 'a: [' },
    { name: 'something else than a pod', text: 'kind: Deployment\nmetadata: {name: x}' },
    { name: 'two documents', text: `${pod}---\n${pod}` },
  ])('is not readable with $name, and keeps the others', ({ text }) => {
    using dir = fixture({ 'a.yaml': pod, 'x.yaml': text })
    expect(readStaticPods({ path: dir.path })).toMatchObject({ readable: false, manifests: [{ name: 'p-static' }] })
  })

  it('takes a missing path for an empty source, and a URL for one it cannot see', () => {
    expect(readStaticPods({ path: '/nowhere/at/all' })).toEqual({
      path: '/nowhere/at/all',
      readable: true,
      manifests: [],
    })
    expect(readStaticPods({})).toEqual({ readable: true, manifests: [] })
    expect(readStaticPods({ url: 'https://x/y' })).toEqual({ path: 'https://x/y', readable: false, manifests: [] })
  })
})

/** What real namespaces show of it: privileged/safety/standing.test.ts. */
describe('S7: standingObstacles', () => {
  const good: StandingFacts = {
    uidMap: '         0          0 4294967295\n',
    pidNamespace: 'pid:[4026531836]',
    referencePidNamespace: 'pid:[4026531836]',
    referenceIsKubelet: false,
    seesRuntime: false,
    rootMountId: 27,
    referenceRootMountId: 27,
    hasSysfs: true,
  }
  const nested = { ...good, pidNamespace: 'pid:[4026532999]', referencePidNamespace: 'pid:[4026532999]' }
  it.each<[name: string, facts: StandingFacts, want: string[]]>([
    ['the host', good, []],
    ['no rights', { ...good, referenceRootMountId: undefined }, ['mount namespace cannot be read']],
    ["a container's PID namespace", nested, ['PID namespace']],
    ['a node in a container, with its kubelet beside us', { ...nested, referenceIsKubelet: true }, []],
    ['no /proc', { ...good, pidNamespace: undefined, uidMap: '' }, ['user namespace', 'PID namespace']],
  ])('%s', (_name, facts, want) => {
    const found = standingObstacles(facts)
    expect(
      found.map(({ message }) => /(?:user|PID) namespace|mount namespace cannot be read/.exec(message)?.[0]),
    ).toEqual(want)
  })
})

describe('S6: checkMountNamespace', () => {
  const line = (id: number, path: string, dev = '0:9') => `${id} 1 ${dev} / ${path} rw - tmpfs t rw\n`
  const world = (namespaces: Record<string, string>, tables: Record<string, string> = {}) => {
    const proc = fixture(Object.fromEntries(Object.entries(tables).map(([pid, text]) => [`${pid}/mountinfo`, text])))
    for (const [pid, namespace] of Object.entries(namespaces)) {
      mkdirSync(join(proc.path, pid, 'ns'), { recursive: true })
      symlinkSync(`mnt:[${namespace}]`, join(proc.path, pid, 'ns/mnt'))
    }
    return proc
  }

  it('compares what the runtime sees under the root, while no kubelet runs', () => {
    const same = { self: line(5, '/k/a') + line(6, '/x'), 50: line(77, '/k/a') }
    using agreeing = world({ self: '1', 1: '1', 50: '2' }, same)
    using one = new PinnedProcess(50, agreeing.path)
    expect(() => checkMountNamespace(undefined, [one], '/k', agreeing.path)).not.toThrow()
    using lacking = world({ self: '1', 1: '1', 50: '2' }, { ...same, 50: line(77, '/k/a') + line(78, '/k/b') })
    using other = new PinnedProcess(50, lacking.path)
    expect(() => checkMountNamespace(undefined, [other], '/k', lacking.path)).toThrow(/have different mounts.*\/k\/b/)
  })

  it('tells tables apart by path, device, root and number', () => {
    const table = (text: string) => parseMountinfo(text)
    expect(firstDifference(table(line(1, '/k/a')), table(line(2, '/k/a')), '/k')).toBeUndefined()
    expect(firstDifference(table(line(1, '/k/a')), table(line(2, '/k/a', '0:8')), '/k')).toContain('/k/a')
    expect(firstDifference(table(line(1, '/k/a') + line(2, '/k/a')), table(line(2, '/k/a')), '/k')).toContain(
      'another mount on top',
    )
  })
})

it('reentry of an executable, which has script and options inside', () => {
  const word = '--internal-reentered=1:4711'
  expect(reentryCommand(4711, undefined, ['--no-warnings'], [word, 'plan', '-o', 'json'])).toEqual([
    '/proc/4711/exe',
    word,
    'plan',
    '-o',
    'json',
  ])
})
