import { describe, expect, it } from 'vitest'
import type { NodeSelectorTerm, PersistentVolume, PodVolumeSource } from '../../src/core/kube/api/objects.ts'
import { translate } from '../../src/core/volumes/in-tree-volumes.ts'

const GA = 'topology.kubernetes.io/zone'
const GA_REGION = 'topology.kubernetes.io/region'
const BETA = 'failure-domain.beta.kubernetes.io/zone'
const BETA_REGION = 'failure-domain.beta.kubernetes.io/region'
type Labels = Readonly<Record<string, string>>
type Metadata = { labels?: Labels; annotations?: Labels }

function pv(spec: PersistentVolume['spec'], metadata: Metadata = {}): PersistentVolume {
  return { metadata: { name: 'pv', uid: 'u', ...metadata }, spec: { volumeMode: 'Filesystem', ...spec } }
}

function affinity(...terms: NodeSelectorTerm[]) {
  return { nodeAffinity: { required: { nodeSelectorTerms: terms } } }
}

function within(key: string, ...values: string[]) {
  return { key, operator: 'In', values }
}

function translated(volume: PersistentVolume): PersistentVolume['spec'] {
  const translation = translate({ persistentVolume: volume })
  if (translation === undefined || 'error' in translation) throw new Error(`not translated: ${translation?.error}`)
  return translation.persistentVolume.spec
}

function inline(source: Omit<PodVolumeSource, 'name'>, namespace = 'ns'): PersistentVolume {
  const translation = translate({ source: { name: 'vol', ...source } }, namespace)
  if (translation === undefined || 'error' in translation) throw new Error(`not translated: ${translation?.error}`)
  return translation.persistentVolume
}

const ebs = (volumeID: string) => ({ awsElasticBlockStore: { volumeID } })
const gce = { gcePersistentDisk: { pdName: 'disk' } }
const azureFile = { azureFile: { secretName: 'azure-storage-account-acc-secret', shareName: 'share' } }
const azureDisk = { diskName: 'd', diskURI: '/s/d' }

/** What `gce` becomes. */
const gceDisk = (where: string, partition = '') => ({
  driver: 'pd.csi.storage.gke.io',
  volumeHandle: `projects/UNSPECIFIED/${where}/disks/disk`,
  volumeAttributes: { partition },
})

/** What `azureFile` becomes. */
const azureShare = (volumeHandle: string, namespace: string) => ({
  driver: 'file.csi.azure.com',
  volumeHandle,
  volumeAttributes: { sharename: 'share' },
  nodeStageSecretRef: { name: azureFile.azureFile.secretName, namespace },
})

