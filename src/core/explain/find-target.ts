/** What a name means: one thing; of several, or none, an error says what to ask for instead. */

import { type ReadFailure, readFailures } from '../desired/read-failures.ts'
import { NotFound, type VolctlError } from '../errors/errors.ts'
import { namespacedName } from '../plan/pod-name.ts'
import type { PlanContext } from '../reconcile/context/context.ts'
import { type Candidate, type Target, volumeOf } from './candidates.ts'
import { AmbiguousThing, matching } from './match-name.ts'
import { nearCandidates } from './near-candidates.ts'

const MOST_NEAR = 5

/** @throws VolctlError AmbiguousName, NotFound */
export function findTarget(context: PlanContext, candidates: readonly Candidate[], what: string): Target {
  const found = matching(candidates, what, ({ target }) => volumeOf(target))
  const [first] = found
  if (first === undefined) throw notFound(context, candidates, what)
  if (found.length === 1) return first.target
  return samePod(context, found) ?? fail(new AmbiguousThing(`on node ${context.inputs.snapshot.nodeName}`, what, found))
}

/** A pod and what is left of another that it has replaced: both are meant. */
function samePod({ classes }: PlanContext, found: readonly Candidate[]): Target | undefined {
  const uids = found.flatMap(({ target }) => (target.kind === 'Pod' ? target.uids : []))
  const names = new Set(
    uids.map((uid) => {
      const ref = classes.of(uid)?.ref
      return ref?.name === undefined ? undefined : namespacedName(ref)
    }),
  )
  return uids.length === found.length && names.size === 1 && !names.has(undefined) ? { kind: 'Pod', uids } : undefined
}

function fail(error: VolctlError): never {
  throw error
}

function notFound({ inputs, classes }: PlanContext, candidates: readonly Candidate[], what: string): VolctlError {
  const { api, nodeName } = inputs.snapshot
  const searched = [
    `${classes.all.length} pods`,
    `${api?.persistentVolumeClaims.length ?? 0} claims`,
    `${api?.persistentVolumes.length ?? 0} PersistentVolumes`,
    `${api?.volumeAttachments.length ?? 0} VolumeAttachments`,
    `${candidates.filter(({ target }) => target.kind === 'Volume').length} volumes`,
    `${candidates.filter(({ target }) => target.kind === 'Driver').length} drivers`,
  ]
  const unread = api === undefined ? '' : unreadText(readFailures(api.errors))
  const near = nearCandidates(candidates, what, MOST_NEAR, ({ target }) => volumeOf(target))
  return new NotFound(`"${what}" was not found on node ${nodeName}; searched: ${searched.join(', ')}${unread}`, {
    hint:
      near.length > 0
        ? `Did you mean ${near.join(', ')}?`
        : 'Give NAMESPACE/POD, a UID, pvc/NAMESPACE/NAME, pv/NAME, driver/NAME, the name of a VolumeAttachment or volume, an absolute path, or a device.',
  })
}

/** What the credential may not read may well exist (S3). */
function unreadText(failures: readonly ReadFailure[]): string {
  const failed = failures.filter(({ notFound }) => !notFound)
  const resources = new Set(failed.map(({ resource }) => resource ?? 'objects'))
  return resources.size === 0 ? '' : `; not all ${[...resources].join(', ')} could be read`
}
