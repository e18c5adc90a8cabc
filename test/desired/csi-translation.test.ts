import { describe, expect, it } from 'vitest'
import { translateInlineVolume, translatePersistentVolume } from '../../src/core/desired/csi-translation/translate.ts'
import type { NodeSelectorTerm, PersistentVolume, PodVolumeSource } from '../../src/core/model/objects.ts'

const GA = 'topology.kubernetes.io/zone'
const GA_REGION = 'topology.kubernetes.io/region'
const BETA = 'failure-domain.beta.kubernetes.io/zone'
const BETA_REGION = 'failure-domain.beta.kubernetes.io/region'
type Labels = Readonly<Record<string, string>>

function pv(
  spec: PersistentVolume['spec'],
  metadata: { labels?: Labels; annotations?: Labels } = {},
): PersistentVolume {
  return { metadata: { name: 'pv', uid: 'u', ...metadata }, spec: { volumeMode: 'Filesystem', ...spec } }
}

function affinity(...terms: NodeSelectorTerm[]) {
  return { nodeAffinity: { required: { nodeSelectorTerms: terms } } }
}

function within(key: string, ...values: string[]) {
  return { key, operator: 'In', values }
}

function translated(volume: PersistentVolume): PersistentVolume['spec'] {
  const translation = translatePersistentVolume(volume)
  if (translation === undefined || 'error' in translation) throw new Error(`not translated: ${translation?.error}`)
  return translation.persistentVolume.spec
}

function inline(source: Omit<PodVolumeSource, 'name'>, namespace = 'ns'): PersistentVolume {
  const translation = translateInlineVolume({ name: 'vol', ...source }, namespace)
  if (translation === undefined || 'error' in translation) throw new Error(`not translated: ${translation?.error}`)
  return translation.persistentVolume
}

const ebs = (volumeID: string) => ({ awsElasticBlockStore: { volumeID } })
const gce = { gcePersistentDisk: { pdName: 'disk' } }
const azureFile = { azureFile: { secretName: 'azure-storage-account-acc-secret', shareName: 'share' } }
const gceHandle = (where: string) => `projects/UNSPECIFIED/${where}/disks/disk`

