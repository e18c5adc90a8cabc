/**
 * What keeps an operation from being carried out, whatever its phase says. Every rule is a function from an operation to
 * an obstacle; here they stand in the order in which they are asked, and the first answer is the one that is shown.
 */
import type { Draft, Rule } from '../plan/draft.ts'
import type { PlanContext } from './context/context.ts'
import { behindLinkObstacle } from './context/unread.ts'
import { coveredObstacle } from './obstacles/covered.ts'
import { deadDriverObstacle } from './obstacles/dead-drivers.ts'
import { lazilyDetachedRule, lazyMemoryObstacle } from './obstacles/lazy-detachments.ts'
import { oddPathObstacle } from './obstacles/odd-paths.ts'

/** Asked of each operation by itself when its phase adds it, so that operations that come after it know. */
export function ruleOfEach(context: PlanContext): Rule {
  return (draft) =>
    // The backend of all these volumes is away: no other trouble is worth a person's time before that is over.
    deadDriverObstacle(context, draft) ??
    // What the phase found out was found under such a path.
    oddPathObstacle(draft) ??
    draft.blocked ??
    coveredObstacle(context, draft) ??
    behindLinkObstacle(context.inputs, draft)
}

/** Asked once all operations on volumes and attachments are there: one on a path concerns all of the same volume. */
export function ruleOfAll(context: PlanContext, drafts: readonly Draft[]): Rule {
  const lazilyDetached = lazilyDetachedRule(context, drafts)
  return (draft) =>
    // Nothing is safe before the file system is gone, even where the rest of it could be mended.
    lazilyDetached(draft) ?? draft.blocked ?? lazyMemoryObstacle(context, draft)
}
