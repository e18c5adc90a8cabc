/** The types that follow from the shapes are those that were written by hand: no field became optional, required or unknown. */
import { expectTypeOf, it } from 'vitest'
import type * as writtenCluster from '../../src/core/cluster/model/cluster-state.ts'
import type * as cluster from '../../src/core/cluster/snapshot/cluster-shapes.ts'
import type * as written from '../../src/core/model/snapshot.ts'
import type * as inferred from '../../src/core/snapshot/snapshot-shape.ts'

/** An intersection as one list of fields. */
type Plain<T> = T extends object ? { [Key in keyof T]: Plain<T[Key]> } : T

it('a node', () => {
  expectTypeOf<Plain<inferred.ApiReadError>>().toEqualTypeOf<Plain<written.ApiReadError>>()
  expectTypeOf<Plain<inferred.Insecure>>().toEqualTypeOf<Plain<written.Insecure>>()
  expectTypeOf<Plain<inferred.PodElsewhere>>().toEqualTypeOf<Plain<written.PodElsewhere>>()
  expectTypeOf<Plain<inferred.NodeElsewhere>>().toEqualTypeOf<Plain<written.NodeElsewhere>>()
  expectTypeOf<Plain<inferred.Elsewhere>>().toEqualTypeOf<Plain<written.Elsewhere>>()
  expectTypeOf<Plain<inferred.ApiSnapshot>>().toEqualTypeOf<Plain<written.ApiSnapshot>>()
  expectTypeOf<Plain<inferred.FileType>>().toEqualTypeOf<Plain<written.FileType>>()
  expectTypeOf<Plain<inferred.TreeEntry>>().toEqualTypeOf<Plain<written.TreeEntry>>()
  expectTypeOf<Plain<inferred.SandboxState>>().toEqualTypeOf<Plain<written.SandboxState>>()
  expectTypeOf<Plain<inferred.RuntimeSnapshot>>().toEqualTypeOf<Plain<written.RuntimeSnapshot>>()
  expectTypeOf<Plain<inferred.StaticPodsSnapshot>>().toEqualTypeOf<Plain<written.StaticPodsSnapshot>>()
  expectTypeOf<Plain<inferred.NodeNameFrom>>().toEqualTypeOf<Plain<written.NodeNameFrom>>()
  expectTypeOf<Plain<inferred.StopShownBy>>().toEqualTypeOf<Plain<written.StopShownBy>>()
  expectTypeOf<Plain<inferred.KubeletSnapshot>>().toEqualTypeOf<Plain<written.KubeletSnapshot>>()
  expectTypeOf<Plain<inferred.BlockDevice>>().toEqualTypeOf<Plain<written.BlockDevice>>()
  expectTypeOf<Plain<inferred.LazilyDetached>>().toEqualTypeOf<Plain<written.LazilyDetached>>()
  expectTypeOf<Plain<inferred.LazyMemoryDefect>>().toEqualTypeOf<Plain<written.LazyMemoryDefect>>()
  expectTypeOf<Plain<inferred.CsiSocket>>().toEqualTypeOf<Plain<written.CsiSocket>>()
  expectTypeOf<Plain<inferred.FlexDriver>>().toEqualTypeOf<Plain<written.FlexDriver>>()
  expectTypeOf<Plain<inferred.HostPath>>().toEqualTypeOf<Plain<written.HostPath>>()
  expectTypeOf<Plain<inferred.Selinux>>().toEqualTypeOf<Plain<written.Selinux>>()
  expectTypeOf<Plain<inferred.NotBelieved>>().toEqualTypeOf<Plain<written.NotBelieved>>()
  expectTypeOf<Plain<inferred.NodeSnapshot>>().toEqualTypeOf<Plain<written.NodeSnapshot>>()
})

it('a cluster', () => {
  expectTypeOf<Plain<cluster.ClusterState>>().toEqualTypeOf<Plain<writtenCluster.ClusterState>>()
  expectTypeOf<Plain<cluster.ClusterResource>>().toEqualTypeOf<Plain<writtenCluster.ClusterResource>>()
  expectTypeOf<Plain<cluster.ListSight>>().toEqualTypeOf<Plain<writtenCluster.ListSight>>()
  expectTypeOf<Plain<cluster.ClusterRights>>().toEqualTypeOf<Plain<writtenCluster.ClusterRights>>()
  expectTypeOf<Plain<cluster.ControllerEvidence>>().toEqualTypeOf<Plain<writtenCluster.ControllerEvidence>>()
  expectTypeOf<Plain<cluster.ControllerWrite>>().toEqualTypeOf<Plain<writtenCluster.ControllerWrite>>()
  expectTypeOf<Plain<cluster.LeaseEvidence>>().toEqualTypeOf<Plain<writtenCluster.LeaseEvidence>>()
  expectTypeOf<Plain<cluster.ClusterNode>>().toEqualTypeOf<Plain<writtenCluster.ClusterNode>>()
  expectTypeOf<Plain<cluster.NodeDriver>>().toEqualTypeOf<Plain<writtenCluster.NodeDriver>>()
  expectTypeOf<Plain<cluster.ClusterPod>>().toEqualTypeOf<Plain<writtenCluster.ClusterPod>>()
  expectTypeOf<Plain<cluster.ClusterPodVolume>>().toEqualTypeOf<Plain<writtenCluster.ClusterPodVolume>>()
  expectTypeOf<Plain<cluster.ClusterClaim>>().toEqualTypeOf<Plain<writtenCluster.ClusterClaim>>()
  expectTypeOf<Plain<cluster.ClusterVolume>>().toEqualTypeOf<Plain<writtenCluster.ClusterVolume>>()
  expectTypeOf<Plain<cluster.ClusterAttachment>>().toEqualTypeOf<Plain<writtenCluster.ClusterAttachment>>()
  expectTypeOf<Plain<cluster.AttachmentError>>().toEqualTypeOf<Plain<writtenCluster.AttachmentError>>()
  expectTypeOf<Plain<cluster.ClusterDriver>>().toEqualTypeOf<Plain<writtenCluster.ClusterDriver>>()
})
