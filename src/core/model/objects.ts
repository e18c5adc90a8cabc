/**
 * The Kubernetes API objects volctl reads, as the API server's JSON has them: only the fields that some decision uses.
 *
 * Types that match client-node's models are taken from there: sources of volumes above all. The objects around them are
 * volctl's own: client-node's have Date for times, no null where Go writes one, and many times the fields, and a snapshot
 * would have to keep every one.
 */
import type {
  StorageV1TokenRequest,
  V1AWSElasticBlockStoreVolumeSource,
  V1AzureDiskVolumeSource,
  V1AzureFilePersistentVolumeSource,
  V1CinderPersistentVolumeSource,
  V1ClusterTrustBundleProjection,
  V1ConfigMapProjection,
  V1ConfigMapVolumeSource,
  V1CSIPersistentVolumeSource,
  V1CSIVolumeSource,
  V1DownwardAPIVolumeFile,
  V1DownwardAPIVolumeSource,
  V1EmptyDirVolumeSource,
  V1FCVolumeSource,
  V1FlexPersistentVolumeSource,
  V1GCEPersistentDiskVolumeSource,
  V1HostPathVolumeSource,
  V1ISCSIPersistentVolumeSource,
  V1KeyToPath,
  V1LabelSelector,
  V1LocalObjectReference,
  V1LocalVolumeSource,
  V1NFSVolumeSource,
  V1NodeAddress,
  V1NodeSelectorRequirement,
  V1NodeSelectorTerm,
  V1PersistentVolumeClaimVolumeSource,
  V1PodCertificateProjection,
  V1PortworxVolumeSource,
  V1SELinuxOptions,
  V1SecretReference,
  V1SecretVolumeSource,
  V1ServiceAccountTokenProjection,
  V1VsphereVirtualDiskVolumeSource,
} from '@kubernetes/client-node'

/** A model of client-node, read-only. */
type Read<T> = T extends readonly (infer Each)[]
  ? readonly Read<Each>[]
  : T extends object
    ? { readonly [Key in keyof T]: Read<T[Key]> }
    : T

export interface ObjectMeta {
  readonly name: string
  readonly namespace?: string
  readonly uid: string
  readonly resourceVersion?: string
  readonly creationTimestamp?: string | null
  readonly deletionTimestamp?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly finalizers?: readonly string[]
  readonly ownerReferences?: readonly {
    readonly apiVersion?: string
    readonly kind: string
    readonly name: string
    readonly uid: string
    readonly controller?: boolean
  }[]
}

export interface ApiObject {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata: ObjectMeta
}

export type KeyToPath = Read<V1KeyToPath>
export type LocalObjectReference = Read<V1LocalObjectReference>
export type SecretReference = Read<V1SecretReference>
export type CsiVolumeSource = Read<V1CSIVolumeSource>
export type DownwardApiItem = Read<V1DownwardAPIVolumeFile>
export type ConfigMapProjection = Read<V1ConfigMapProjection>
export type LabelSelector = Read<V1LabelSelector>

export interface ProjectedSource {
  readonly secret?: ConfigMapProjection
  readonly configMap?: ConfigMapProjection
  readonly downwardAPI?: { readonly items?: readonly DownwardApiItem[] }
  readonly serviceAccountToken?: Read<V1ServiceAccountTokenProjection>
  readonly clusterTrustBundle?: Read<V1ClusterTrustBundleProjection>
  readonly podCertificate?: Read<
    Pick<V1PodCertificateProjection, 'credentialBundlePath' | 'keyPath' | 'certificateChainPath'>
  >
}

/**
 * In-tree sources that Kubernetes 1.36 translates to CSI (R150), and others without a plugin (P3), are not listed in the
 * type.
 */
export interface InTreeSources {
  readonly awsElasticBlockStore?: Read<V1AWSElasticBlockStoreVolumeSource>
  readonly gcePersistentDisk?: Read<V1GCEPersistentDiskVolumeSource>
  readonly azureDisk?: Read<V1AzureDiskVolumeSource>
  readonly azureFile?: Read<V1AzureFilePersistentVolumeSource>
  readonly cinder?: Read<V1CinderPersistentVolumeSource>
  readonly vsphereVolume?: Read<V1VsphereVirtualDiskVolumeSource>
  readonly portworxVolume?: Read<V1PortworxVolumeSource>
}

