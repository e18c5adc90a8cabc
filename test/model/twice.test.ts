/** The types that follow from the shapes are those that were written by hand: no field became optional, required or unknown. */
import { expectTypeOf, it } from 'vitest'
import type * as written from '../../src/core/plan/cluster-plan.ts'
import type * as inferred from '../../src/core/plan/cluster-plan-shape.ts'

/** An intersection as one list of fields. */
type Plain<T> = T extends object ? { [Key in keyof T]: Plain<T[Key]> } : T

it('a plan of a cluster', () => {
  expectTypeOf<Plain<inferred.ClusterOperationKind>>().toEqualTypeOf<Plain<written.ClusterOperationKind>>()
  expectTypeOf<Plain<inferred.ClusterStep>>().toEqualTypeOf<Plain<written.ClusterStep>>()
  expectTypeOf<Plain<inferred.ClusterVolumeRef>>().toEqualTypeOf<Plain<written.ClusterVolumeRef>>()
  expectTypeOf<Plain<inferred.DetachException>>().toEqualTypeOf<Plain<written.DetachException>>()
  expectTypeOf<Plain<inferred.Evidence>>().toEqualTypeOf<Plain<written.Evidence>>()
  expectTypeOf<Plain<inferred.NewAttachment>>().toEqualTypeOf<Plain<written.NewAttachment>>()
  expectTypeOf<Plain<inferred.ClusterOperation>>().toEqualTypeOf<Plain<written.ClusterOperation>>()
  expectTypeOf<Plain<inferred.ClusterBasis>>().toEqualTypeOf<Plain<written.ClusterBasis>>()
  expectTypeOf<Plain<inferred.ClusterBlocked>>().toEqualTypeOf<Plain<written.ClusterBlocked>>()
  expectTypeOf<Plain<inferred.ClusterWaiting>>().toEqualTypeOf<Plain<written.ClusterWaiting>>()
  expectTypeOf<Plain<inferred.ClusterProblem>>().toEqualTypeOf<Plain<written.ClusterProblem>>()
  expectTypeOf<Plain<inferred.ClusterAbout>>().toEqualTypeOf<Plain<written.ClusterAbout>>()
  expectTypeOf<Plain<inferred.ControllerState>>().toEqualTypeOf<Plain<written.ControllerState>>()
  expectTypeOf<Plain<inferred.ClusterPlanInputs>>().toEqualTypeOf<Plain<written.ClusterPlanInputs>>()
  expectTypeOf<Plain<inferred.ClusterPlanSummary>>().toEqualTypeOf<Plain<written.ClusterPlanSummary>>()
  expectTypeOf<Plain<inferred.FoundOnNode>>().toEqualTypeOf<Plain<written.FoundOnNode>>()
  expectTypeOf<Plain<inferred.FleetRow>>().toEqualTypeOf<Plain<written.FleetRow>>()
  expectTypeOf<Plain<inferred.PlanFleet>>().toEqualTypeOf<Plain<written.PlanFleet>>()
  expectTypeOf<Plain<inferred.ClusterPlan>>().toEqualTypeOf<Plain<written.ClusterPlan>>()
  expectTypeOf<Plain<inferred.ClusterOptions>>().toEqualTypeOf<Plain<written.ClusterOptions>>()
})
