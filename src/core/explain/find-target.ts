/** What a name means: one thing; of several, or none, an error says what to ask for instead. */

import { readFailures } from '../desired/read-failures.ts'
import type { NotFound } from '../errors/errors.ts'
import { count } from '../lang/count.ts'
import { namespacedName } from '../plan/pod-name.ts'
import type { PlanContext } from '../reconcile/context/context.ts'
import type { Candidate, Found } from './candidates.ts'
import { AmbiguousThing, matching } from './match-name.ts'
import { nothingFound } from './near-candidates.ts'

/** @throws VolctlError AmbiguousName, NotFound */
export function findTarget(context: PlanContext, candidates: readonly Candidate[], what: string): Found {
  const found = matching(candidates, what)
  const [first] = found
  if (first === undefined) throw notFound(context, candidates, what)
  const only = found.length === 1 ? first : samePod(context, found)
  if (only === undefined) throw new AmbiguousThing(`on node ${context.inputs.snapshot.nodeName}`, what, found)
  return only
}

/** A pod and what is left of another that it has replaced: both are meant. */
function samePod({ classes }: PlanContext, found: readonly Candidate[]): Found | undefined {
  const uids = found.flatMap(({ target }) => (target.kind === 'Pod' ? target.uids : []))
  const names = new Set(
    uids.map((uid) => {
      const ref = classes.of(uid)?.ref
      return ref?.name === undefined ? undefined : namespacedName(ref)
    }),
  )
  if (uids.length !== found.length || names.size !== 1 || names.has(undefined)) return undefined
  return { target: { kind: 'Pod', uids } }
}

function notFound({ inputs, classes }: PlanContext, candidates: readonly Candidate[], what: string): NotFound {
  const { api, nodeName } = inputs.snapshot
  const failed = api === undefined ? [] : readFailures(api.errors).filter((each) => !each.notFound)
  return nothingFound(candidates, what, {
    place: `on node ${nodeName}`,
    counts: [
      count(classes.all.length, 'pod'),
      count(api?.persistentVolumeClaims.length ?? 0, 'claim'),
      count(api?.persistentVolumes.length ?? 0, 'PersistentVolume'),
      count(api?.volumeAttachments.length ?? 0, 'VolumeAttachment'),
      count(candidates.filter(({ target }) => target.kind === 'Volume').length, 'volume'),
      count(candidates.filter(({ target }) => target.kind === 'Driver').length, 'driver'),
    ],
    unread: [...new Set(failed.map(({ resource }) => resource ?? 'objects'))],
    hint: 'Give NAMESPACE/POD, a UID, pvc/NAMESPACE/NAME, pv/NAME, driver/NAME, the name of a VolumeAttachment or volume, an absolute path, or a device.',
  })
}
