/**
 * The shapes of the objects in objects.ts, for every source of them: an API server, a snapshot. The types ensure that no
 * field of the model is forgotten, so that code which decides by these objects gets what TypeScript promises.
 *
 * A field that no decision needs may be missing, even if Kubernetes always sets it. A field that is present has the right
 * type: null is wrong, too, except where Go writes null for an empty list or a zero time.
 */
import { named } from '../json/json-schema.ts'
import {
  anything,
  flag,
  integer,
  type KeptFields,
  kept,
  keptList,
  keptRecord,
  needed,
  nullable,
  number,
  text,
  unneeded,
} from '../json/shape.ts'
import type {
  ApiObject,
  ClusterTrustBundle,
  ConfigMap,
  ConfigMapProjection,
  Container,
  ContainerStatus,
  CsiDriver,
  CsiNode,
  DownwardApiItem,
  KeyToPath,
  Lease,
  LocalObjectReference,
  Node,
  NodeSelectorRequirement,
  ObjectMeta,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PodVolumeSource,
  ProjectedSource,
  Resources,
  Secret,
  SecretDigest,
  SecretReference,
  SelinuxOptions,
  SharedSources,
  VolumeAttachment,
} from './objects.ts'

const texts = keptList(text)
const textByName = keptRecord(text)
const time = nullable(text)

/** Of every object. */
export const metadataFields: KeptFields<ObjectMeta> = {
  name: needed(text),
  namespace: text,
  uid: unneeded(text),
  resourceVersion: text,
  creationTimestamp: time,
  deletionTimestamp: text,
  labels: textByName,
  annotations: textByName,
  finalizers: texts,
  ownerReferences: keptList(
    kept({ apiVersion: text, kind: needed(text), name: needed(text), uid: needed(text), controller: flag }),
  ),
}

/** What every object has. */
const typed: KeptFields<ApiObject> = {
  apiVersion: text,
  kind: text,
  metadata: needed(named('metadata', kept(metadataFields))),
}

const localReference = kept<LocalObjectReference>({ name: text })
const secretReference = kept<SecretReference>({ name: text, namespace: text })

const keysToPaths = keptList(kept<KeyToPath>({ key: needed(text), path: needed(text), mode: integer }))

const requirements = keptList(
  kept<NodeSelectorRequirement>({ key: needed(text), operator: needed(text), values: texts }),
)

const downwardApiItems = keptList(
  kept<DownwardApiItem>({
    path: needed(text),
    mode: integer,
    fieldRef: kept({ fieldPath: needed(text), apiVersion: text }),
    resourceFieldRef: kept({ resource: needed(text), containerName: text, divisor: text }),
  }),
)

const keyed = kept<ConfigMapProjection>({ name: text, items: keysToPaths, optional: flag })

const projectedSource = kept<ProjectedSource>({
  secret: keyed,
  configMap: keyed,
  downwardAPI: kept({ items: downwardApiItems }),
  serviceAccountToken: kept({ path: needed(text), audience: text, expirationSeconds: integer }),
  clusterTrustBundle: kept({
    path: needed(text),
    optional: flag,
    name: text,
    signerName: text,
    labelSelector: kept({ matchLabels: textByName, matchExpressions: requirements }),
  }),
  podCertificate: kept({ credentialBundlePath: text, keyPath: text, certificateChainPath: text }),
})

