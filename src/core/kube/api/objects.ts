/**
 * The Kubernetes API objects volctl reads, as the API server's JSON has them: only the fields that some decision uses. Each is a shape,
 * which every source of objects is compared with (an API server, a snapshot), and the type that follows from it.
 *
 * A field that no decision needs may be missing, even if Kubernetes always sets it. A field that is present has the right
 * type: null is wrong, too, except where Go writes null for an empty list or a zero time.
 *
 * Sources of volumes have the fields of client-node's models (`test/kube/object-shapes.test.ts`). The objects around them are volctl's own:
 * client-node's have Date for times, no null where Go writes one, and many times the fields, and a snapshot would have to keep every one.
 */
import { named } from '../../trust/json-schema.ts'
import {
  anything,
  type Fields,
  flag,
  integer,
  type KeptOf,
  kept,
  keptList,
  keptObjects,
  keptRecord,
  needed,
  neededObject,
  nullable,
  number,
  type Shape,
  type ShapeOf,
  text,
  unneeded,
} from '../../trust/shape.ts'

const texts = keptList(text)
const textByName = keptRecord(text)
const time = nullable(text)

/** Of every object. */
const metadataFields = {
  name: needed(text),
  namespace: text,
  uid: unneeded(text),
  resourceVersion: text,
  creationTimestamp: time,
  deletionTimestamp: text,
  labels: textByName,
  annotations: textByName,
  finalizers: texts,
  ownerReferences: keptObjects({
    apiVersion: text,
    kind: needed(text),
    name: needed(text),
    uid: needed(text),
    controller: flag,
  }),
}

export interface ObjectMeta extends KeptOf<typeof metadataFields> {}

/** What every object has. */
const typed = {
  apiVersion: text,
  kind: text,
  metadata: needed(named<ObjectMeta>('metadata', kept(metadataFields))),
}

function apiObject<F extends Fields>(fields: F) {
  return kept({ ...typed, ...fields })
}

const objectShape = kept(typed)

export interface ApiObject extends ShapeOf<typeof objectShape> {}

export interface ResourcePath {
  /** Plural name, as in `api.errors`. */
  readonly plural: string
  readonly root: string
}

/** What of the API holds objects of one shape. */
export interface Resource<T> extends ResourcePath {
  readonly shape: Shape<T>
}

function resource<F extends Fields>(root: string, plural: string, fields: F) {
  return { root, plural, shape: apiObject(fields) }
}

const CORE = '/api/v1'
const STORAGE = '/apis/storage.k8s.io/v1'

/** Of one only the UID is asked for. */
export const NAMESPACES = { root: CORE, plural: 'namespaces', shape: objectShape }

const localReference = kept({ name: text })
const secretReference = kept({ name: text, namespace: text })

export interface SecretReference extends ShapeOf<typeof secretReference> {}

const keyToPath = kept({ key: needed(text), path: needed(text), mode: integer, user: integer })

export interface KeyToPath extends ShapeOf<typeof keyToPath> {}

const keysToPaths = keptList(keyToPath)

const requirement = kept({ key: needed(text), operator: needed(text), values: texts })

export interface NodeSelectorRequirement extends ShapeOf<typeof requirement> {}

const requirements = keptList(requirement)

const labelSelector = kept({ matchLabels: textByName, matchExpressions: requirements })

export interface LabelSelector extends ShapeOf<typeof labelSelector> {}

const downwardApiItem = kept({
  path: needed(text),
  mode: integer,
  user: integer,
  fieldRef: kept({ fieldPath: needed(text), apiVersion: text }),
  resourceFieldRef: kept({ resource: needed(text), containerName: text, divisor: text }),
})

export interface DownwardApiItem extends ShapeOf<typeof downwardApiItem> {}

const downwardApiItems = keptList(downwardApiItem)

const keyed = kept({ name: text, items: keysToPaths, optional: flag })

const projectedSource = kept({
  secret: keyed,
  configMap: keyed,
  downwardAPI: kept({ items: downwardApiItems }),
  serviceAccountToken: kept({ path: needed(text), audience: text, expirationSeconds: integer, user: integer }),
  clusterTrustBundle: kept({
    path: needed(text),
    optional: flag,
    name: text,
    signerName: text,
    labelSelector,
    user: integer,
  }),
  podCertificate: kept({ credentialBundlePath: text, keyPath: text, certificateChainPath: text }),
})

export interface ProjectedSource extends ShapeOf<typeof projectedSource> {}

