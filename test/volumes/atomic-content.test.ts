import { describe, expect, it } from 'vitest'
import type { PodVolumeSource, ProjectedSource } from '../../src/core/kube/api/objects.ts'
import { expectedContent } from '../../src/core/volumes/atomic-content.ts'
import { NoContent } from '../../src/core/volumes/payload-entries.ts'
import { api, pod } from './builders.ts'

const configMap = {
  metadata: { name: 'cm', namespace: 'ns', uid: 'u' },
  data: { a: '1', b: '22' },
  binaryData: { bin: 'AAEC' },
  digests: { a: 'A', b: 'B', bin: 'BIN' },
}
const secret = { metadata: { name: 's', namespace: 'ns', uid: 'u' }, digests: { a: 'SA', pass: 'P' } }
const snapshot = { configMaps: [configMap], secrets: [secret] }
const user = pod([], {
  metadata: { labels: { b: 'x', a: 'yz' }, annotations: { note: 'hello', quoted: 'a"b', lines: 'a\nb' } },
})

function content(source: Omit<PodVolumeSource, 'name'>, parts: Parameters<typeof api>[0] = snapshot, of = user) {
  const expected = expectedContent(api(parts))({ pod: of, source: { name: 'v', ...source } })
  if (expected instanceof NoContent) return expected.kind
  return Object.fromEntries([...expected].map(([path, { value }]) => [path, value]))
}
const projected = (...sources: ProjectedSource[]) => ({ projected: { sources } })
const fieldRef = (path: string, fieldPath: string) => ({ downwardAPI: { items: [{ path, fieldRef: { fieldPath } }] } })

it.each<{ rule: string; source: Omit<PodVolumeSource, 'name'>; parts?: Parameters<typeof api>[0]; want: unknown }>([
  {
    rule: 'P47 every key',
    source: { configMap: { name: 'cm' } },
    want: { a: { digest: 'A' }, b: { digest: 'B' }, bin: { digest: 'BIN' } },
  },
  {
    rule: 'P47 missing key',
    source: { configMap: { name: 'cm', items: [{ key: 'no', path: 'x' }] } },
    want: 'missing',
  },
  { rule: 'P29 no object, optional', source: { configMap: { name: 'no', optional: true } }, want: {} },
  {
    rule: 'S3 unread by the kubelet',
    source: { configMap: { name: 'no', optional: true } },
    parts: { credential: 'kubelet' },
    want: 'unknown',
  },
  {
    rule: 'sizes where nobody took digests',
    source: { configMap: { name: 'cm' } },
    parts: { configMaps: [{ ...configMap, data: { a: 'é' }, digests: undefined }] },
    want: { a: { size: 2 }, bin: { size: 3 } },
  },
  { rule: 'P48 secret, optional and absent', source: { secret: { secretName: 'no', optional: true } }, want: {} },
  {
    rule: 'P51 one missing source',
    source: projected({ secret: { name: 's' } }, { configMap: { name: 'no' } }),
    want: 'missing',
  },
  {
    rule: 'P53, P55, P56 what only the kubelet can write',
    source: projected(
      { serviceAccountToken: { path: 't' } },
      { clusterTrustBundle: { path: 'b' } },
      { podCertificate: { credentialBundlePath: 'c', keyPath: 'k' } },
    ),
    want: { t: {}, b: {}, c: {}, k: {} },
  },
  {
    rule: 'a source of the future',
    source: { projected: { sources: [{ hologram: {} } as object] } },
    want: 'unknown',
  },
  {
    rule: 'P27 cleaned path',
    source: { configMap: { name: 'cm', items: [{ key: 'a', path: './x//y/' }] } },
    want: { 'x/y': { digest: 'A' } },
  },
  ...['../x', 'x/../y', '/x', '..x', '..data/x', '', 'y'.repeat(256), 'y/'.repeat(2049)].map((path) => ({
    rule: `P27 path ${path.slice(0, 8)}`,
    source: { configMap: { name: 'cm', items: [{ key: 'a', path }] } },
    want: 'invalid',
  })),
  ...['y'.repeat(255), `${'y/'.repeat(2047)}yy`].map((path) => ({
    rule: 'P27 as long as a path may be',
    source: { configMap: { name: 'cm', items: [{ key: 'a', path }] } },
    want: { [path]: { digest: 'A' } },
  })),
])('P46-P48, P51-P53: expected files: $rule', ({ source, parts, want }) => expect(content(source, parts)).toEqual(want))

describe('P50: downward API', () => {
  it.each([
    ['metadata.namespace', { size: 2 }],
    ['metadata.uid', { size: 7 }],
    ['metadata.labels', { size: 'a="yz"\nb="x"'.length }],
    ["metadata.annotations['note']", { size: 5 }],
    // The kubelet adds its own annotations in memory, and snapshots leave one out.
    ['metadata.annotations', {}],
    ["metadata.annotations['kubernetes.io/config.source']", {}],
    ["metadata.annotations['kubectl.kubernetes.io/last-applied-configuration']", {}],
  ])('%s', (fieldPath, want) => {
    expect(content(projected(fieldRef('f', fieldPath)))).toEqual({ f: want })
  })

  it.each([
    ['a"b', { size: 'a="a\\"b"'.length }],
    // What Go escapes of it depends on its version.
    ['é', {}],
  ])('a label %j is written in quotes', (value, want) => {
    const labelled = pod([], { metadata: { labels: { a: value } } })
    expect(content(fieldRef('f', 'metadata.labels'), snapshot, labelled)).toEqual({ f: want })
  })

  it('resources depend on the node', () => {
    const resourceFieldRef = { resource: 'limits.cpu', containerName: 'c' }
    expect(content({ downwardAPI: { items: [{ path: 'cpu', resourceFieldRef }] } })).toEqual({ cpu: {} })
  })
})
