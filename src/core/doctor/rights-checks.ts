/** What the credential may do, by kind of operation, and what is missing (N34). */
import { type Check, type CheckId, check, type Finding, failed, notApplicable, ok, unknown, warning } from './check.ts'
import type { DoctorFacts, Purpose, Right, RightAnswer } from './facts.ts'

const CHECKS_OF: readonly { readonly purpose: Purpose; readonly id: CheckId; readonly without: string }[] = [
  { purpose: 'plan', id: 'PlanRights', without: 'the plan says what is not known' },
  { purpose: 'DetachVolume', id: 'DetachRights', without: 'DetachVolume is blocked' },
  { purpose: 'MountVolume', id: 'MountRights', without: 'volumes with such content are not mounted' },
  { purpose: 'ExpandVolume', id: 'ExpandRights', without: 'the size is not written into the claim' },
]

export function rightsChecks(facts: DoctorFacts): Check[] {
  return CHECKS_OF.map(({ purpose, id, without }) => {
    if (facts.source === 'snapshot') return check(id, ofSnapshot(facts, purpose))
    const answers = (facts.api?.rights ?? []).filter(({ right }) => right.purpose === purpose)
    return check(id, judged(facts, purpose, answers, without))
  })
}

/** A snapshot has what the API server said about one right, and what it refused. */
function ofSnapshot({ state }: DoctorFacts, purpose: Purpose): Finding {
  const api = state?.snapshot.api
  if (api === undefined) return unknown('the snapshot has no section api')
  if (purpose === 'DetachVolume' && api.mayDeleteVolumeAttachments === true)
    return ok('could delete volumeattachments when the snapshot was taken')
  if (purpose === 'DetachVolume' && api.mayDeleteVolumeAttachments === false)
    return warning(
      'could not delete volumeattachments when the snapshot was taken: DetachVolume is blocked',
      bindRole(api.user, purpose),
      'apply',
    )
  if (purpose !== 'plan') return notApplicable('a snapshot does not have this right')
  const refused = [
    ...new Set(api.errors.filter(({ status }) => status === 401 || status === 403).map(({ resource }) => resource)),
  ]
  if (refused.length === 0) return ok('nothing was refused when the snapshot was taken')
  return warning(`could not read ${refused.join(', ')} when the snapshot was taken`, bindRole(api.user, purpose))
}

function judged(
  { api, failures }: DoctorFacts,
  purpose: Purpose,
  answers: readonly RightAnswer[],
  without: string,
): Finding {
  if (failures.credential !== undefined || api?.credential === undefined) return unknown('there is no credential')
  if (answers.length === 0) {
    return failures.server === undefined
      ? notApplicable('no pod of this node needs this')
      : unknown('the API server did not say what this credential may do')
  }
  const denied = answers.filter(({ allowed }) => allowed === false).map(({ right }) => right)
  const silent = answers.filter(({ allowed }) => allowed === undefined).map(({ right }) => right)
  if (denied.some(({ required }) => required))
    return failed(`may not ${rightsText(denied)}`, bindRole(api.user, purpose), 'plan')
  if (denied.length > 0) return warning(`may not ${rightsText(denied)}: ${without}`, bindRole(api.user, purpose))
  if (silent.length > 0) return unknown(`the API server did not say whether this credential may ${rightsText(silent)}`)
  return ok(`may ${rightsText(answers.map(({ right }) => right))}`)
}

/** `get, list pods; get nodes`: each resource once. */
function rightsText(rights: readonly Right[]): string {
  const byResource = Map.groupBy(rights, ({ resource, subresource }) =>
    subresource === undefined ? resource : `${resource}/${subresource}`,
  )
  return [...byResource]
    .map(([resource, each]) => `${[...new Set(each.map(({ verb }) => verb))].join(', ')} ${resource}`)
    .join('; ')
}

function bindRole(user: string | undefined, purpose: Purpose): string {
  const role = purpose === 'plan' ? 'deploy/clusterrole-plan.yaml' : 'deploy/clusterrole-apply.yaml'
  return `Bind the ClusterRole in ${role} to ${user ?? 'this user'}, or give another credential with --kubeconfig.`
}
