/** emptyDir, set up with real directories and mounts. */
import { existsSync, lstatSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { release } from 'node:os'
import { describe, expect } from 'vitest'
import type { Pod, PodVolumeSource } from '../../../src/core/kube/api/objects.ts'
import { isInUserNamespace } from '../../../src/core/linux/standing.ts'
import { knowsNoswap } from '../../../src/core/volumes/empty-dir-steps.ts'
import { LiveNode, POD } from '../../helpers/live-node.ts'
import { it } from '../../helpers/machine.ts'
import { noRoot } from '../../helpers/namespace.ts'
import { sh } from '../../helpers/scenario.ts'
import { describeUnless } from '../describe-unless.ts'

const ORPHANS = { orphans: true }

type EmptyDir = NonNullable<PodVolumeSource['emptyDir']>

const kernelVersion = release()

/** Its allocatable memory is 64Mi. */
function nodeWith(directory: string, emptyDir: EmptyDir, spec: Partial<Pod['spec']> = {}) {
  const node = new LiveNode(directory)
  node.override = { kernelVersion }
  node.pod(POD, 'a', [{ name: 'scratch', emptyDir }], { spec })
  return { node, dir: `${node.root}/pods/${POD}/volumes/kubernetes.io~empty-dir/scratch` }
}

function look(path: string): string {
  const { gid, mode } = lstatSync(path)
  return `${gid} ${(mode & 0o7777).toString(8)}`
}

/** The newest mount on a path, by what a test decides on. */
function mountOn(node: LiveNode, path: string): string {
  const { fsType = '', options = [], superOptions = [] } = node.mounts().top(path) ?? {}
  const told = [...options, ...superOptions].filter((each) => /^(size|noswap|pagesize)/.test(each))
  return [fsType, ...new Set(told)].join(' ')
}

/** It is there, and goes with its pod; data is kept until it is asked for. */
async function goes(node: LiveNode, dir: string): Promise<void> {
  expect(await node.operations()).toEqual([])
  writeFileSync(`${dir}/file`, 'data')
  node.forget(POD)
  expect(await node.applied()).toEqual(['blocked DeletesData'])
  expect(await node.applied(ORPHANS)).toEqual(['done', 'done'])
  expect([...(await node.operations(ORPHANS)), ...node.mounted()]).toEqual([])
  expect(existsSync(`${node.root}/pods/${POD}`)).toBe(false)
}

const volumeMounts = [{ name: 'scratch', mountPath: '/scratch' }]
const withResources = (resources: object): Partial<Pod['spec']> => ({
  containers: [{ name: 'c', resources, volumeMounts }],
})
const hugePages = (size: string) => withResources({ requests: { [`hugepages-${size}`]: '4Mi' } })

const noHugePages =
  noRoot ??
  (existsSync('/sys/kernel/mm/hugepages/hugepages-2048kB') ? undefined : 'this kernel has no huge pages of 2Mi')

describe('emptyDir for real', () => {
  it('is made, is there, and goes with its pod', async ({ directory }) => {
    const { node, dir } = nodeWith(directory, {})
    expect(await node.applied()).toEqual(['done'])
    expect(look(dir)).toMatch(/ 777$/)
    await goes(node, dir)
  })

  it('fails, and leaves what it found, where a file is in its place', async ({ directory }) => {
    const { node } = nodeWith(directory, {})
    const parent = `${node.root}/pods/${POD}/volumes`
    mkdirSync(parent, { recursive: true })
    writeFileSync(`${parent}/kubernetes.io~empty-dir`, 'not a directory')
    expect(await node.applied()).toEqual(['failed WriteFailed'])
    expect(readFileSync(`${parent}/kubernetes.io~empty-dir`, 'utf8')).toBe('not a directory')
  })

  it.for([
    { sizeLimit: '', size: '65536k', spec: {} },
    // No more than its pod may have.
    { sizeLimit: '48Mi', size: '32768k', spec: withResources({ limits: { memory: '32Mi' } }) },
  ])(
    'in memory with sizeLimit "$sizeLimit" it has $size (P38, P39)',
    async ({ sizeLimit, size, spec }, { directory }) => {
      const limit = sizeLimit === '' ? {} : { sizeLimit }
      const { node, dir } = nodeWith(directory, { medium: 'Memory', ...limit }, spec)
      expect(await node.applied()).toEqual(['done'])
      const noswap = knowsNoswap(kernelVersion) && !isInUserNamespace()
      expect(mountOn(node, dir)).toBe(`tmpfs size=${size}${noswap ? ' noswap' : ''}`)
      expect(look(dir)).toBe('0 1777')
      node.forget(POD)
      expect(await node.applied(ORPHANS)).toEqual(['done', 'done'])
      expect(node.mounted()).toEqual([])
    },
  )
})

describeUnless(noHugePages, 'emptyDir of huge pages', () => {
  it('has pages of the size that its pod asks for, and is not mounted over others', async ({ directory }) => {
    const { node, dir } = nodeWith(directory, { medium: 'HugePages-2Mi' }, hugePages('2Mi'))
    expect(await node.applied()).toEqual(['done'])
    expect([mountOn(node, dir), look(dir)]).toEqual(['hugetlbfs pagesize=2M', '0 755'])
    node.forget(POD)
    expect(await node.applied(ORPHANS)).toEqual(['done', 'done'])
    const other = nodeWith(`${directory}/other`, { medium: 'HugePages-1Gi' }, hugePages('1Gi'))
    mkdirSync(other.dir, { recursive: true })
    sh('mount', '-t', 'hugetlbfs', '-o', 'pagesize=2Mi', 'nodev', other.dir)
    expect(await other.node.applied()).toEqual(['blocked ForeignMount'])
    expect(other.node.mounts().reached(other.dir)).toHaveLength(1)
  })
})
