/** What a name means: one thing; of several, or none, an error says what to ask for instead. */

import { type ReadFailure, readFailures } from '../desired/read-failures.ts'
import { VolctlError } from '../errors/errors.ts'
import { firstFew } from '../lang/first-few.ts'
import type { PlanContext } from '../reconcile/context/context.ts'
import { type Candidate, PREFIXES, type Target } from './candidates.ts'
import type { SubjectKind } from './explanation.ts'
import { nearNames } from './near-names.ts'

const MOST_CANDIDATES = 10
const MOST_NEAR = 5

/** `pv/NAME` as its kind and the name; without one of the known prefixes the name is all of it. */
export function splitPrefix(what: string): { readonly kind?: SubjectKind; readonly name: string } {
  const slash = what.indexOf('/')
  const prefix = what.slice(0, slash).toLowerCase()
  const kind = slash > 0 && Object.hasOwn(PREFIXES, prefix) ? PREFIXES[prefix] : undefined
  return kind === undefined ? { name: what } : { kind, name: what.slice(slash + 1) }
}

/** @throws VolctlError AmbiguousName, NotFound */
export function findTarget(context: PlanContext, candidates: readonly Candidate[], what: string): Target {
  const { kind, name } = splitPrefix(what)
  const ofKind = kind === undefined ? [] : named(candidates, name).filter(({ target }) => target.kind === kind)
  // A namespace may be called like a kind.
  const found = ofKind.length > 0 ? ofKind : oneForEachVolume(named(candidates, what))
  const [first] = found
  if (first === undefined) throw notFound(context, candidates, what)
  if (found.length > 1) throw ambiguous(context, what, found)
  return first.target
}

function named(candidates: readonly Candidate[], name: string): Candidate[] {
  return candidates.filter(({ names }) => names.includes(name))
}

const RANKS: readonly SubjectKind[] = ['PersistentVolumeClaim', 'PersistentVolume', 'VolumeAttachment', 'Volume']

/** A claim, its PersistentVolume and the volume on disk are one thing, and often have one name. */
function oneForEachVolume(found: readonly Candidate[]): Candidate[] {
  return found.filter(({ target }) => {
    if (target.kind === 'Pod' || target.volume === undefined) return true
    const alike = found.filter((each) => each.target.kind !== 'Pod' && each.target.volume === target.volume)
    return alike.every((each) => RANKS.indexOf(each.target.kind) >= RANKS.indexOf(target.kind))
  })
}

function ambiguous({ inputs }: PlanContext, what: string, found: readonly Candidate[]): VolctlError {
  const asks = found.map(({ ask, about }) => `${ask} (${about})`)
  return new VolctlError(
    'AmbiguousName',
    `"${what}" is ambiguous on node ${inputs.snapshot.nodeName}: ${firstFew(asks, MOST_CANDIDATES).join(', ')}`,
    { hint: `Name one of them: volctl explain ${found[0]?.ask}` },
  )
}

function notFound({ inputs, classes }: PlanContext, candidates: readonly Candidate[], what: string): VolctlError {
  const { api, nodeName } = inputs.snapshot
  const { name } = splitPrefix(what)
  const searched = [
    `${classes.all.length} pods`,
    `${api?.persistentVolumeClaims.length ?? 0} claims`,
    `${api?.persistentVolumes.length ?? 0} PersistentVolumes`,
    `${api?.volumeAttachments.length ?? 0} VolumeAttachments`,
    `${candidates.filter(({ target }) => target.kind === 'Volume').length} volumes`,
  ]
  const unread = api === undefined ? '' : unreadText(readFailures(api.errors))
  const near = nearest(candidates, name)
  return new VolctlError(
    'NotFound',
    `"${what}" was not found on node ${nodeName}; searched: ${searched.join(', ')}${unread}`,
    {
      hint:
        near.length > 0
          ? `Did you mean ${near.join(', ')}?`
          : 'Give NAMESPACE/POD, a UID, pvc/NAMESPACE/NAME, pv/NAME, the name of a VolumeAttachment or volume, an absolute path, or a device.',
    },
  )
}

/** Each thing once, by the nearest of its names. */
function nearest(candidates: readonly Candidate[], name: string): string[] {
  const byName = new Map(candidates.toReversed().flatMap(({ names, target }) => names.map((each) => [each, target])))
  const near = nearNames(name, byName.keys(), MOST_NEAR * 10)
  const seen = new Set<unknown>()
  const found = near.filter((each) => {
    const target = byName.get(each)
    const thing = target === undefined || target.kind === 'Pod' ? target : (target.volume ?? target)
    return !seen.has(thing) && seen.add(thing)
  })
  return found.slice(0, MOST_NEAR)
}

/** What the credential may not read may well exist (S3). */
function unreadText(failures: readonly ReadFailure[]): string {
  const failed = failures.filter(({ notFound }) => !notFound)
  const resources = new Set(failed.map(({ resource }) => resource ?? 'objects'))
  return resources.size === 0 ? '' : `; not all ${[...resources].join(', ')} could be read`
}