/** In a PersistentVolume, references to secrets name the namespace as well. */
export interface SharedSources extends InTreeSources {
  readonly hostPath?: Read<V1HostPathVolumeSource>
  readonly nfs?: Read<V1NFSVolumeSource>
  readonly iscsi?: Read<V1ISCSIPersistentVolumeSource>
  readonly fc?: Read<V1FCVolumeSource>
  readonly flexVolume?: Read<V1FlexPersistentVolumeSource>
}

export interface PodVolumeSource extends SharedSources {
  readonly name: string
  readonly emptyDir?: Read<V1EmptyDirVolumeSource>
  readonly gitRepo?: { readonly repository?: string }
  readonly configMap?: Read<V1ConfigMapVolumeSource>
  readonly secret?: Read<V1SecretVolumeSource>
  readonly downwardAPI?: Read<V1DownwardAPIVolumeSource>
  readonly projected?: { readonly sources?: readonly ProjectedSource[] | null; readonly defaultMode?: number }
  readonly persistentVolumeClaim?: Read<V1PersistentVolumeClaimVolumeSource>
  readonly ephemeral?: { readonly volumeClaimTemplate?: unknown }
  readonly csi?: CsiVolumeSource
  readonly image?: { readonly reference?: string }
}

export interface Resources {
  readonly limits?: Readonly<Record<string, string>>
  readonly requests?: Readonly<Record<string, string>>
}

/** Empty texts count as absent. */
export type SelinuxOptions = Read<V1SELinuxOptions>

export interface Container {
  readonly name: string
  readonly volumeMounts?: readonly {
    readonly name: string
    readonly mountPath?: string
    readonly subPath?: string
    readonly subPathExpr?: string
    readonly readOnly?: boolean
  }[]
  readonly volumeDevices?: readonly { readonly name: string; readonly devicePath?: string }[]
  readonly resources?: Resources
  /** Always, of an init container: a sidecar. */
  readonly restartPolicy?: string
  readonly securityContext?: { readonly runAsUser?: number; readonly seLinuxOptions?: SelinuxOptions }
}

export interface ContainerStatus {
  readonly name: string
  /** RUNTIME://ID */
  readonly containerID?: string
  readonly state?: {
    readonly running?: unknown
    readonly waiting?: unknown
    readonly terminated?: { readonly finishedAt?: string | null } | null
  }
}

export interface Pod extends ApiObject {
  readonly spec: {
    readonly nodeName?: string
    readonly volumes?: readonly PodVolumeSource[]
    readonly initContainers?: readonly Container[] | null
    readonly containers?: readonly Container[] | null
    readonly ephemeralContainers?: readonly Container[] | null
    readonly resources?: Resources
    readonly overhead?: Readonly<Record<string, string>>
    readonly securityContext?: {
      readonly fsGroup?: number
      readonly fsGroupChangePolicy?: string
      readonly runAsUser?: number
      readonly seLinuxOptions?: SelinuxOptions
      readonly seLinuxChangePolicy?: string
    }
    readonly serviceAccountName?: string
  }
  readonly status?: {
    readonly phase?: string
    readonly startTime?: string
    readonly conditions?: readonly {
      readonly type: string
      readonly status: string
      readonly lastTransitionTime?: string | null
    }[]
    readonly initContainerStatuses?: readonly ContainerStatus[]
    readonly containerStatuses?: readonly ContainerStatus[]
    readonly ephemeralContainerStatuses?: readonly ContainerStatus[]
  }
}

export interface PersistentVolumeClaim extends ApiObject {
  readonly spec: {
    readonly accessModes?: readonly string[]
    readonly volumeName?: string
    readonly volumeMode?: string
    readonly resources?: { readonly requests?: Readonly<Record<string, string>> }
  }
  readonly status?: {
    readonly phase?: string
    readonly capacity?: Readonly<Record<string, string>>
    readonly allocatedResources?: Readonly<Record<string, string>>
    readonly allocatedResourceStatuses?: Readonly<Record<string, string>>
    readonly conditions?: readonly { readonly type: string; readonly status: string }[]
  }
}

