/** A node on which every field of the model is there, so that every one can be swapped. The types see to it. */
import type {
  ConfigMap,
  CsiDriver,
  CsiNode,
  Node,
  ObjectMeta,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PodVolumeSource,
  SecretDigest,
  VolumeAttachment,
} from '../../src/core/model/objects.ts'
import type { NodeSnapshot } from '../../src/core/model/snapshot.ts'
import { csiUniqueName } from '../../src/core/names/volume-names.ts'
import { DRIVER, NOW, node, uid } from '../helpers/node-builder.ts'

/** With nothing left out, at any depth. */
type Whole<T> = T extends readonly (infer Of)[]
  ? readonly Whole<Of>[]
  : T extends object
    ? string extends keyof T
      ? T
      : { readonly [Key in keyof T]-?: Whole<NonNullable<T[Key]>> }
    : T

const secretRef = { name: 'some', namespace: 'default' }
const keyed = { name: 'some', items: [{ key: 'key', path: 'path', mode: 0o400, user: 1000 }], optional: true }
const field = {
  path: 'name',
  mode: 0o400,
  user: 1000,
  fieldRef: { fieldPath: "metadata.labels['app']", apiVersion: 'v1' },
}
const resource = { resource: 'limits.memory', containerName: 'c', divisor: '1Mi' }
const downwardItems = [
  { ...field, resourceFieldRef: resource },
  { path: 'memory', mode: 0o400, user: 1000, resourceFieldRef: resource, fieldRef: { fieldPath: '', apiVersion: '' } },
]
const requirement = { key: 'zone', operator: 'In', values: ['a'] }

type Shared = Whole<
  Pick<
    PodVolumeSource,
    | 'awsElasticBlockStore'
    | 'gcePersistentDisk'
    | 'azureDisk'
    | 'azureFile'
    | 'cinder'
    | 'vsphereVolume'
    | 'portworxVolume'
    | 'hostPath'
    | 'nfs'
    | 'iscsi'
    | 'fc'
    | 'flexVolume'
  >
>

const shared: Shared = {
  awsElasticBlockStore: { volumeID: 'aws://a/vol-1', fsType: 'ext4', partition: 1, readOnly: true },
  gcePersistentDisk: { pdName: 'disk', fsType: 'ext4', partition: 1, readOnly: true },
  azureDisk: { diskName: 'd', diskURI: '/d', cachingMode: 'None', fsType: 'ext4', readOnly: true, kind: 'Managed' },
  azureFile: { secretName: 's', shareName: 'share', readOnly: true, secretNamespace: 'default' },
  cinder: { volumeID: 'v', fsType: 'ext4', readOnly: true, secretRef },
  vsphereVolume: { volumePath: '[d] v', fsType: 'ext4', storagePolicyName: 'p', storagePolicyID: 'i' },
  portworxVolume: { volumeID: 'v', fsType: 'ext4', readOnly: true },
  hostPath: { path: '/srv', type: 'Directory' },
  nfs: { server: 'server.test', path: '/export', readOnly: true },
  iscsi: {
    targetPortal: '10.0.0.1',
    iqn: 'iqn.2026-01.test:disk',
    lun: 1,
    iscsiInterface: 'default',
    initiatorName: 'iqn.2026-01.test:node',
  },
  fc: { targetWWNs: ['50060e801049cfd1'], lun: 0, wwids: ['3600508b400105e210000900000490000'] },
  flexVolume: { driver: 'vendor/driver' },
}

/** Each is the source of a volume of its own. */
const podSources: Whole<Omit<PodVolumeSource, 'name'>> = {
  ...shared,
  emptyDir: { medium: 'Memory', sizeLimit: '1Mi', mode: 0o750 },
  gitRepo: { repository: 'https://git.test/x' },
  configMap: { ...keyed, defaultMode: 0o644, defaultUser: 1000 },
  secret: { secretName: 'some', items: keyed.items, defaultMode: 0o644, defaultUser: 1000, optional: true },
  downwardAPI: { items: downwardItems, defaultMode: 0o644, defaultUser: 1000 },
  projected: {
    sources: [
      {
        secret: keyed,
        configMap: keyed,
        downwardAPI: { items: downwardItems },
        serviceAccountToken: { path: 'token', audience: 'api', expirationSeconds: 3600, user: 1000 },
        clusterTrustBundle: {
          path: 'ca',
          optional: true,
          name: 'some',
          signerName: 'signer.test/x',
          labelSelector: { matchLabels: { a: 'b' }, matchExpressions: [requirement] },
          user: 1000,
        },
        podCertificate: { credentialBundlePath: 'a', keyPath: 'b', certificateChainPath: 'c' },
      },
    ],
    defaultMode: 0o644,
    defaultUser: 1000,
  },
  persistentVolumeClaim: { claimName: 'claim-pv-csi', readOnly: true },
  ephemeral: { volumeClaimTemplate: { spec: {} } },
  csi: {
    driver: DRIVER,
    readOnly: true,
    fsType: 'ext4',
    volumeAttributes: { a: 'b' },
    nodePublishSecretRef: { name: 'some' },
  },
  image: { reference: 'image.test/x' },
}