/** Sources that Kubernetes 1.36 translates to CSI (R150); others without a plugin (P3) are not listed. */
const inTreeSources = {
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
}

export interface InTreeSources extends KeptOf<typeof inTreeSources> {}

/** Of pods' volumes and of PersistentVolumes; in the latter, references to secrets name the namespace as well. */
const sharedSources = {
  ...inTreeSources,
  hostPath: kept({ path: needed(text), type: text }),
  nfs: kept({ server: needed(text), path: needed(text), readOnly: flag }),
  iscsi: kept({
    targetPortal: needed(text),
    iqn: needed(text),
    lun: needed(integer),
    iscsiInterface: text,
    initiatorName: text,
  }),
  fc: kept({ targetWWNs: texts, lun: integer, wwids: texts }),
  flexVolume: kept({ driver: needed(text) }),
}

export interface SharedSources extends KeptOf<typeof sharedSources> {}

/** Of files whose item says nothing else. */
const byDefault = { defaultMode: integer, defaultUser: integer }

export const podVolumeShape = kept({
  ...sharedSources,
  name: needed(text),
  emptyDir: kept({ medium: text, sizeLimit: text, mode: integer }),
  gitRepo: kept({ repository: text }),
  configMap: kept({ name: text, items: keysToPaths, ...byDefault, optional: flag }),
  secret: kept({ secretName: text, items: keysToPaths, ...byDefault, optional: flag }),
  downwardAPI: kept({ items: downwardApiItems, ...byDefault }),
  projected: kept({
    sources: nullable(keptList(projectedSource)),
    ...byDefault,
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

export interface PodVolumeSource extends ShapeOf<typeof podVolumeShape> {}

const resources = kept({ limits: textByName, requests: textByName })

/** Empty texts count as absent. */
const seLinuxOptions = kept({ user: text, role: text, type: text, level: text })

export interface SelinuxOptions extends ShapeOf<typeof seLinuxOptions> {}

const container = kept({
  name: needed(text),
  volumeMounts: keptObjects({ name: needed(text), mountPath: text, subPath: text, subPathExpr: text, readOnly: flag }),
  volumeDevices: keptObjects({ name: needed(text), devicePath: text }),
  resources,
  /** Always, of an init container: a sidecar. */
  restartPolicy: text,
  securityContext: kept({ runAsUser: integer, seLinuxOptions }),
})

export interface Container extends ShapeOf<typeof container> {}

const containers = named('containers', nullable(keptList(container)))

const containerStatus = kept({
  name: needed(text),
  /** RUNTIME://ID */
  containerID: text,
  state: kept({
    running: anything,
    waiting: nullable(kept({ reason: text, message: text })),
    terminated: nullable(kept({ finishedAt: time })),
  }),
  /** Of its last run, where it waits to run again. */
  lastState: kept({ terminated: anything }),
})

export interface ContainerStatus extends ShapeOf<typeof containerStatus> {}

const containerStatuses = named('containerStatuses', keptList(containerStatus))

const podShape = kept({
  ...typed,
  metadata: neededObject({ ...metadataFields, uid: needed(text) }),
  spec: neededObject({
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
  status: kept({
    phase: text,
    startTime: text,
    conditions: keptObjects({ type: needed(text), status: needed(text), message: text, lastTransitionTime: time }),
    initContainerStatuses: containerStatuses,
    containerStatuses: containerStatuses,
    ephemeralContainerStatuses: containerStatuses,
  }),
})

export const PODS = { root: CORE, plural: 'pods', shape: podShape }

export interface Pod extends ShapeOf<typeof podShape> {}

export const CLAIMS = resource(CORE, 'persistentvolumeclaims', {
  spec: neededObject({
    accessModes: texts,
    volumeName: text,
    volumeMode: text,
    storageClassName: text,
    resources: kept({ requests: textByName }),
  }),
  status: kept({
    phase: text,
    capacity: textByName,
    allocatedResources: textByName,
    allocatedResourceStatuses: textByName,
    conditions: keptObjects({ type: needed(text), status: needed(text) }),
  }),
})

export interface PersistentVolumeClaim extends ShapeOf<typeof CLAIMS.shape> {}

const nodeSelectorTerm = kept({ matchExpressions: requirements, matchFields: requirements })

export interface NodeSelectorTerm extends ShapeOf<typeof nodeSelectorTerm> {}

const csiPersistentVolumeSource = kept({
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
})

export interface CsiPersistentVolumeSource extends ShapeOf<typeof csiPersistentVolumeSource> {}

const volumeSpec = kept({
  ...sharedSources,
  accessModes: texts,
  capacity: textByName,
  persistentVolumeReclaimPolicy: text,
  claimRef: kept({ namespace: text, name: text, uid: text }),
  volumeMode: text,
  mountOptions: texts,
  nodeAffinity: kept({
    required: kept({ nodeSelectorTerms: nullable(keptList(nodeSelectorTerm)) }),
  }),
  csi: csiPersistentVolumeSource,
  local: kept({ path: needed(text), fsType: text }),
})

export const VOLUMES = resource(CORE, 'persistentvolumes', {
  spec: needed(volumeSpec),
  status: kept({ phase: text }),
})

export interface PersistentVolume extends ShapeOf<typeof VOLUMES.shape> {}

const attachError = kept({ message: text, time })

export const ATTACHMENTS = resource(STORAGE, 'volumeattachments', {
  spec: neededObject({
    attacher: needed(text),
    nodeName: needed(text),
    source: neededObject({ persistentVolumeName: text, inlineVolumeSpec: volumeSpec }),
  }),
  status: kept({
    attached: flag,
    attachmentMetadata: textByName,
    attachError,
    detachError: attachError,
  }),
})

export interface VolumeAttachment extends ShapeOf<typeof ATTACHMENTS.shape> {}

export const CSI_DRIVERS = resource(STORAGE, 'csidrivers', {
  spec: neededObject({
    attachRequired: flag,
    podInfoOnMount: flag,
    volumeLifecycleModes: texts,
    fsGroupPolicy: text,
    tokenRequests: keptObjects({ audience: needed(text), expirationSeconds: integer }),
    serviceAccountTokenInSecrets: flag,
    seLinuxMount: flag,
  }),
})

export interface CsiDriver extends ShapeOf<typeof CSI_DRIVERS.shape> {}

export const CSI_NODES = resource(STORAGE, 'csinodes', {
  spec: neededObject({
    drivers: nullable(
      keptObjects({ name: needed(text), nodeID: text, allocatable: nullable(kept({ count: integer })) }),
    ),
  }),
})

export interface CsiNode extends ShapeOf<typeof CSI_NODES.shape> {}

export const NODES = resource(CORE, 'nodes', {
  spec: kept({ taints: keptObjects({ key: needed(text), value: text, effect: text }) }),
  status: kept({
    conditions: keptObjects({
      type: needed(text),
      status: needed(text),
      lastHeartbeatTime: time,
      lastTransitionTime: time,
    }),
    nodeInfo: kept({
      machineID: text,
      systemUUID: text,
      bootID: text,
      kubeletVersion: text,
      containerRuntimeVersion: text,
    }),
    addresses: keptObjects({ type: needed(text), address: needed(text) }),
    volumesInUse: nullable(texts),
    volumesAttached: nullable(keptObjects({ name: needed(text), devicePath: text })),
    allocatable: textByName,
  }),
})

export interface Node extends ShapeOf<typeof NODES.shape> {}

/** By which a kubelet reports that it is alive: kube-node-lease/NODE (S11, S29). */
export const LEASES = resource('/apis/coordination.k8s.io/v1', 'leases', {
  spec: kept({
    holderIdentity: nullable(text),
    leaseDurationSeconds: nullable(number),
    /** RFC 3339, in the clock of whoever renews it. */
    renewTime: time,
  }),
})

export interface Lease extends ShapeOf<typeof LEASES.shape> {}

/**
 * `digests` are HMACs of each key's value under a key that exists only in the process that read them (contract, Snapshot).
 */
export const CONFIG_MAPS = resource(CORE, 'configmaps', {
  data: textByName,
  binaryData: textByName,
  digests: textByName,
})

export interface ConfigMap extends ShapeOf<typeof CONFIG_MAPS.shape> {}

/** A secret with its values (base64): read right before they are written into a volume, and never kept. */
export const SECRETS = resource(CORE, 'secrets', { type: text, data: textByName })

export interface Secret extends ShapeOf<typeof SECRETS.shape> {}

/** A secret as volctl keeps it: never `data`, only digests. */
export const secretDigestShape = apiObject({ type: text, digests: textByName })

export interface SecretDigest extends ShapeOf<typeof secretDigestShape> {}

export const trustBundleShape = apiObject({ spec: neededObject({ signerName: text, trustBundle: text }) })

export interface ClusterTrustBundle extends ShapeOf<typeof trustBundleShape> {}