describe('T124, R155: PersistentVolumes', () => {
  it.each<[name: string, spec: PersistentVolume['spec'], want: object, metadata?: Metadata]>([
    [
      'EBS, URL with zone',
      ebs('aws://us-west-2b/vol-0a'),
      { driver: 'ebs.csi.aws.com', volumeHandle: 'vol-0a', volumeAttributes: { partition: '0' } },
    ],
    [
      'GCE, all fields',
      { gcePersistentDisk: { pdName: 'disk', partition: 1, readOnly: true, fsType: 'ext4' } },
      { ...gceDisk('zones/us-c1-a', '1'), readOnly: true, fsType: 'ext4' },
      { labels: { [GA]: 'us-c1-a' } },
    ],
    ['GCE, beta label first', gce, gceDisk('zones/us-c1-b'), { labels: { [GA]: 'us-c1-a', [BETA]: 'us-c1-b' } }],
    ['GCE, two zones of a region', gce, gceDisk('regions/us-c1'), { labels: { [GA]: 'us-c1-a__us-c1-b' } }],
    [
      'Azure Disk',
      { azureDisk: { ...azureDisk, kind: 'managed', cachingMode: '', fsType: 'ext4', readOnly: false } },
      {
        driver: 'disk.csi.azure.com',
        volumeHandle: '/s/d',
        volumeAttributes: { kind: 'Managed', cachingmode: '', fstype: 'ext4' },
        fsType: 'ext4',
        readOnly: false,
      },
    ],
    [
      'Azure File, namespace of the secret',
      { azureFile: { ...azureFile.azureFile, secretNamespace: 'sec', readOnly: true } },
      { ...azureShare('rg#acc#share#pv#sec', 'sec'), readOnly: true },
      { annotations: { 'kubernetes.io/azure-file-resource-group': 'rg' } },
    ],
    [
      'vSphere',
      { vsphereVolume: { volumePath: '[ds 1] a/b.vmdk', fsType: 'ext4', storagePolicyName: 'gold' } },
      {
        driver: 'csi.vsphere.vmware.com',
        volumeHandle: '[ds 1] a/b.vmdk',
        volumeAttributes: { storagepolicyname: 'gold' },
        fsType: 'ext4',
      },
    ],
    [
      'Portworx, readOnly left out',
      { portworxVolume: { volumeID: '7', fsType: 'xfs', readOnly: true } },
      { driver: 'pxd.portworx.com', volumeHandle: '7', volumeAttributes: {}, fsType: 'xfs' },
    ],
  ])('%s', (_name, spec, want, metadata) => {
    const result = translated(pv(spec, metadata))
    expect(result.csi).toEqual(want)
    for (const source of Object.keys(spec).filter((key) => key !== 'claimRef'))
      expect(result).not.toHaveProperty(source)
  })

  it('Portworx with a secret uses it in all five places', () => {
    const annotations = { 'openstorage.io/auth-secret-name': 's', 'openstorage.io/auth-secret-namespace': 'n' }
    const secret = { name: 's', namespace: 'n' }
    expect(translated(pv({ portworxVolume: { volumeID: '7' } }, { annotations })).csi).toMatchObject({
      controllerPublishSecretRef: secret,
      nodeStageSecretRef: secret,
      nodePublishSecretRef: secret,
      controllerExpandSecretRef: secret,
      nodeExpandSecretRef: secret,
    })
  })

  it.each<[name: string, volume: PersistentVolume]>([
    ['EBS, no volume in the URL', pv(ebs('aws://zone/abcd'))],
    ['GCE, zones of two regions', pv(gce, { labels: { [GA]: 'us-c1-a__us-c2-a' } })],
    ['Azure Disk that is not managed', pv({ azureDisk: { ...azureDisk, kind: 'Dedicated' } })],
    ['Azure File without namespace', pv(azureFile)],
    ['a zone label without zone', pv({ cinder: { volumeID: 'c' } }, { labels: { [GA]: ' __ ' } })],
  ])('%s cannot be translated', (_name, volume) => {
    expect(translate({ persistentVolume: volume })).toEqual({ error: expect.any(String) })
  })

  it.each([{ csi: { driver: 'd', volumeHandle: 'h' } }, { nfs: { server: 's', path: '/' } }, { local: { path: '/' } }])(
    'R150: %o stays as it is',
    (spec) => expect(translate({ persistentVolume: pv(spec) })).toBeUndefined(),
  )

  it.each([
    [undefined, undefined],
    [['ReadWriteOnce'], ['ReadWriteOnce']],
    [['ReadWriteMany'], ['ReadWriteOnce']],
    [['ReadOnlyMany'], ['ReadOnlyMany']],
    [['ReadOnlyMany', 'ReadWriteOnce'], ['ReadWriteOnce']],
    [[], ['ReadWriteOnce']],
  ])('R156: GCE access modes %j become %j', (accessModes, want) => {
    expect(translated(pv({ ...gce, accessModes })).accessModes).toEqual(want)
  })
})

