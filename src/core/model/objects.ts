/**
 * The Kubernetes API objects volctl reads, as the API server's JSON has them: only the fields that some decision uses.
 * Own types instead of client-node's, whose typed models turn times into Date and drop what they do not know.
 */

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

export interface KeyToPath {
  readonly key: string
  readonly path: string
  readonly mode?: number
}

export interface LocalObjectReference {
  readonly name?: string
}

export interface SecretReference {
  readonly name?: string
  readonly namespace?: string
}

export interface CsiVolumeSource {
  readonly driver: string
  readonly readOnly?: boolean
  readonly fsType?: string
  readonly volumeAttributes?: Readonly<Record<string, string>>
  readonly nodePublishSecretRef?: LocalObjectReference
}

export interface DownwardApiItem {
  readonly path: string
  readonly mode?: number
  readonly fieldRef?: { readonly fieldPath: string; readonly apiVersion?: string }
  readonly resourceFieldRef?: { readonly resource: string; readonly containerName?: string; readonly divisor?: string }
}

export interface ConfigMapProjection {
  readonly name?: string
  readonly items?: readonly KeyToPath[]
  readonly optional?: boolean
}

export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>
  readonly matchExpressions?: readonly NodeSelectorRequirement[]
}

export interface ProjectedSource {
  readonly secret?: ConfigMapProjection
  readonly configMap?: ConfigMapProjection
  readonly downwardAPI?: { readonly items?: readonly DownwardApiItem[] }
  readonly serviceAccountToken?: {
    readonly path: string
    readonly audience?: string
    readonly expirationSeconds?: number
  }
  readonly clusterTrustBundle?: {
    readonly path: string
    readonly optional?: boolean
    readonly name?: string
    readonly signerName?: string
    readonly labelSelector?: LabelSelector
  }
  readonly podCertificate?: {
    readonly credentialBundlePath?: string
    readonly keyPath?: string
    readonly certificateChainPath?: string
  }
}

/** In-tree sources that Kubernetes 1.36 translates to CSI (R150), and others it has no plugin for (P3), stay open. */
export interface InTreeSources {
  readonly awsElasticBlockStore?: {
    readonly volumeID: string
    readonly fsType?: string
    readonly partition?: number
    readonly readOnly?: boolean
  }
  readonly gcePersistentDisk?: {
    readonly pdName: string
    readonly fsType?: string
    readonly partition?: number
    readonly readOnly?: boolean
  }
  readonly azureDisk?: {
    readonly diskName: string
    readonly diskURI: string
    readonly cachingMode?: string
    readonly fsType?: string
    readonly readOnly?: boolean
    readonly kind?: string
  }
  readonly azureFile?: {
    readonly secretName: string
    readonly shareName: string
    readonly readOnly?: boolean
    readonly secretNamespace?: string
  }
  readonly cinder?: {
    readonly volumeID: string
    readonly fsType?: string
    readonly readOnly?: boolean
    readonly secretRef?: SecretReference
  }
  readonly vsphereVolume?: {
    readonly volumePath: string
    readonly fsType?: string
    readonly storagePolicyName?: string
    readonly storagePolicyID?: string
  }
  readonly portworxVolume?: { readonly volumeID: string; readonly fsType?: string; readonly readOnly?: boolean }
}

export interface SharedSources extends InTreeSources {
  readonly hostPath?: { readonly path: string; readonly type?: string }
  readonly nfs?: { readonly server: string; readonly path: string; readonly readOnly?: boolean }
  readonly iscsi?: {
    readonly targetPortal: string
    readonly portals?: readonly string[]
    readonly iqn: string
    readonly lun: number
    readonly iscsiInterface?: string
    readonly initiatorName?: string
    readonly fsType?: string
    readonly readOnly?: boolean
    readonly chapAuthDiscovery?: boolean
    readonly chapAuthSession?: boolean
    readonly secretRef?: SecretReference
  }
  readonly fc?: {
    readonly targetWWNs?: readonly string[]
    readonly lun?: number
    readonly wwids?: readonly string[]
    readonly fsType?: string
    readonly readOnly?: boolean
  }
  readonly flexVolume?: {
    readonly driver: string
    readonly fsType?: string
    readonly readOnly?: boolean
    readonly options?: Readonly<Record<string, string>>
    readonly secretRef?: SecretReference
  }
}

