/** Odd, legal pods that have all that they want: nothing is planned, and nothing waits (contract, "Plan"). */
import { expect, it } from 'vitest'
import { planExitStatus } from '../../src/core/cli/carry-out.ts'
import type { PersistentVolume, Pod, PodVolumeSource } from '../../src/core/kube/api/objects.ts'
import { planNode } from '../../src/core/reconcile/plan-node.ts'
import { captureFiles, recorded } from '../helpers/captures.ts'
import { type NodeBuilder, node, uid } from '../helpers/node-builder.ts'
import { planOptions } from '../helpers/plan-options.ts'
import { plan } from './planned.ts'

const POD = uid(2)
const GENERATION = '..2026_11_21_02_04_30.1'
const ready = (name: string): string => `pods/${POD}/plugins/kubernetes.io~empty-dir/${name}/ready`

/** A volume that an atomic writer has filled with files of these sizes. */
function filled(built: NodeBuilder, plugin: string, sizes: Readonly<Record<string, number>>): NodeBuilder {
  const dir = `pods/${POD}/volumes/kubernetes.io~${plugin}/v`
  if (plugin === 'configmap') built.dir(dir)
  else built.mount(dir, { fsType: 'tmpfs' })
  built.file(ready('wrapped_v')).dir(`${dir}/${GENERATION}`).link(`${dir}/..data`, GENERATION)
  for (const [path, size] of Object.entries(sizes)) {
    built.file(`${dir}/${GENERATION}/${path}`, undefined, undefined, size)
    const [top = path] = path.split('/')
    built.link(`${dir}/${top}`, `..data/${top}`)
  }
  return built
}

const living = (source: Omit<PodVolumeSource, 'name'>, spec: Partial<Pod['spec']> = {}): NodeBuilder => {
  return node()
    .livingPod(POD, 'app', [{ name: 'v', ...source }], { spec })
    .withApi({
      configMaps: [
        {
          metadata: { name: 'c', namespace: 'default', uid: 'c' },
          data: { crlf: 'a\r\nb', umlaut: 'ü', empty: '' },
          binaryData: { bin: Buffer.from([0, 255, 10]).toString('base64') },
          immutable: true,
        } as never,
        { metadata: { name: 'none', namespace: 'default', uid: 'none' } },
      ],
      secrets: [{ metadata: { name: 's', namespace: 'default', uid: 's' } }],
    })
}

const KEYS = { crlf: 4, umlaut: 2, empty: 0, bin: 3 }

/** A PersistentVolume of this source, with a bound claim `claim-pv`. */
const withVolume = (built: NodeBuilder, source: PersistentVolume['spec']): NodeBuilder =>
  built.persistentVolume('pv', { source })
const CLAIM = { persistentVolumeClaim: { claimName: 'claim-pv' } }

it.each<[string, () => NodeBuilder]>([
  ['a configMap of every kind of key', () => filled(living({ configMap: { name: 'c' } }), 'configmap', KEYS)],
  ['an empty configMap', () => filled(living({ configMap: { name: 'none' } }), 'configmap', {})],
  [
    'an optional configMap that is absent',
    () => filled(living({ configMap: { name: 'x', optional: true } }), 'configmap', {}),
  ],
  ['a secret whose digests nobody took', () => filled(living({ secret: { secretName: 's' } }), 'secret', { any: 3 })],
  [
    'all kinds of projected sources',
    () =>
      filled(
        living({
          projected: {
            sources: [
              { serviceAccountToken: { path: 'token' } },
              { configMap: { name: 'c', items: [{ key: 'bin', path: 'deep/er/bin' }] } },
              { downwardAPI: { items: [{ path: 'name', fieldRef: { fieldPath: 'metadata.name' } }] } },
              { clusterTrustBundle: { name: 'b', path: 'bundle.pem' } as never },
              {
                podCertificate: { signerName: 's/s', keyType: 'ED25519', credentialBundlePath: 'cert.pem' } as never,
              },
            ],
          },
        }),
        'projected',
        { token: 9, 'deep/er/bin': 3, name: 3, 'bundle.pem': 5, 'cert.pem': 7 },
      ),
  ],
  [
    'a volume that no container uses',
    () => living({ emptyDir: { medium: 'Memory' } }, { containers: [{ name: 'c' }] }),
  ],
  ['a PersistentVolume that is a hostPath', () => withVolume(living(CLAIM), { hostPath: { path: '/x' } })],
  [
    'a PersistentVolume that is nfs',
    () =>
      withVolume(living(CLAIM), { nfs: { server: 's', path: '/' } }).mount(`pods/${POD}/volumes/kubernetes.io~nfs/pv`, {
        fsType: 'nfs4',
        source: 's:/',
      }),
  ],
])('nothing to do for a pod with: %s', (_name, make) => {
  for (const running of [false, true]) {
    const built = make().with({ kubelet: { running, mayReturn: running } })
    const { operations, waiting } = plan(built)
    expect([operations, waiting]).toEqual([[], []])
  }
})

it.each(captureFiles(['node.json']))(
  "nothing is said of what the kubelet's own credential may read only singly: %s",
  async (file) => {
    const state = await recorded(file)
    const { api } = state.snapshot
    if (api === undefined) throw new Error('no API')
    const lists = ['persistentvolumes', 'persistentvolumeclaims', 'volumeattachments', 'configmaps', 'secrets']
    const errors = lists.map((resource) => ({
      ...{ resource, status: 403, reason: 'Forbidden' },
      message: `${resource} is forbidden: User "system:node:n" cannot list resource "${resource}" at the cluster scope`,
    }))
    const own = { ...api, credential: 'kubelet', user: `system:node:${state.snapshot.nodeName}`, errors }
    const made = planNode({ ...state, snapshot: { ...state.snapshot, api: own } }, planOptions())
    expect(made).toMatchObject({ operations: [], waiting: [], problems: [], complete: true })
    expect(planExitStatus(made, true)).toBe(0)
  },
)
