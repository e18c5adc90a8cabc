/** Sources of volumes have the fields of client-node's models: none is missing, misspelt or of another type. The compiler says so. */
import type * as client from '@kubernetes/client-node'
import { expectTypeOf, it } from 'vitest'
import type {
  CsiDriver,
  CsiPersistentVolumeSource,
  DownwardApiItem,
  KeyToPath,
  LabelSelector,
  Node,
  NodeSelectorTerm,
  PersistentVolume,
  PodVolumeSource,
  ProjectedSource,
  SecretReference,
  SelinuxOptions,
  SharedSources,
} from '../../src/core/kube/api/objects.ts'

/** A model of client-node, read-only. */
type Read<T> = T extends readonly (infer Each)[]
  ? readonly Read<Each>[]
  : T extends object
    ? { readonly [Key in keyof T]: Read<T[Key]> }
    : T

type Each<T> = NonNullable<T> extends readonly (infer One)[] ? One : never

/** With fields of Kubernetes 1.37, which client-node lacks (N72). */
type User = { user?: number }
type Items<T extends { items?: object[] }> = Omit<T, 'items'> & { items?: (Each<T['items']> & User)[] }
type Volume<T extends { items?: object[] }> = Items<T> & { defaultUser?: number }

it('sources of pods and PersistentVolumes', () => {
  expectTypeOf<Required<SharedSources>>().toEqualTypeOf<{
    readonly awsElasticBlockStore: Read<client.V1AWSElasticBlockStoreVolumeSource>
    readonly gcePersistentDisk: Read<client.V1GCEPersistentDiskVolumeSource>
    readonly azureDisk: Read<client.V1AzureDiskVolumeSource>
    readonly azureFile: Read<client.V1AzureFilePersistentVolumeSource>
    readonly cinder: Read<client.V1CinderPersistentVolumeSource>
    readonly vsphereVolume: Read<client.V1VsphereVirtualDiskVolumeSource>
    readonly portworxVolume: Read<client.V1PortworxVolumeSource>
    readonly hostPath: Read<client.V1HostPathVolumeSource>
    readonly nfs: Read<client.V1NFSVolumeSource>
    readonly iscsi: Read<
      Pick<client.V1ISCSIPersistentVolumeSource, 'targetPortal' | 'iqn' | 'lun' | 'iscsiInterface' | 'initiatorName'>
    >
    readonly fc: Read<Pick<client.V1FCVolumeSource, 'targetWWNs' | 'lun' | 'wwids'>>
    readonly flexVolume: Read<Pick<client.V1FlexPersistentVolumeSource, 'driver'>>
  }>()
})

it('sources of pods', () => {
  type Sources = Required<PodVolumeSource>
  expectTypeOf<Sources['emptyDir']>().toEqualTypeOf<Read<client.V1EmptyDirVolumeSource & { mode?: number }>>()
  expectTypeOf<Sources['configMap']>().toEqualTypeOf<Read<Volume<client.V1ConfigMapVolumeSource>>>()
  expectTypeOf<Sources['secret']>().toEqualTypeOf<Read<Volume<client.V1SecretVolumeSource>>>()
  expectTypeOf<Sources['downwardAPI']>().toEqualTypeOf<Read<Volume<client.V1DownwardAPIVolumeSource>>>()
  expectTypeOf<Sources['persistentVolumeClaim']>().toEqualTypeOf<Read<client.V1PersistentVolumeClaimVolumeSource>>()
  expectTypeOf<Sources['csi']>().toEqualTypeOf<Read<client.V1CSIVolumeSource>>()
  expectTypeOf<DownwardApiItem>().toEqualTypeOf<Read<client.V1DownwardAPIVolumeFile & User>>()
  expectTypeOf<KeyToPath>().toEqualTypeOf<Read<client.V1KeyToPath & User>>()
})

it('sources of projected volumes', () => {
  type Sources = Required<ProjectedSource>
  expectTypeOf<Sources['secret']>().toEqualTypeOf<Read<Items<client.V1SecretProjection>>>()
  expectTypeOf<Sources['configMap']>().toEqualTypeOf<Read<Items<client.V1ConfigMapProjection>>>()
  expectTypeOf<Sources['downwardAPI']>().toEqualTypeOf<Read<Items<client.V1DownwardAPIProjection>>>()
  expectTypeOf<Sources['serviceAccountToken']>().toEqualTypeOf<Read<client.V1ServiceAccountTokenProjection & User>>()
  expectTypeOf<Sources['clusterTrustBundle']>().toEqualTypeOf<Read<client.V1ClusterTrustBundleProjection & User>>()
  expectTypeOf<Sources['podCertificate']>().toEqualTypeOf<
    Read<Pick<client.V1PodCertificateProjection, 'credentialBundlePath' | 'keyPath' | 'certificateChainPath'>>
  >()
})

it('sources of PersistentVolumes', () => {
  expectTypeOf<CsiPersistentVolumeSource>().toEqualTypeOf<Read<client.V1CSIPersistentVolumeSource>>()
  expectTypeOf<Required<PersistentVolume['spec']>['local']>().toEqualTypeOf<Read<client.V1LocalVolumeSource>>()
})

it('what stands in several objects', () => {
  expectTypeOf<LabelSelector>().toEqualTypeOf<Read<client.V1LabelSelector>>()
  expectTypeOf<NodeSelectorTerm>().toEqualTypeOf<Read<client.V1NodeSelectorTerm>>()
  expectTypeOf<SecretReference>().toEqualTypeOf<Read<client.V1SecretReference>>()
  expectTypeOf<SelinuxOptions>().toEqualTypeOf<Read<client.V1SELinuxOptions>>()
  expectTypeOf<Each<CsiDriver['spec']['tokenRequests']>>().toEqualTypeOf<Read<client.StorageV1TokenRequest>>()
  expectTypeOf<Each<NonNullable<Node['status']>['addresses']>>().toEqualTypeOf<Read<client.V1NodeAddress>>()
})
