import { describe, expect, it } from 'vitest'
import type { Container, Pod } from '../../src/core/kube/api/objects.ts'
import { hasPageSize, mediumOf, requestedPageSize } from '../../src/core/volumes/empty-dir.ts'
import { knowsNoswap, podMemoryLimit, tmpfsSize } from '../../src/core/volumes/empty-dir-steps.ts'
import { parseQuantity } from '../../src/core/volumes/quantity.ts'

const MEBI = 1024n * 1024n

function container(memory: string | undefined, more: Partial<Container> = {}): Container {
  return { name: 'c', ...(memory === undefined ? {} : { resources: { limits: { memory } } }), ...more }
}

it.each<[string, Pod['spec'], bigint | undefined]>([
  ['no container', {}, undefined],
  ['one limit', { containers: [container('10Mi')] }, 10n * MEBI],
  ['limits of all add up', { containers: [container('10Mi'), container('6Mi')] }, 16n * MEBI],
  ['one has none', { containers: [container('10Mi'), container(undefined)] }, undefined],
  ['0 is none', { containers: [container('10Mi'), container('0')] }, undefined],
  ['requests are no limits', { containers: [{ name: 'c', resources: { requests: { memory: '1Gi' } } }] }, undefined],
  [
    'an init container that needs more',
    { containers: [container('10Mi')], initContainers: [container('30Mi'), container('20Mi')] },
    30n * MEBI,
  ],
  ['an init container without', { containers: [container('10Mi')], initContainers: [container(undefined)] }, undefined],
  [
    'a sidecar runs beside the others, and beside the init containers after it',
    {
      containers: [container('10Mi')],
      initContainers: [container('5Mi', { restartPolicy: 'Always' }), container('12Mi')],
    },
    17n * MEBI,
  ],
  [
    'a sidecar and small init containers',
    { containers: [container('10Mi')], initContainers: [container('5Mi', { restartPolicy: 'Always' })] },
    15n * MEBI,
  ],
  [
    'the limit of the pod itself goes before those of containers',
    { containers: [container(undefined), container('64Mi')], resources: { limits: { memory: '32Mi' } } },
    32n * MEBI,
  ],
  [
    'the pod’s limit of something else',
    { containers: [container(undefined)], resources: { limits: { cpu: '1' } } },
    undefined,
  ],
  ['overhead', { containers: [container('10Mi')], overhead: { memory: '2Mi' } }, 12n * MEBI],
  ['overhead of no limit', { containers: [container(undefined)], overhead: { memory: '2Mi' } }, undefined],
  [
    'ephemeral containers do not count',
    { containers: [container('10Mi')], ephemeralContainers: [container(undefined)] },
    10n * MEBI,
  ],
])('the memory limit of a pod (P38): %s', (_, spec, limit) => {
  expect(podMemoryLimit({ metadata: { name: 'a', uid: 'u' }, spec })).toBe(limit)
})

/** TestCalculateEmptyDirMemorySize: the node has 16Gi. */
it.each([
  { node: '16Gi', pod: undefined, volume: undefined, size: '16Gi' },
  { node: '16Gi', pod: '10Gi', volume: '1Gi', size: '1Gi' },
  { node: '16Gi', pod: '10Gi', volume: undefined, size: '10Gi' },
  { node: '16Gi', pod: undefined, volume: '1Gi', size: '1Gi' },
  { node: '16Gi', pod: '10Gi', volume: '12Gi', size: '10Gi' },
  { node: '16Gi', pod: '20Gi', volume: '18Gi', size: '16Gi' },
  { node: '16Gi', pod: '10Gi', volume: '0', size: '10Gi' },
  { node: '16Gi', pod: '10Gi', volume: '-1Gi', size: '10Gi' },
  { node: '16Gi', pod: '10Gi', volume: '0.5', size: '1' },
  { node: '0', pod: '10Gi', volume: '1Gi', size: undefined },
])('the size of a tmpfs (P38): node $node, pod $pod, volume $volume: $size', ({ node, pod, volume, size }) => {
  expect(tmpfsSize(parseQuantity(node) ?? 0n, parseQuantity(pod), parseQuantity(volume))).toBe(parseQuantity(size))
})

