/** The types that follow from the shapes are those that were written by hand: no field became optional, required or unknown. */
import { expectTypeOf, it } from 'vitest'
import type * as written from '../../src/core/plan/old-plan.ts'
import type * as inferred from '../../src/core/plan/plan.ts'

/** An intersection as one list of fields. */
type Plain<T> = T extends object ? { [Key in keyof T]: Plain<T[Key]> } : T

it('a plan', () => {
  expectTypeOf<Plain<inferred.OperationKind>>().toEqualTypeOf<Plain<written.OperationKind>>()
  expectTypeOf<Plain<inferred.Step>>().toEqualTypeOf<Plain<written.Step>>()
  expectTypeOf<Plain<inferred.VolumeRef>>().toEqualTypeOf<Plain<written.VolumeRef>>()
  expectTypeOf<Plain<inferred.Blocked>>().toEqualTypeOf<Plain<written.Blocked>>()
  expectTypeOf<Plain<inferred.ExpectedMount>>().toEqualTypeOf<Plain<written.ExpectedMount>>()
  expectTypeOf<Plain<inferred.FileIdentity>>().toEqualTypeOf<Plain<written.FileIdentity>>()
  expectTypeOf<Plain<inferred.Basis>>().toEqualTypeOf<Plain<written.Basis>>()
  expectTypeOf<Plain<inferred.DeadMount>>().toEqualTypeOf<Plain<written.DeadMount>>()
  expectTypeOf<Plain<inferred.Operation>>().toEqualTypeOf<Plain<written.Operation>>()
  expectTypeOf<Plain<inferred.IdentityField>>().toEqualTypeOf<Plain<written.IdentityField>>()
  expectTypeOf<Plain<inferred.IdentityContradiction>>().toEqualTypeOf<Plain<written.IdentityContradiction>>()
  expectTypeOf<Plain<inferred.PlanInputs>>().toEqualTypeOf<Plain<written.PlanInputs>>()
  expectTypeOf<Plain<inferred.Plan>>().toEqualTypeOf<Plain<written.Plan>>()
  expectTypeOf<Plain<inferred.Refusal>>().toEqualTypeOf<Plain<written.Refusal>>()
  expectTypeOf<Plain<inferred.ReviewedPlan>>().toEqualTypeOf<Plain<written.ReviewedPlan>>()
  expectTypeOf<Plain<inferred.PlanOptions>>().toEqualTypeOf<Plain<written.PlanOptions>>()
})