describe('T124, R154: topology', () => {
  const KEY = 'topology.ebs.csi.aws.com/zone'
  const VMWARE = 'topology.csi.vmware.com'
  const terms = (spec: PersistentVolume['spec']) => spec.nodeAffinity?.required?.nodeSelectorTerms
  const zone = (...zones: string[]) => ({ matchExpressions: [within(KEY, ...zones)] })
  it.each<[name: string, want: NodeSelectorTerm[], spec: PersistentVolume['spec'], labels?: Labels]>([
    ['GA affinity', [zone('a')], affinity({ matchExpressions: [within(GA, 'a')] })],
    [
      'beta affinity, region too',
      [{ matchExpressions: [within(KEY, 'a'), within(GA_REGION, 'r')] }],
      affinity({ matchExpressions: [within(BETA, 'a'), within(BETA_REGION, 'r')] }),
    ],
    ['GA label before beta label', [zone('a')], {}, { [GA]: 'a', [BETA]: 'b' }],
    ['label with several zones', [zone('a', 'b')], {}, { [GA]: 'b__ a__b__' }],
    [
      'label added to every term',
      [
        { matchExpressions: [within('x', '1'), within(KEY, 'a')] },
        { matchFields: [within('metadata.name', 'n')], ...zone('a') },
      ],
      affinity({ matchExpressions: [within('x', '1')] }, { matchFields: [within('metadata.name', 'n')] }),
      { [GA]: 'a' },
    ],
  ])('%s', (_name, want, spec, labels) => {
    expect(terms(translated(pv({ ...ebs('vol-1'), ...spec }, labels && { labels })))).toEqual(want)
  })

  it.each([
    ['topology.gke.io/zone', gce],
    ['topology.cinder.csi.openstack.org/zone', { cinder: { volumeID: 'c' } }],
  ])('the key of the driver is %s', (key, source) => {
    expect(terms(translated(pv(source, { labels: { [GA]: 'us-c1-a' } })))).toEqual([
      { matchExpressions: [within(key, 'us-c1-a')] },
    ])
  })

  it('vSphere has keys for zone and region, and takes labels whole', () => {
    const labels = { [BETA]: 'z1__z2', [BETA_REGION]: 'r' }
    expect(terms(translated(pv({ vsphereVolume: { volumePath: 'p' } }, { labels })))).toEqual([
      { matchExpressions: [within(`${VMWARE}/zone`, 'z1__z2'), within(`${VMWARE}/region`, 'r')] },
    ])
    const spec = affinity({ matchExpressions: [within(GA, 'z'), within(GA_REGION, 'r')] })
    expect(terms(translated(pv({ vsphereVolume: { volumePath: 'p' }, ...spec })))).toEqual([
      { matchExpressions: [within(`${VMWARE}/zone`, 'z'), within(`${VMWARE}/region`, 'r')] },
    ])
  })
})

describe('T124: inline volumes', () => {
  it.each<[rule: string, name: string, mode: string, source: Omit<PodVolumeSource, 'name'>, csi: object]>([
    [
      'R158',
      'ebs.csi.aws.com-vol-1',
      'ReadWriteOnce',
      { awsElasticBlockStore: { volumeID: 'aws:///vol-1', partition: 1, readOnly: true } },
      { driver: 'ebs.csi.aws.com', volumeHandle: 'vol-1', volumeAttributes: { partition: '1' }, readOnly: true },
    ],
    [
      'R159',
      '/s/d',
      'ReadWriteOnce',
      { azureDisk: { ...azureDisk, cachingMode: 'None' } },
      {
        driver: 'disk.csi.azure.com',
        volumeHandle: '/s/d',
        volumeAttributes: { kind: 'Managed', cachingmode: 'None' },
      },
    ],
    ['R160', 'pd.csi.storage.gke.io-disk', 'ReadWriteOnce', gce, gceDisk('zones/UNSPECIFIED')],
    ['R161', '#acc#share#vol#ns', 'ReadWriteMany', azureFile, azureShare('#acc#share#vol#ns', 'ns')],
    [
      'R162',
      'cinder.csi.openstack.org-c',
      'ReadWriteOnce',
      { cinder: { volumeID: 'c' } },
      { driver: 'cinder.csi.openstack.org', volumeHandle: 'c', volumeAttributes: {} },
    ],
    [
      'R164',
      'pxd.portworx.com-7',
      'ReadOnlyMany',
      { portworxVolume: { volumeID: '7', readOnly: true } },
      { driver: 'pxd.portworx.com', volumeHandle: '7', volumeAttributes: {} },
    ],
  ])('%s: %s', (_rule, name, mode, source, csi) => {
    const volume = inline(source)
    expect(volume.metadata.name).toBe(name)
    // R153: nothing but source, access mode and volume mode.
    expect(volume.spec).toEqual({ csi, accessModes: [mode], volumeMode: 'Filesystem' })
  })

  it('R161: a pod without namespace counts as default', () => {
    expect(inline(azureFile, '').metadata.name).toBe('#acc#share#vol#default')
  })

  it.each<{ rule: string; source: Omit<PodVolumeSource, 'name'> }>([
    { rule: 'R163', source: { vsphereVolume: { volumePath: 'p', storagePolicyName: 'gold' } } },
    { rule: 'R155', source: { azureDisk: { diskName: 'd', diskURI: 'u', kind: 'Shared' } } },
  ])('$rule: $source cannot be translated', ({ source }) => {
    expect(translate({ source: { name: 'vol', ...source } }, 'ns')).toEqual({ error: expect.any(String) })
  })
})