describe('T124, R155: PersistentVolumes', () => {
  it.each<{
    name: string
    spec: PersistentVolume['spec']
    metadata?: { labels?: Labels; annotations?: Labels }
    want: object
  }>([
    {
      name: 'EBS, URL with zone',
      spec: ebs('aws://us-west-2b/vol-0a'),
      want: { driver: 'ebs.csi.aws.com', volumeHandle: 'vol-0a', volumeAttributes: { partition: '0' } },
    },
    {
      name: 'GCE, all fields',
      spec: { gcePersistentDisk: { pdName: 'disk', partition: 1, readOnly: true, fsType: 'ext4' } },
      metadata: { labels: { [GA]: 'us-c1-a' } },
      want: {
        driver: 'pd.csi.storage.gke.io',
        volumeHandle: gceHandle('zones/us-c1-a'),
        volumeAttributes: { partition: '1' },
        readOnly: true,
        fsType: 'ext4',
      },
    },
    {
      name: 'GCE, beta label first',
      spec: gce,
      metadata: { labels: { [GA]: 'us-c1-a', [BETA]: 'us-c1-b' } },
      want: {
        driver: 'pd.csi.storage.gke.io',
        volumeHandle: gceHandle('zones/us-c1-b'),
        volumeAttributes: { partition: '' },
      },
    },
    {
      name: 'GCE, two zones of a region',
      spec: gce,
      metadata: { labels: { [GA]: 'us-c1-a__us-c1-b' } },
      want: {
        driver: 'pd.csi.storage.gke.io',
        volumeHandle: gceHandle('regions/us-c1'),
        volumeAttributes: { partition: '' },
      },
    },
    {
      name: 'Azure Disk',
      spec: {
        azureDisk: {
          diskName: 'd',
          diskURI: '/subscriptions/x',
          kind: 'managed',
          cachingMode: '',
          fsType: 'ext4',
          readOnly: false,
        },
      },
      want: {
        driver: 'disk.csi.azure.com',
        volumeHandle: '/subscriptions/x',
        volumeAttributes: { kind: 'Managed', cachingmode: '', fstype: 'ext4' },
        fsType: 'ext4',
        readOnly: false,
      },
    },
    {
      name: 'Azure File, namespace of the secret',
      spec: { azureFile: { ...azureFile.azureFile, secretNamespace: 'sec', readOnly: true } },
      metadata: { annotations: { 'kubernetes.io/azure-file-resource-group': 'rg' } },
      want: {
        driver: 'file.csi.azure.com',
        volumeHandle: 'rg#acc#share#pv#sec',
        volumeAttributes: { sharename: 'share' },
        nodeStageSecretRef: { name: 'azure-storage-account-acc-secret', namespace: 'sec' },
        readOnly: true,
      },
    },
    {
      name: 'vSphere',
      spec: { vsphereVolume: { volumePath: '[ds 1] a/b.vmdk', fsType: 'ext4', storagePolicyName: 'gold' } },
      want: {
        driver: 'csi.vsphere.vmware.com',
        volumeHandle: '[ds 1] a/b.vmdk',
        volumeAttributes: { storagepolicyname: 'gold' },
        fsType: 'ext4',
      },
    },
    {
      name: 'Portworx, readOnly left out',
      spec: { portworxVolume: { volumeID: '7', fsType: 'xfs', readOnly: true } },
      want: { driver: 'pxd.portworx.com', volumeHandle: '7', volumeAttributes: {}, fsType: 'xfs' },
    },
  ])('$name', ({ spec, metadata, want }) => {
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

  it.each<{ name: string; volume: PersistentVolume }>([
    { name: 'EBS, no volume in the URL', volume: pv(ebs('aws://zone/abcd')) },
    { name: 'GCE, zones of two regions', volume: pv(gce, { labels: { [GA]: 'us-c1-a__us-c2-a' } }) },
    {
      name: 'Azure Disk that is not managed',
      volume: pv({ azureDisk: { diskName: 'd', diskURI: 'u', kind: 'Dedicated' } }),
    },
    { name: 'Azure File without namespace', volume: pv(azureFile) },
    { name: 'a zone label without zone', volume: pv({ cinder: { volumeID: 'c' } }, { labels: { [GA]: ' __ ' } }) },
  ])('$name cannot be translated', ({ volume }) => {
    expect(translatePersistentVolume(volume)).toEqual({ error: expect.any(String) })
  })

  it.each([{ csi: { driver: 'd', volumeHandle: 'h' } }, { nfs: { server: 's', path: '/' } }, { local: { path: '/' } }])(
    'R150: %o stays as it is',
    (spec) => expect(translatePersistentVolume(pv(spec))).toBeUndefined(),
  )

  it.each([
    [undefined, undefined],
    [['ReadWriteOnce'], ['ReadWriteOnce']],
    [['ReadWriteMany'], ['ReadWriteOnce']],
    [['ReadOnlyMany'], ['ReadOnlyMany']],
    [['ReadOnlyMany', 'ReadWriteOnce'], ['ReadWriteOnce']],
    [['ReadOnlyMany', 'ReadWriteMany'], ['ReadWriteOnce']],
    [['ReadWriteOncePod'], ['ReadWriteOnce']],
    [[], ['ReadWriteOnce']],
  ])('R156: GCE access modes %j become %j', (accessModes, want) => {
    expect(translated(pv({ ...gce, ...(accessModes === undefined ? {} : { accessModes }) })).accessModes).toEqual(want)
  })
})

describe('T124, R154: topology', () => {
  const KEY = 'topology.ebs.csi.aws.com/zone'
  const VMWARE = 'topology.csi.vmware.com'
  const terms = (spec: PersistentVolume['spec']) => spec.nodeAffinity?.required?.nodeSelectorTerms
  it.each<{ name: string; spec?: PersistentVolume['spec']; labels?: Labels; want: NodeSelectorTerm[] | undefined }>([
    {
      name: 'GA affinity',
      spec: affinity({ matchExpressions: [within(GA, 'a')] }),
      want: [{ matchExpressions: [within(KEY, 'a')] }],
    },
    {
      name: 'beta affinity, region too',
      spec: affinity({ matchExpressions: [within(BETA, 'a'), within(BETA_REGION, 'r')] }),
      want: [{ matchExpressions: [within(KEY, 'a'), within(GA_REGION, 'r')] }],
    },
    {
      name: 'GA label before beta label',
      labels: { [GA]: 'a', [BETA]: 'b' },
      want: [{ matchExpressions: [within(KEY, 'a')] }],
    },
    {
      name: 'label with several zones',
      labels: { [GA]: 'b__ a__b__' },
      want: [{ matchExpressions: [within(KEY, 'a', 'b')] }],
    },
    {
      name: 'label added to every term',
      spec: affinity({ matchExpressions: [within('x', '1')] }, { matchFields: [within('metadata.name', 'n')] }),
      labels: { [GA]: 'a' },
      want: [
        { matchExpressions: [within('x', '1'), within(KEY, 'a')] },
        { matchFields: [within('metadata.name', 'n')], matchExpressions: [within(KEY, 'a')] },
      ],
    },
  ])('$name', ({ spec, labels, want }) => {
    expect(terms(translated(pv({ ...ebs('vol-1'), ...spec }, labels === undefined ? {} : { labels })))).toEqual(want)
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
  it.each<{ rule: string; source: Omit<PodVolumeSource, 'name'>; name: string; mode: string; csi: object }>([
    {
      rule: 'R158',
      source: { awsElasticBlockStore: { volumeID: 'aws:///vol-1', partition: 1, readOnly: true } },
      name: 'ebs.csi.aws.com-vol-1',
      mode: 'ReadWriteOnce',
      csi: { driver: 'ebs.csi.aws.com', volumeHandle: 'vol-1', volumeAttributes: { partition: '1' }, readOnly: true },
    },
    {
      rule: 'R159',
      source: { azureDisk: { diskName: 'd', diskURI: '/s/d', cachingMode: 'None' } },
      name: '/s/d',
      mode: 'ReadWriteOnce',
      csi: {
        driver: 'disk.csi.azure.com',
        volumeHandle: '/s/d',
        volumeAttributes: { kind: 'Managed', cachingmode: 'None' },
      },
    },
    {
      rule: 'R160',
      source: gce,
      name: 'pd.csi.storage.gke.io-disk',
      mode: 'ReadWriteOnce',
      csi: {
        driver: 'pd.csi.storage.gke.io',
        volumeHandle: gceHandle('zones/UNSPECIFIED'),
        volumeAttributes: { partition: '' },
      },
    },
    {
      rule: 'R160',
      source: { gcePersistentDisk: { pdName: 'disk', readOnly: true } },
      name: 'pd.csi.storage.gke.io-disk',
      mode: 'ReadOnlyMany',
      csi: {
        driver: 'pd.csi.storage.gke.io',
        volumeHandle: gceHandle('zones/UNSPECIFIED'),
        volumeAttributes: { partition: '' },
        readOnly: true,
      },
    },
    {
      rule: 'R161',
      source: azureFile,
      name: '#acc#share#vol#ns',
      mode: 'ReadWriteMany',
      csi: {
        driver: 'file.csi.azure.com',
        volumeHandle: '#acc#share#vol#ns',
        volumeAttributes: { sharename: 'share' },
        nodeStageSecretRef: { name: 'azure-storage-account-acc-secret', namespace: 'ns' },
      },
    },
    {
      rule: 'R162',
      source: { cinder: { volumeID: 'c' } },
      name: 'cinder.csi.openstack.org-c',
      mode: 'ReadWriteOnce',
      csi: { driver: 'cinder.csi.openstack.org', volumeHandle: 'c', volumeAttributes: {} },
    },
    {
      rule: 'R164',
      source: { portworxVolume: { volumeID: '7', readOnly: true } },
      name: 'pxd.portworx.com-7',
      mode: 'ReadOnlyMany',
      csi: { driver: 'pxd.portworx.com', volumeHandle: '7', volumeAttributes: {} },
    },
  ])('$rule: $name', ({ source, name, mode, csi }) => {
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
    expect(translateInlineVolume({ name: 'vol', ...source }, 'ns')).toEqual({ error: expect.any(String) })
  })
})
