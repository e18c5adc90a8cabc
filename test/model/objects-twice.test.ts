/** The types that follow from the shapes are those that were written by hand: no field became optional, required or unknown. */
import { expectTypeOf, it } from 'vitest'
import type * as inferred from '../../src/core/model/object-shapes.ts'
import type * as written from '../../src/core/model/objects.ts'

/** An intersection as one list of fields. */
type Plain<T> = T extends object ? { [Key in keyof T]: Plain<T[Key]> } : T

it('each object has one type', () => {
  expectTypeOf<inferred.ApiObject>().toEqualTypeOf<written.ApiObject>()
  expectTypeOf<inferred.ObjectMeta>().toEqualTypeOf<written.ObjectMeta>()
  expectTypeOf<inferred.KeyToPath>().toEqualTypeOf<written.KeyToPath>()
  expectTypeOf<inferred.SecretReference>().toEqualTypeOf<written.SecretReference>()
  expectTypeOf<inferred.LabelSelector>().toEqualTypeOf<written.LabelSelector>()
  expectTypeOf<inferred.DownwardApiItem>().toEqualTypeOf<written.DownwardApiItem>()
  expectTypeOf<inferred.ProjectedSource>().toEqualTypeOf<written.ProjectedSource>()
  expectTypeOf<inferred.InTreeSources>().toEqualTypeOf<written.InTreeSources>()
  expectTypeOf<inferred.SharedSources>().toEqualTypeOf<written.SharedSources>()
  expectTypeOf<inferred.PodVolumeSource>().toEqualTypeOf<written.PodVolumeSource>()
  expectTypeOf<inferred.SelinuxOptions>().toEqualTypeOf<written.SelinuxOptions>()
  expectTypeOf<inferred.Container>().toEqualTypeOf<written.Container>()
  expectTypeOf<inferred.ContainerStatus>().toEqualTypeOf<written.ContainerStatus>()
  expectTypeOf<inferred.Pod>().toEqualTypeOf<written.Pod>()
  expectTypeOf<inferred.PersistentVolumeClaim>().toEqualTypeOf<written.PersistentVolumeClaim>()
  expectTypeOf<inferred.CsiPersistentVolumeSource>().toEqualTypeOf<written.CsiPersistentVolumeSource>()
  expectTypeOf<inferred.NodeSelectorTerm>().toEqualTypeOf<written.NodeSelectorTerm>()
  expectTypeOf<Plain<inferred.PersistentVolume>>().toEqualTypeOf<Plain<written.PersistentVolume>>()
  expectTypeOf<Plain<inferred.VolumeAttachment>>().toEqualTypeOf<Plain<written.VolumeAttachment>>()
  expectTypeOf<inferred.CsiDriver>().toEqualTypeOf<written.CsiDriver>()
  expectTypeOf<inferred.CsiNode>().toEqualTypeOf<written.CsiNode>()
  expectTypeOf<inferred.Node>().toEqualTypeOf<written.Node>()
  expectTypeOf<inferred.Lease>().toEqualTypeOf<written.Lease>()
  expectTypeOf<inferred.ConfigMap>().toEqualTypeOf<written.ConfigMap>()
  expectTypeOf<inferred.Secret>().toEqualTypeOf<written.Secret>()
  expectTypeOf<inferred.SecretDigest>().toEqualTypeOf<written.SecretDigest>()
  expectTypeOf<inferred.ClusterTrustBundle>().toEqualTypeOf<written.ClusterTrustBundle>()
})