/** Of pods' volumes and of PersistentVolumes. */
const sharedSources: KeptFields<SharedSources> = {
  awsElasticBlockStore: kept({ volumeID: needed(text), fsType: text, partition: integer, readOnly: flag }),
  gcePersistentDisk: kept({ pdName: needed(text), fsType: text, partition: integer, readOnly: flag }),
  azureDisk: kept({
    diskName: needed(text),
    diskURI: needed(text),
    cachingMode: text,
    fsType: text,
    readOnly: flag,
    kind: text,
  }),
  azureFile: kept({ secretName: needed(text), shareName: needed(text), readOnly: flag, secretNamespace: text }),
  cinder: kept({ volumeID: needed(text), fsType: text, readOnly: flag, secretRef: secretReference }),
  vsphereVolume: kept({ volumePath: needed(text), fsType: text, storagePolicyName: text, storagePolicyID: text }),
  portworxVolume: kept({ volumeID: needed(text), fsType: text, readOnly: flag }),
  hostPath: kept({ path: needed(text), type: text }),
  nfs: kept({ server: needed(text), path: needed(text), readOnly: flag }),
  iscsi: kept({
    targetPortal: needed(text),
    portals: texts,
    iqn: needed(text),
    lun: needed(integer),
    iscsiInterface: text,
    initiatorName: text,
    fsType: text,
    readOnly: flag,
    chapAuthDiscovery: flag,
    chapAuthSession: flag,
    secretRef: secretReference,
  }),
  fc: kept({ targetWWNs: texts, lun: integer, wwids: texts, fsType: text, readOnly: flag }),
  flexVolume: kept({
    driver: needed(text),
    fsType: text,
    readOnly: flag,
    options: textByName,
    secretRef: secretReference,
  }),
}

export const podVolumeShape = kept<PodVolumeSource>({
  ...sharedSources,
  name: needed(text),
  emptyDir: kept({ medium: text, sizeLimit: text }),
  gitRepo: kept({ repository: text }),
  configMap: kept({ name: text, items: keysToPaths, defaultMode: integer, optional: flag }),
  secret: kept({ secretName: text, items: keysToPaths, defaultMode: integer, optional: flag }),
  downwardAPI: kept({ items: downwardApiItems, defaultMode: integer }),
  projected: kept({
    sources: nullable(keptList(projectedSource)),
    defaultMode: integer,
  }),
  persistentVolumeClaim: kept({ claimName: needed(text), readOnly: flag }),
  ephemeral: kept({ volumeClaimTemplate: anything }),
  csi: kept({
    driver: needed(text),
    readOnly: flag,
    fsType: text,
    volumeAttributes: textByName,
    nodePublishSecretRef: localReference,
  }),
  image: kept({ reference: text }),
})

const resources = kept<Resources>({ limits: textByName, requests: textByName })

const seLinuxOptions = kept<SelinuxOptions>({ user: text, role: text, type: text, level: text })

const containers = named(
  'containers',
  nullable(
    keptList(
      kept<Container>({
        name: needed(text),
        volumeMounts: keptList(
          kept({ name: needed(text), mountPath: text, subPath: text, subPathExpr: text, readOnly: flag }),
        ),
        volumeDevices: keptList(kept({ name: needed(text), devicePath: text })),
        resources,
        restartPolicy: text,
        securityContext: kept({ runAsUser: integer, seLinuxOptions }),
      }),
    ),
  ),
)

const containerStatuses = named(
  'containerStatuses',
  keptList(
    kept<ContainerStatus>({
      name: needed(text),
      containerID: text,
      state: kept({
        running: anything,
        waiting: anything,
        terminated: nullable(kept({ finishedAt: time })),
      }),
    }),
  ),
)

export const podShape = kept<Pod>({
  ...typed,
  metadata: needed(kept({ ...metadataFields, uid: needed(text) })),
  spec: needed(
    kept({
      nodeName: text,
      volumes: keptList(podVolumeShape),
      initContainers: containers,
      containers,
      ephemeralContainers: containers,
      resources,
      overhead: textByName,
      securityContext: kept({
        fsGroup: integer,
        fsGroupChangePolicy: text,
        runAsUser: integer,
        seLinuxOptions,
        seLinuxChangePolicy: text,
      }),
      serviceAccountName: text,
    }),
  ),
  status: kept({
    phase: text,
    startTime: text,
    conditions: keptList(kept({ type: needed(text), status: needed(text), lastTransitionTime: time })),
    initContainerStatuses: containerStatuses,
    containerStatuses: containerStatuses,
    ephemeralContainerStatuses: containerStatuses,
  }),
})