const volumeSources: Whole<Pick<PersistentVolume['spec'], keyof typeof shared | 'csi' | 'local'>> = {
  ...shared,
  csi: {
    driver: DRIVER,
    volumeHandle: 'pv-csi',
    readOnly: false,
    fsType: 'ext4',
    volumeAttributes: { a: 'b' },
    controllerPublishSecretRef: secretRef,
    nodeStageSecretRef: secretRef,
    nodePublishSecretRef: secretRef,
    controllerExpandSecretRef: secretRef,
    nodeExpandSecretRef: secretRef,
  },
  local: { path: '/mnt/disk', fsType: 'ext4' },
}

function metadata(name: string, id = `uid-${name}`): Whole<ObjectMeta> {
  return {
    name,
    namespace: 'default',
    uid: id,
    resourceVersion: '7',
    creationTimestamp: '2026-11-21T10:00:00Z',
    deletionTimestamp: NOW,
    labels: { app: name },
    annotations: { note: name },
    finalizers: ['test/x'],
    ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'every', uid: uid(2), controller: true }],
  }
}

/** Not being deleted. */
function living(name: string, id?: string): ObjectMeta {
  const { deletionTimestamp: _, ...rest } = metadata(name, id)
  return rest
}

const seLinuxOptions = { user: 'u', role: 'r', type: 't', level: 's0:c1' }
const quantities = { cpu: '100m', memory: '1Gi' }
const condition = { type: 'Ready', status: 'True', lastTransitionTime: '2026-11-21T11:00:00Z' }

function pod(name: string, id: string, sources: object): Pod {
  const volumes = Object.entries(sources).map(([key, source]) => ({ name: key.toLowerCase(), [key]: source }))
  const container: Whole<NonNullable<Pod['spec']['containers']>[number]> = {
    name: 'c',
    volumeMounts: volumes.map((each) => ({
      name: each.name,
      mountPath: `/${each.name}`,
      subPath: 'sub',
      subPathExpr: '',
      readOnly: true,
    })),
    volumeDevices: [{ name: 'persistentvolumeclaim', devicePath: '/dev/x' }],
    resources: { limits: quantities, requests: quantities },
    restartPolicy: 'Always',
    securityContext: { runAsUser: 1000, seLinuxOptions },
  }
  const statuses = [
    {
      name: 'c',
      containerID: 'containerd://1',
      state: { running: {}, waiting: {}, terminated: { finishedAt: '2026-11-21T11:00:00Z' } },
    },
  ]
  const whole: Whole<Omit<Pod, 'metadata' | 'spec'>> & { spec: Whole<Omit<Pod['spec'], 'volumes'>> } = {
    apiVersion: 'v1',
    kind: 'Pod',
    spec: {
      nodeName: 'node-1',
      initContainers: [container],
      containers: [container],
      ephemeralContainers: [container],
      resources: { limits: quantities, requests: quantities },
      overhead: quantities,
      securityContext: {
        fsGroup: 1000,
        fsGroupChangePolicy: 'OnRootMismatch',
        runAsUser: 1000,
        seLinuxOptions,
        seLinuxChangePolicy: 'MountOption',
      },
      serviceAccountName: 'default',
    },
    status: {
      phase: 'Running',
      startTime: '2026-11-21T10:00:00Z',
      conditions: [condition],
      initContainerStatuses: statuses,
      containerStatuses: statuses,
      ephemeralContainerStatuses: statuses,
    },
  }
  return { ...whole, metadata: living(name, id), spec: { ...whole.spec, volumes } as Pod['spec'] }
}

function claim(source: string): PersistentVolumeClaim {
  const whole: Whole<Omit<PersistentVolumeClaim, 'metadata'>> = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    spec: {
      accessModes: ['ReadWriteOnce'],
      volumeName: `pv-${source}`,
      volumeMode: 'Filesystem',
      resources: { requests: { storage: '2Gi' } },
    },
    status: {
      phase: 'Bound',
      capacity: { storage: '1Gi' },
      allocatedResources: { storage: '2Gi' },
      allocatedResourceStatuses: { storage: 'NodeResizePending' },
      conditions: [{ type: 'FileSystemResizePending', status: 'True' }],
    },
  }
  return { ...whole, metadata: living(`claim-pv-${source}`) }
}

