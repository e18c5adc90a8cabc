import { describe, expect, it } from 'vitest'
import type {
  ClusterTrustBundle,
  Container,
  DownwardApiItem,
  Pod,
  PodVolumeSource,
  ProjectedSource,
} from '../../src/core/kube/api/objects.ts'
import type { Lookup } from '../../src/core/volumes/api-lookup.ts'
import { contentBytes, type FreshObjects } from '../../src/core/volumes/content-bytes.ts'
import { goQuote } from '../../src/core/volumes/downward-api-value.ts'
import { NoContent, nestedMountPoints } from '../../src/core/volumes/payload-entries.ts'
import { pod } from './builders.ts'

const metadata = { namespace: 'ns', uid: 'u' }
const configMap = {
  metadata: { ...metadata, name: 'cm' },
  data: { a: '1', both: 'text' },
  binaryData: { bin: 'AAEC', both: 'AAEC' },
}
const secret = { metadata: { ...metadata, name: 's' }, data: { pass: 'cHc=', a: 'Mg==' } }
const containers: readonly Container[] = [
  {
    name: 'main',
    resources: {
      limits: { cpu: '1500m', memory: '64Mi', 'hugepages-2Mi': '4Mi' },
      requests: { cpu: '250m', memory: '1' },
    },
  },
  { name: 'bare' },
]
const initContainers: readonly Container[] = [{ name: 'init', resources: { limits: { cpu: '2' } } }]
const POD = pod([], {
  metadata: { labels: { b: 'x', a: 'say "hi"\n' }, annotations: { z: 'é\u00a0\u0007' } },
  spec: { containers, initContainers, serviceAccountName: 'sa' },
})
const NODE = {
  metadata: { name: 'node-1', uid: 'n' },
  status: { allocatable: { cpu: '3920m', memory: '7Gi', 'hugepages-2Mi': '1Gi' } },
}

interface Given {
  readonly pod?: Pod
  readonly token?: Lookup<string>
  readonly bundles?: Lookup<readonly ClusterTrustBundle[]>
  readonly node?: typeof NODE | undefined
}

/** Files as `mode[:owner] bytes`, or why there are none. */
function bytes(source: Omit<PodVolumeSource, 'name'>, given: Given = {}): unknown {
  const sources = source.projected?.sources ?? []
  const absent: Lookup<never> = { state: 'Absent' }
  const forbidden: Lookup<never> = { state: 'Unknown', reason: 'could not be read: forbidden' }
  const fresh: FreshObjects = {
    pod: given.pod ?? POD,
    node: 'node' in given ? given.node : NODE,
    configMaps: new Map<string, Lookup<typeof configMap>>([
      ['cm', { state: 'Found', object: configMap }],
      ['none', absent],
      ['forbidden', forbidden],
    ]),
    secrets: new Map<string, Lookup<typeof secret>>([
      ['s', { state: 'Found', object: secret }],
      ['none', absent],
      ['forbidden', forbidden],
    ]),
    tokens: new Map(
      sources.flatMap(({ serviceAccountToken: each }) =>
        each === undefined ? [] : [[each, given.token ?? { state: 'Found', object: 'jwt' }] as const],
      ),
    ),
    trustBundles: new Map(
      sources.flatMap(({ clusterTrustBundle: each }) =>
        each === undefined ? [] : [[each, given.bundles ?? { state: 'Found', object: [] }] as const],
      ),
    ),
  }
  const content = contentBytes({ name: 'v', ...source }, fresh)
  if (content instanceof NoContent) return `${content.kind}: ${content.message}`
  return Object.fromEntries(
    [...content].map(([path, { value, mode, owner }]) => [
      path,
      `${mode.toString(8)}${owner === undefined ? '' : `:${owner}`} ${value.toString('latin1')}`,
    ]),
  )
}

const projected = (...sources: readonly ProjectedSource[]) => ({ projected: { sources, defaultMode: 0o640 } })
const item = (given: Omit<DownwardApiItem, 'path'>) => ({ downwardAPI: { items: [{ path: 'f', ...given }] } })
const withUser = (fsGroup?: number): Pod => ({
  ...POD,
  spec: { ...POD.spec, securityContext: { runAsUser: 7, fsGroup } },
})