export interface PodVolumeSource extends SharedSources {
  readonly name: string
  readonly emptyDir?: { readonly medium?: string; readonly sizeLimit?: string }
  readonly gitRepo?: { readonly repository?: string }
  readonly configMap?: ConfigMapProjection & { readonly defaultMode?: number }
  readonly secret?: {
    readonly secretName?: string
    readonly items?: readonly KeyToPath[]
    readonly defaultMode?: number
    readonly optional?: boolean
  }
  readonly downwardAPI?: { readonly items?: readonly DownwardApiItem[]; readonly defaultMode?: number }
  readonly projected?: { readonly sources?: readonly ProjectedSource[] | null; readonly defaultMode?: number }
  readonly persistentVolumeClaim?: { readonly claimName: string; readonly readOnly?: boolean }
  readonly ephemeral?: { readonly volumeClaimTemplate?: unknown }
  readonly csi?: CsiVolumeSource
  readonly image?: { readonly reference?: string }
}

export interface Resources {
  readonly limits?: Readonly<Record<string, string>>
  readonly requests?: Readonly<Record<string, string>>
}

/** Empty texts count as absent. */
export interface SelinuxOptions {
  readonly user?: string
  readonly role?: string
  readonly type?: string
  readonly level?: string
}

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

export interface CsiPersistentVolumeSource {
  readonly driver: string
  readonly volumeHandle: string
  readonly readOnly?: boolean
  readonly fsType?: string
  readonly volumeAttributes?: Readonly<Record<string, string>>
  readonly controllerPublishSecretRef?: SecretReference
  readonly nodeStageSecretRef?: SecretReference
  readonly nodePublishSecretRef?: SecretReference
  readonly controllerExpandSecretRef?: SecretReference
  readonly nodeExpandSecretRef?: SecretReference
}

export interface NodeSelectorRequirement {
  readonly key: string
  readonly operator: string
  readonly values?: readonly string[]
}

export interface NodeSelectorTerm {
  readonly matchExpressions?: readonly NodeSelectorRequirement[]
  readonly matchFields?: readonly NodeSelectorRequirement[]
}

export interface PersistentVolume extends ApiObject {
  readonly spec: SharedSources & {
    readonly accessModes?: readonly string[]
    readonly capacity?: Readonly<Record<string, string>>
    readonly claimRef?: { readonly namespace?: string; readonly name?: string; readonly uid?: string }
    readonly volumeMode?: string
    readonly mountOptions?: readonly string[]
    readonly nodeAffinity?: { readonly required?: { readonly nodeSelectorTerms?: readonly NodeSelectorTerm[] | null } }
    readonly csi?: CsiPersistentVolumeSource
    readonly local?: { readonly path: string; readonly fsType?: string }
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
    readonly tokenRequests?: readonly { readonly audience: string; readonly expirationSeconds?: number }[]
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
    }
    readonly addresses?: readonly { readonly type: string; readonly address: string }[]
    readonly volumesInUse?: readonly string[] | null
    readonly volumesAttached?: readonly { readonly name: string; readonly devicePath?: string }[] | null
    readonly allocatable?: Readonly<Record<string, string>>
  }
}

/** By which a kubelet says that it lives: kube-node-lease/NODE (S11, S29). */
export interface Lease extends ApiObject {
  readonly spec?: {
    readonly holderIdentity?: string | null
    readonly leaseDurationSeconds?: number | null
    /** RFC 3339, in the clock of whoever renews it. */
    readonly renewTime?: string | null
  }
}

/** `digests` are HMACs of each key's value under a key that dies with the process that read them (contract, Snapshot). */
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
