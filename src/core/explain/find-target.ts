/** What a name means: one thing; of several, or none, an error says what to ask for instead. */

import { type ReadFailure, readFailures } from '../desired/read-failures.ts'
import { VolctlError } from '../errors/errors.ts'
import { firstFew } from '../lang/first-few.ts'
import { namespacedName } from '../plan/pod-name.ts'
import type { PlanContext } from '../reconcile/context/context.ts'
import { type Candidate, type Target, volumeOf } from './candidates.ts'
import type { SubjectKind } from './explanation.ts'
import { splitPrefix } from './kinds.ts'
import { nearCandidates } from './near-candidates.ts'

const MOST_CANDIDATES = 10
const MOST_NEAR = 5

/** @throws VolctlError AmbiguousName, NotFound */
export function findTarget(context: PlanContext, candidates: readonly Candidate[], what: string): Target {
  const { kind, name } = splitPrefix(what)
  const ofKind = kind === undefined ? [] : candidates.filter(({ target }) => target.kind === kind)
  // A namespace may be called like a kind; a name comes before the beginning of another.
  const found = [
    named(ofKind, name),
    oneForEachVolume(named(candidates, what)),
    beginning(kind === undefined ? candidates : ofKind, name),
  ].find((each) => each.length > 0)
  const [first] = found ?? []
  if (found === undefined || first === undefined) throw notFound(context, candidates, what)
  if (found.length === 1) return first.target
  return samePod(context, found) ?? fail(new AmbiguousThing(context.inputs.snapshot.nodeName, what, found))
}

function named(candidates: readonly Candidate[], name: string): Candidate[] {
  return candidates.filter(({ names }) => names.includes(name))
}

/** Long enough not to be a name by chance; `csi-` begins the names of VolumeAttachments. */
const BEGINNING = /^(?:csi-)?[0-9a-f]{3}[0-9a-f-]*$/
const WHOLE = /^(?:csi-)?[0-9a-f]{8}[0-9a-f-]{24,}$/

/** The beginning of a UID, or of an attachment's name, as crictl and docker take those of their own. */
function beginning(candidates: readonly Candidate[], text: string): Candidate[] {
  if (!BEGINNING.test(text)) return []
  return candidates.filter(
    ({ names, target }) => target.kind !== 'Volume' && names.some((name) => name.startsWith(text) && WHOLE.test(name)),
  )
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

const RANKS: readonly SubjectKind[] = ['PersistentVolumeClaim', 'PersistentVolume', 'VolumeAttachment', 'Volume']

/** A claim, its PersistentVolume and the volume on disk are one thing, and often have one name. */
function oneForEachVolume(found: readonly Candidate[]): Candidate[] {
  return found.filter(({ target }) => {
    const volume = volumeOf(target)
    if (volume === undefined) return true
    const alike = found.filter((each) => volumeOf(each.target) === volume)
    return alike.every((each) => RANKS.indexOf(each.target.kind) >= RANKS.indexOf(target.kind))
  })
}

function fail(error: VolctlError): never {
  throw error
}

/** Several things have the name: what to ask for instead, each with a few words about it. */
export class AmbiguousThing extends VolctlError {
  readonly asks: readonly string[]

  constructor(node: string, what: string, found: readonly Candidate[]) {
    const asks = found.map(({ ask, about }) => `${ask} (${about})`)
    const message = `"${what}" is ambiguous on node ${node}: ${firstFew(asks, MOST_CANDIDATES).join(', ')}`
    super('AmbiguousName', message, { hint: `Name one of them: volctl explain ${found[0]?.ask}` })
    this.asks = asks
  }
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
  const near = nearCandidates(candidates, what, MOST_NEAR)
  return new VolctlError(
    'NotFound',
    `"${what}" was not found on node ${nodeName}; searched: ${searched.join(', ')}${unread}`,
    {
      hint:
        near.length > 0
          ? `Did you mean ${near.join(', ')}?`
          : 'Give NAMESPACE/POD, a UID, pvc/NAMESPACE/NAME, pv/NAME, driver/NAME, the name of a VolumeAttachment or volume, an absolute path, or a device.',
    },
  )
}

/** What the credential may not read may well exist (S3). */
function unreadText(failures: readonly ReadFailure[]): string {
  const failed = failures.filter(({ notFound }) => !notFound)
  const resources = new Set(failed.map(({ resource }) => resource ?? 'objects'))
  return resources.size === 0 ? '' : `; not all ${[...resources].join(', ')} could be read`
}
