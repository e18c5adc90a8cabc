import { defined } from '../lang/defined.ts'
import type { Scope } from '../ledger/whose.ts'
import type { PlanContext } from '../reconcile/context/context.ts'
import { podVerdict } from '../reconcile/decisions.ts'
import type { PodView } from './explanation.ts'

/** Pods that are asked about, then those of the volumes. */
export function podViews(context: PlanContext, { pods, volumes }: Scope): PodView[] {
  const uids = new Set([...pods, ...(pods.length > 0 ? [] : volumes.flatMap(({ podUids }) => [...podUids]))])
  return [...uids].flatMap((uid) => podView(context, uid) ?? [])
}

function podView({ classes, witnesses }: PlanContext, uid: string): PodView | undefined {
  const found = classes.of(uid)
  if (found === undefined) return undefined
  const { pod, ref } = found
  const [rule, why] = podVerdict(found)
  const { phase } = { ...pod?.status }
  const { deletionTimestamp } = { ...pod?.metadata }
  return {
    pod: ref,
    class: found.class,
    rule,
    why,
    listed: pod !== undefined,
    ...defined({ phase, deletedAt: deletionTimestamp }),
    signsOfLife: witnesses.signsOfLife(uid),
  }
}