export const claimShape = kept<PersistentVolumeClaim>({
  ...typed,
  spec: needed(
    kept({
      accessModes: texts,
      volumeName: text,
      volumeMode: text,
      resources: kept({ requests: textByName }),
    }),
  ),
  status: kept({
    phase: text,
    capacity: textByName,
    allocatedResources: textByName,
    allocatedResourceStatuses: textByName,
    conditions: keptList(kept({ type: needed(text), status: needed(text) })),
  }),
})

type VolumeSpec = PersistentVolume['spec']

const volumeSpec = kept<VolumeSpec>({
  ...sharedSources,
  accessModes: texts,
  capacity: textByName,
  claimRef: kept({ namespace: text, name: text, uid: text }),
  volumeMode: text,
  mountOptions: texts,
  nodeAffinity: kept({
    required: kept({
      nodeSelectorTerms: nullable(keptList(kept({ matchExpressions: requirements, matchFields: requirements }))),
    }),
  }),
  csi: kept({
    driver: needed(text),
    volumeHandle: needed(text),
    readOnly: flag,
    fsType: text,
    volumeAttributes: textByName,
    controllerPublishSecretRef: secretReference,
    nodeStageSecretRef: secretReference,
    nodePublishSecretRef: secretReference,
    controllerExpandSecretRef: secretReference,
    nodeExpandSecretRef: secretReference,
  }),
  local: kept({ path: needed(text), fsType: text }),
})

export const volumeShape = kept<PersistentVolume>({
  ...typed,
  spec: needed(volumeSpec),
  status: kept({ phase: text }),
})

const attachError = kept<NonNullable<NonNullable<VolumeAttachment['status']>['attachError']>>({ message: text, time })

export const attachmentShape = kept<VolumeAttachment>({
  ...typed,
  spec: needed(
    kept({
      attacher: needed(text),
      nodeName: needed(text),
      source: needed(kept({ persistentVolumeName: text, inlineVolumeSpec: volumeSpec })),
    }),
  ),
  status: kept({
    attached: flag,
    attachmentMetadata: textByName,
    attachError,
    detachError: attachError,
  }),
})

export const csiDriverShape = kept<CsiDriver>({
  ...typed,
  spec: needed(
    kept({
      attachRequired: flag,
      podInfoOnMount: flag,
      volumeLifecycleModes: texts,
      fsGroupPolicy: text,
      requiresRepublish: flag,
      tokenRequests: keptList(kept({ audience: needed(text), expirationSeconds: integer })),
      serviceAccountTokenInSecrets: flag,
      seLinuxMount: flag,
    }),
  ),
})

export const csiNodeShape = kept<CsiNode>({
  ...typed,
  spec: needed(
    kept({
      drivers: nullable(keptList(kept({ name: needed(text), nodeID: text }))),
    }),
  ),
})

export const nodeShape = kept<Node>({
  ...typed,
  spec: kept({
    taints: keptList(kept({ key: needed(text), value: text, effect: text })),
  }),
  status: kept({
    conditions: keptList(
      kept({ type: needed(text), status: needed(text), lastHeartbeatTime: time, lastTransitionTime: time }),
    ),
    nodeInfo: kept({
      machineID: text,
      systemUUID: text,
      bootID: text,
      kubeletVersion: text,
      containerRuntimeVersion: text,
    }),
    addresses: keptList(kept({ type: needed(text), address: needed(text) })),
    volumesInUse: nullable(texts),
    volumesAttached: nullable(keptList(kept({ name: needed(text), devicePath: text }))),
    allocatable: textByName,
  }),
})

export const leaseShape = kept<Lease>({
  ...typed,
  spec: kept({ holderIdentity: nullable(text), leaseDurationSeconds: nullable(number), renewTime: time }),
})

export const configMapShape = kept<ConfigMap>({
  ...typed,
  data: textByName,
  binaryData: textByName,
  digests: textByName,
})

export const secretShape = kept<Secret>({ ...typed, type: text, data: textByName })

export const secretDigestShape = kept<SecretDigest>({ ...typed, type: text, digests: textByName })

export const trustBundleShape = kept<ClusterTrustBundle>({
  ...typed,
  spec: needed(kept({ signerName: text, trustBundle: text })),
})