it.each([
  ['6.4.0', true],
  ['6.12.9-amd64', true],
  ['6.4', true],
  ['10.0.1', true],
  ['6.3.13', false],
  ['5.14.0-503.el9', false],
  ['unknown', false],
  [undefined, false],
])('kernel %s can keep a tmpfs out of swap: %s (P39)', (version, answer) => {
  expect(knowsNoswap(version)).toBe(answer)
})

const requests = (...sizes: string[]): Container['resources'] => ({
  requests: Object.fromEntries([['cpu', '1'], ...sizes.map((size) => [`hugepages-${size}`, '100Mi'])]),
})

const pages = (medium: string) => mediumOf({ source: { name: 'v', emptyDir: { medium } } })

it.each([
  ['', 'none'],
  ['Memory', 'tmpfs'],
  ['HugePages', 'hugetlbfs'],
  ['HugePages-2Mi', 'hugetlbfs'],
  ['HugePages2Mi', undefined],
  ['memory', undefined],
])('medium %j is %s (P36)', (medium, fsType) => {
  expect(pages(medium).fsType).toBe(fsType)
})

/** TestGetHugePagesMountOptions */
const one = (resources: Container['resources']) => ({ containers: [{ name: 'c', resources }] })
it.each<[string, Pod['spec'], string, string | RegExp]>([
  ['one size', one(requests('2Mi')), 'HugePages', '2Mi'],
  ['the size of the medium', one(requests('2Mi')), 'HugePages-2Mi', '2Mi'],
  ['two sizes, one of them asked for', one(requests('2Mi', '1Gi')), 'HugePages-1Gi', '1Gi'],
  ['two sizes and plain HugePages', one(requests('2Mi', '1Gi')), 'HugePages', /several sizes/],
  ['the same size in another word', one(requests('1024Mi')), 'HugePages-1Gi', '1024Mi'],
  ['none', one({ requests: { cpu: '1' } }), 'HugePages', /no container requests/],

  [
    'an init container',
    { containers: [{ name: 'c' }], initContainers: [{ name: 'i', resources: requests('1Gi') }] },
    'HugePages',
    '1Gi',
  ],
  ['the pod itself', { containers: [{ name: 'c' }], resources: requests('2Mi') }, 'HugePages-2Mi', '2Mi'],

  ['a medium that is no size', one(requests('2Mi')), 'HugePages-big', /"big" is not a page size/],
  ['a medium with an empty size', one(requests('2Mi')), 'HugePages-', /"" is not a page size/],
])('the page size to mount with (P40): %s', (_, spec, medium, expected) => {
  const found = requestedPageSize(pages(medium), { metadata: { name: 'a', uid: 'u' }, spec })
  if (typeof expected === 'string') expect(found).toEqual({ size: expected })
  else expect(found).toEqual({ error: expect.stringMatching(expected) })
})

/** TestGetPageSize */
describe('the page size of what is mounted (P41)', () => {
  it.each([
    { options: ['rw', 'pagesize=2M'], fits: ['HugePages', 'HugePages-2Mi'] },
    { options: ['pagesize=2Mi', 'rw'], fits: ['HugePages', 'HugePages-2Mi'] },
    { options: ['pagesize=1024M'], fits: ['HugePages', 'HugePages-1Gi'] },
    { options: ['rw', 'size=2M'], fits: ['HugePages'] },
    { options: ['pagesize=big'], fits: ['HugePages'] },
  ])('$options: $fits', ({ options: superOptions, fits }) => {
    const media = ['HugePages', 'HugePages-2Mi', 'HugePages-1Gi', 'HugePages-big']
    expect(media.filter((medium) => hasPageSize({ superOptions }, pages(medium)))).toEqual(fits)
  })
})