it.each<[string, Omit<PodVolumeSource, 'name'>, unknown]>([
  ['every key, text first', { configMap: { name: 'cm' } }, { bin: '644 \0\x01\x02', both: '644 text', a: '644 1' }],
  [
    'the default mode, and the item’s own',
    {
      secret: {
        secretName: 's',
        defaultMode: 0o400,
        items: [
          { key: 'pass', path: 'd/p', mode: 0o755 },
          { key: 'a', path: 'a' },
        ],
      },
    },
    { 'd/p': '755 pw', a: '400 2' },
  ],
  [
    'the later source wins',
    projected({ configMap: { name: 'cm' } }, { secret: { name: 's' } }),
    { bin: '640 \0\x01\x02', both: '640 text', a: '640 2', pass: '640 pw' },
  ],
  ['no object', { configMap: { name: 'none' } }, 'missing: ConfigMap ns/none does not exist'],
  [
    'unreadable, and optional does not help (S3)',
    { secret: { secretName: 'forbidden', optional: true } },
    'unknown: Secret ns/forbidden could not be read: forbidden',
  ],
  [
    'a path that escapes',
    { configMap: { name: 'cm', items: [{ key: 'a', path: '../a' }] } },
    'invalid: the path "../a" is not allowed',
  ],
  [
    'a path below a file',
    {
      configMap: {
        name: 'cm',
        items: [
          { key: 'a', path: 'x' },
          { key: 'bin', path: 'x/y' },
        ],
      },
    },
    'invalid: the path "x/y" is below another file of the volume',
  ],
  [
    'a certificate',
    projected({ podCertificate: { keyPath: 'k' } }),
    'unknown: a certificate of the pod, which only the kubelet requests',
  ],
])('P46-P48, P51, P52: TestCollectDataWith*: %s', (_name, source, want) => expect(bytes(source)).toEqual(want))

describe('P50: downward API', () => {
  const field = (fieldPath: string) => item({ fieldRef: { fieldPath } })
  it.each([
    ['metadata.name', '644 web'],
    ['metadata.labels', '644 a="say \\"hi\\"\\n"\nb="x"'],
    ["metadata.labels['a']", '644 say "hi"\n'],
    ["metadata.labels['none']", '644 '],
    ["metadata.annotations['constructor']", '644 '],
  ])('%s', (fieldPath, want) => expect(bytes(field(fieldPath))).toEqual({ f: want }))

  it('refuses any other field', () =>
    expect(bytes(field('status.podIP'))).toBe('invalid: "status.podIP" is not a field of the downward API'))

  it.each<[string, string | undefined, string, unknown]>([
    ['limits.cpu', undefined, 'main', '2'],
    ['limits.cpu', '1m', 'main', '1500'],
    ['requests.cpu', undefined, 'main', '1'],
    ['limits.memory', '1Mi', 'main', '64'],
    ['limits.hugepages-2Mi', '1Mi', 'main', '4'],
    // What a container does not limit is limited by the node; huge pages and requests are not.
    ['limits.cpu', '1m', 'bare', '3920'],
    ['limits.memory', '1Gi', 'bare', '7'],
    ['limits.hugepages-2Mi', undefined, 'bare', '0'],
    ['requests.cpu', '1m', 'bare', '0'],
  ])('%s by %s of %s', (resource, divisor, containerName, want) => {
    const resourceFieldRef = { resource, containerName, divisor }
    expect(bytes(item({ resourceFieldRef }))).toEqual({ f: `644 ${want}` })
  })

  it.each([
    ['limits.gpu', 'main', 'invalid: limits.gpu is not a resource of the downward API'],
    ['limits.cpu', 'other', 'invalid: the pod has no container "other"'],
    ['limits.cpu', 'bare', 'unknown: the Node was not read, whose allocatable cpu is the default of limits.cpu'],
  ])('%s of %s without a node', (resource, containerName, want) =>
    expect(bytes(item({ resourceFieldRef: { resource, containerName } }), { node: undefined })).toBe(want),
  )

  it.each([
    ['plain text', '"plain text"'],
    ['"\\', '"\\"\\\\"'],
    ['\u0007\b\f\n\r\t\v', '"\\a\\b\\f\\n\\r\\t\\v"'],
    ['\0\u001b\u007f', '"\\x00\\x1b\\x7f"'],
    ['é日🙂', '"é日🙂"'],
    ['\u00a0\u200b\ufeff', '"\\u00a0\\u200b\\ufeff"'],
    ['\u{e0001}', '"\\U000e0001"'],
  ])('quotes %j as Go does', (text, want) => expect(goQuote(text)).toBe(want))
})

