/**
 * What keeps an operation from being carried out, whatever its phase says. Every rule is a function from an operation to an
 * obstacle; they are listed in the order in which they are applied, and the first obstacle is shown.
 */
import type { Draft, Rule } from '../plan/draft.ts'
import type { PlanContext } from './context/context.ts'
import { outOfReachObstacle, stateFileObstacle } from './context/unread.ts'
import { coveredObstacle } from './obstacles/covered.ts'
import { deadDriverObstacle } from './obstacles/dead-drivers.ts'
import { lazilyDetachedRule, lazyMemoryObstacle } from './obstacles/lazy-detachments.ts'
import { oddPathObstacle } from './obstacles/odd-paths.ts'

/** Applied to each operation when its phase adds it, so that operations that depend on it know. */
export function ruleOfEach(context: PlanContext): Rule {
  return (draft) =>
    // The backend of all these volumes is down: nothing else is worth a person's time until it is back.
    deadDriverObstacle(context, draft) ??
    // The phase's own findings depend on such a path.
    oddPathObstacle(draft) ??
    draft.blocked ??
    coveredObstacle(context, draft) ??
    outOfReachObstacle(context.inputs, draft) ??
    stateFileObstacle(context.inputs, draft)
}

/**
 * Applied once all operations on volumes and attachments are known: a rule about one path concerns all operations of the same
 * volume.
 */
export function ruleOfAll(context: PlanContext, drafts: readonly Draft[]): Rule {
  const lazilyDetached = lazilyDetachedRule(context, drafts)
  return (draft) =>
    // Nothing is safe before the file system is gone, even if everything else could be repaired.
    lazilyDetached(draft) ?? draft.blocked ?? lazyMemoryObstacle(context, draft)
}