function volume(source: string): PersistentVolume {
  const name = `pv-${source}`
  const rest: Whole<Omit<PersistentVolume['spec'], keyof typeof volumeSources>> = {
    accessModes: ['ReadWriteOnce'],
    capacity: { storage: '2Gi' },
    claimRef: { namespace: 'default', name: `claim-${name}`, uid: `uid-claim-${name}` },
    volumeMode: 'Filesystem',
    mountOptions: ['noatime'],
    nodeAffinity: {
      required: { nodeSelectorTerms: [{ matchExpressions: [requirement], matchFields: [requirement] }] },
    },
  }
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: living(name),
    spec: { ...rest, [source]: volumeSources[source as 'csi'] },
    status: { phase: 'Bound' },
  }
}

const attachment = (of: VolumeAttachment): VolumeAttachment => {
  const error = { message: 'x', time: '2026-11-21T11:00:00Z' }
  const status: Whole<NonNullable<VolumeAttachment['status']>> = {
    attached: true,
    attachmentMetadata: { device: 'x' },
    attachError: error,
    detachError: error,
  }
  return { ...of, status, spec: { ...of.spec, source: { ...of.spec.source, inlineVolumeSpec: volume('csi').spec } } }
}

const driver: Whole<Omit<CsiDriver, 'metadata'>> = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'CSIDriver',
  spec: {
    attachRequired: true,
    podInfoOnMount: true,
    volumeLifecycleModes: ['Persistent', 'Ephemeral'],
    fsGroupPolicy: 'File',
    requiresRepublish: true,
    tokenRequests: [{ audience: 'api', expirationSeconds: 3600 }],
    serviceAccountTokenInSecrets: true,
    seLinuxMount: true,
  },
}

const csiNode: Whole<Omit<CsiNode, 'metadata'>> = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'CSINode',
  spec: { drivers: [{ name: DRIVER, nodeID: 'node-1' }] },
}

const nodeObject: Whole<Omit<Node, 'metadata'>> = {
  apiVersion: 'v1',
  kind: 'Node',
  spec: { taints: [{ key: 'node.kubernetes.io/out-of-service', value: 'x', effect: 'NoExecute' }] },
  status: {
    conditions: [{ ...condition, lastHeartbeatTime: '2026-11-21T11:58:00Z' }],
    nodeInfo: {
      machineID: 'machine-1',
      systemUUID: 'system-1',
      bootID: 'boot-1',
      kubeletVersion: 'v1.36.2',
      containerRuntimeVersion: 'containerd://2.1.4',
    },
    volumesInUse: [csiUniqueName(DRIVER, 'pv-csi')],
    volumesAttached: [{ name: csiUniqueName(DRIVER, 'pv-csi'), devicePath: '' }],
    addresses: [{ type: 'Hostname', address: 'node-1' }],
    allocatable: { memory: '8Gi', cpu: '4' },
  },
}

const configMap: Whole<Omit<ConfigMap, 'metadata'>> = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  data: { key: 'x' },
  binaryData: { bytes: 'eA==' },
  digests: { key: 'd', bytes: 'e' },
}

const secret: Whole<Omit<SecretDigest, 'metadata'>> = {
  apiVersion: 'v1',
  kind: 'Secret',
  type: 'Opaque',
  digests: { key: 'd' },
}

/** A pod with every kind of volume that pods have, one with a claim of every kind that there is, and one that is gone. */
export function everyKind(): NodeSnapshot {
  const sources = Object.keys(volumeSources)
  const built = node()
    .running(uid(2), 'every')
    .dir(`pods/${uid(2)}`)
    .dir(`pods/${uid(3)}`)
    .staged('pv-csi', '7:1')
    .published(uid(3), 'pv-csi', '7:1', { handle: 'pv-csi' })
    .published(uid(9), 'pv-gone', '7:2')
    .attach('pv-csi')
  const claims = Object.fromEntries(
    sources.map((source) => [source, { claimName: `claim-pv-${source}`, readOnly: false }]),
  )
  const claimed = pod('claims', uid(3), {})
  built.overrideApi = {
    node: { ...nodeObject, metadata: living('node-1') },
    pods: [
      ...built.pods,
      pod('every', uid(2), podSources),
      {
        ...claimed,
        metadata: metadata('claims', uid(3)),
        spec: {
          ...claimed.spec,
          volumes: Object.entries(claims).map(([source, persistentVolumeClaim]) => ({
            name: source.toLowerCase(),
            persistentVolumeClaim,
          })),
        },
      },
    ],
    persistentVolumeClaims: sources.map(claim),
    persistentVolumes: sources.map(volume),
    volumeAttachments: built.attachments.map(attachment),
    csiDrivers: [{ ...driver, metadata: living(DRIVER) }],
    csiNode: { ...csiNode, metadata: living('node-1') },
    configMaps: [{ ...configMap, metadata: living('some') }],
    secrets: [{ ...secret, metadata: living('some') }],
  }
  return structuredClone(built.build().snapshot)
}