describe('P53: service account tokens', () => {
  const source = projected({ serviceAccountToken: { path: 't', audience: 'vault' } })
  it.each<[string, Given, unknown]>([
    ['the default mode', {}, { t: '640 jwt' }],
    ['only its user', { pod: withUser() }, { t: '600:7 jwt' }],
    ['both', { pod: withUser(5) }, { t: '600:7 jwt' }],
    [
      'no account',
      { token: { state: 'Absent' } },
      'missing: a token of service account ns/sa for vault: the account or the pod does not exist',
    ],
    [
      'refused',
      { token: { state: 'Unknown', reason: 'could not be read: no' } },
      'unknown: a token of service account ns/sa for vault could not be read: no',
    ],
  ])('%s', (_name, given, want) => expect(bytes(source, given)).toEqual(want))
})

describe('P55: cluster trust bundles', () => {
  const pem = (body: string, type = 'CERTIFICATE') => `-----BEGIN ${type}-----\n${body}\n-----END ${type}-----\n`
  const bundle = (name: string, trustBundle: string, labels = {}, signerName = 'signer'): ClusterTrustBundle => ({
    metadata: { name, uid: name, labels },
    spec: { signerName, trustBundle },
  })
  const two: Lookup<readonly ClusterTrustBundle[]> = {
    state: 'Found',
    object: [
      bundle('b', `${pem('AAEC')}words between\n${pem('AAED')}`, { tier: 'front' }),
      bundle('a', `${pem('AAEC')}${pem('h: v\n\nAAEE')}`, { tier: 'back' }),
      bundle('other', pem('AAEF'), {}, 'another'),
    ],
  }
  const one: Lookup<readonly ClusterTrustBundle[]> = {
    state: 'Found',
    object: [bundle('a', pem('AAEC').replaceAll('\n', '\r\n'))],
  }
  const bySigner = (labelSelector?: object) => ({
    path: 'ca',
    signerName: 'signer',
    ...(labelSelector && { labelSelector }),
  })
  it.each<[string, NonNullable<ProjectedSource['clusterTrustBundle']>, Given, unknown]>([
    ['by name', { path: 'ca', name: 'a' }, { bundles: one }, { ca: `640 ${pem('AAEC')}` }],
    [
      'each certificate once, in order',
      bySigner({}),
      { bundles: two },
      { ca: `640 ${pem('AAEC')}${pem('AAED')}${pem('AAEE')}` },
    ],
    [
      'no selector matches nothing',
      bySigner(),
      { bundles: two },
      'missing: no ClusterTrustBundle of signer signer matches',
    ],
    ['which may be optional', { ...bySigner(), optional: true }, { bundles: two }, { ca: '640 ' }],
    [
      'unreadable, optional',
      { path: 'ca', name: 'a', optional: true },
      { bundles: { state: 'Unknown', reason: 'could not be read: x' } },
      'unknown: ClusterTrustBundle a could not be read: x',
    ],
  ])('%s', (_name, clusterTrustBundle, given, want) =>
    expect(bytes(projected({ clusterTrustBundle }), given)).toEqual(want),
  )
})

const container = (...mounts: readonly [string, string][]): Container => ({
  name: 'c',
  volumeMounts: mounts.map(([name, mountPath]) => ({ name, mountPath })),
})
it.each<[string, Partial<Pod['spec']>, string[]]>([
  ['none', { containers: [container(['v', '/dir'], ['w', '/other'])] }, []],
  ['one', { containers: [container(['v', '/dir'], ['w', '/dir/nested'])] }, ['nested']],
  [
    'unsorted neighbours',
    { containers: [container(['w', '/dir/nested-x'], ['w', '/dir/nested'], ['w', '/dir/nested.y'], ['v', '/dir/'])] },
    ['nested', 'nested-x', 'nested.y'],
  ],
  [
    'mounted twice',
    { containers: [container(['v', '/one'], ['v', '/two'], ['w', '/one/a'], ['w', '/two/b'])] },
    ['a', 'b'],
  ],
  [
    'in init and ephemeral containers',
    {
      containers: [container(['v', '/dir'])],
      initContainers: [container(['v', '/d'], ['w', '/d/i'])],
      ephemeralContainers: [container(['v', '/e'], ['w', '/e/j'])],
    },
    ['i', 'j'],
  ],
  ['a longer name is no parent', { containers: [container(['v', '/dir'], ['w', '/dirnested'])] }, []],
])('P26: TestGetNestedMountpoints: %s', (_name, spec, want) =>
  expect(nestedMountPoints('v', pod([], { spec })).sort()).toEqual(want),
)
