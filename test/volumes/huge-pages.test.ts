import { describe, expect, it } from 'vitest'
import type { Pod, Resources } from '../../src/core/kube/api/objects.ts'
import { hasPageSize, mediumOf, mountedPageSize, requestedPageSize } from '../../src/core/volumes/empty-dir.ts'

const requests = (...sizes: string[]): Resources => ({
  requests: Object.fromEntries([['cpu', '1'], ...sizes.map((size) => [`hugepages-${size}`, '100Mi'])]),
})

function pages(medium: string) {
  const found = mediumOf({ source: { name: 'v', emptyDir: { medium } } })
  if (found.kind !== 'hugePages') throw new Error(`${medium} is ${found.kind}`)
  return found
}

it.each([
  ['', 'disk'],
  ['Memory', 'memory'],
  ['HugePages', 'hugePages'],
  ['HugePages-2Mi', 'hugePages'],
  ['HugePages2Mi', 'unknown'],
  ['memory', 'unknown'],
])('medium %j is %s (P36)', (medium, kind) => {
  expect(mediumOf({ source: { name: 'v', emptyDir: { medium } } }).kind).toBe(kind)
})

/** TestGetHugePagesMountOptions */
describe('the page size to mount with (P40)', () => {
  const one = (resources: Resources) => ({ containers: [{ name: 'c', resources }] })
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
  ])('%s', (_, spec, medium, expected) => {
    const found = requestedPageSize(pages(medium), { metadata: { name: 'a', uid: 'u' }, spec })
    if (typeof expected === 'string') expect(found).toEqual({ size: expected })
    else expect(found).toEqual({ error: expect.stringMatching(expected) })
  })
})

/** TestGetPageSize */
describe('the page size of what is mounted (P41)', () => {
  it.each([
    { options: ['rw', 'pagesize=2M'], bytes: 2n << 20n },
    { options: ['pagesize=2Mi', 'rw'], bytes: 2n << 20n },
    { options: ['pagesize=1024M'], bytes: 1n << 30n },
    { options: ['rw', 'size=2M'], bytes: undefined },
    { options: ['pagesize=big'], bytes: undefined },
  ])('$options: $bytes', ({ options, bytes }) => {
    expect(mountedPageSize(options)).toBe(bytes)
  })

  it('has to be the one of the medium, where that names one', () => {
    const fits = (medium: string, ...superOptions: string[]) => hasPageSize({ superOptions }, pages(medium))
    expect(fits('HugePages-1Gi', 'pagesize=1024M')).toBe(true)
    expect(fits('HugePages-2Mi', 'pagesize=1024M')).toBe(false)
    expect(fits('HugePages-2Mi', 'rw')).toBe(false)
    expect(fits('HugePages', 'pagesize=1024M')).toBe(true)
  })
})