export type CsiPersistentVolumeSource = Read<V1CSIPersistentVolumeSource>
export type NodeSelectorRequirement = Read<V1NodeSelectorRequirement>
export type NodeSelectorTerm = Read<V1NodeSelectorTerm>

export interface PersistentVolume extends ApiObject {
  readonly spec: SharedSources & {
    readonly accessModes?: readonly string[]
    readonly capacity?: Readonly<Record<string, string>>
    readonly claimRef?: { readonly namespace?: string; readonly name?: string; readonly uid?: string }
    readonly volumeMode?: string
    readonly mountOptions?: readonly string[]
    readonly nodeAffinity?: { readonly required?: { readonly nodeSelectorTerms?: readonly NodeSelectorTerm[] | null } }
    readonly csi?: CsiPersistentVolumeSource
    readonly local?: Read<V1LocalVolumeSource>
  }
  readonly status?: { readonly phase?: string }
}

export interface VolumeAttachment extends ApiObject {
  readonly spec: {
    readonly attacher: string
    readonly nodeName: string
    readonly source: {
      readonly persistentVolumeName?: string
      readonly inlineVolumeSpec?: PersistentVolume['spec']
    }
  }
  readonly status?: {
    readonly attached?: boolean
    readonly attachmentMetadata?: Readonly<Record<string, string>>
    readonly attachError?: { readonly message?: string; readonly time?: string | null }
    readonly detachError?: { readonly message?: string; readonly time?: string | null }
  }
}

export interface CsiDriver extends ApiObject {
  readonly spec: {
    readonly attachRequired?: boolean
    readonly podInfoOnMount?: boolean
    readonly volumeLifecycleModes?: readonly string[]
    readonly fsGroupPolicy?: string
    readonly requiresRepublish?: boolean
    readonly tokenRequests?: readonly Read<StorageV1TokenRequest>[]
    readonly serviceAccountTokenInSecrets?: boolean
    readonly seLinuxMount?: boolean
  }
}

export interface CsiNode extends ApiObject {
  readonly spec: { readonly drivers?: readonly { readonly name: string; readonly nodeID?: string }[] | null }
}

export interface Node extends ApiObject {
  readonly spec?: {
    readonly taints?: readonly { readonly key: string; readonly value?: string; readonly effect?: string }[]
  }
  readonly status?: {
    readonly conditions?: readonly {
      readonly type: string
      readonly status: string
      readonly lastHeartbeatTime?: string | null
      readonly lastTransitionTime?: string | null
    }[]
    readonly nodeInfo?: {
      readonly machineID?: string
      readonly systemUUID?: string
      readonly bootID?: string
      readonly kubeletVersion?: string
      readonly containerRuntimeVersion?: string
    }
    readonly addresses?: readonly Read<V1NodeAddress>[]
    readonly volumesInUse?: readonly string[] | null
    readonly volumesAttached?: readonly { readonly name: string; readonly devicePath?: string }[] | null
    readonly allocatable?: Readonly<Record<string, string>>
  }
}

/** By which a kubelet reports that it is alive: kube-node-lease/NODE (S11, S29). */
export interface Lease extends ApiObject {
  readonly spec?: {
    readonly holderIdentity?: string | null
    readonly leaseDurationSeconds?: number | null
    /** RFC 3339, in the clock of whoever renews it. */
    readonly renewTime?: string | null
  }
}

/**
 * `digests` are HMACs of each key's value under a key that exists only in the process that read them (contract, Snapshot).
 */
export interface ConfigMap extends ApiObject {
  readonly data?: Readonly<Record<string, string>>
  readonly binaryData?: Readonly<Record<string, string>>
  readonly digests?: Readonly<Record<string, string>>
}

/** A secret with its values (base64): read right before they are written into a volume, and never kept. */
export interface Secret extends ApiObject {
  readonly type?: string
  readonly data?: Readonly<Record<string, string>>
}

export interface ClusterTrustBundle extends ApiObject {
  readonly spec: { readonly signerName?: string; readonly trustBundle?: string }
}

/** A secret as volctl keeps it: never `data`, only digests. */
export interface SecretDigest extends ApiObject {
  readonly type?: string
  readonly digests?: Readonly<Record<string, string>>
}
