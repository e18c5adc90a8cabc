/** The kubelet of this node: what it is doing, and who attaches for it. */
import type { NodeSnapshot } from '../model/snapshot.ts'
import type { PlanContext } from '../reconcile/context/context.ts'
import { howToStop } from '../reconcile/context/kubelet-unit.ts'
import { isTested, kubeletVersion, TESTED_MINORS } from '../reconcile/obstacles/kubelet-version.ts'
import { MIGRATED_SOURCES, notMigrated } from '../reconcile/obstacles/migration.ts'
import { whyNotManaged } from '../reconcile/pods/kubelet-mode.ts'
import { type Check, check, type Finding, NO_NODE, notApplicable, ok, unknown, warning } from './check.ts'
import type { DoctorFacts } from './facts.ts'
import { sourcesIn } from './programs.ts'

const NO_NODE_OBJECT = 'the API server did not give the Node object'

export function kubeletChecks(facts: DoctorFacts, context: PlanContext | undefined): Check[] {
  const snapshot = facts.state?.snapshot
  if (snapshot === undefined)
    return (['KubeletState', 'KubeletVersion', 'Attaching', 'Migration'] as const).map((id) => check(id, NO_NODE))
  return [
    check('KubeletState', kubeletState(facts)),
    check('KubeletVersion', version(snapshot)),
    check('Attaching', attaching(snapshot)),
    check('Migration', migration(snapshot, context)),
  ]
}

/** That a kubelet runs is as it should be: then volctl leaves to the kubelet what is the kubelet's. */
function kubeletState({ failures, state }: DoctorFacts): Finding {
  const kubelet = state?.snapshot.kubelet
  if (kubelet === undefined) {
    const { message, hint } = failures.kubelet ?? { message: 'the kubelet was not looked for' }
    return unknown(message, hint)
  }
  const unit = kubelet.unit === undefined ? '' : `${kubelet.unit}, `
  const note = kubelet.note === undefined ? '' : `: ${kubelet.note}`
  if (kubelet.running)
    return ok(`${unit}running${note}; volctl then only cleans up leftovers of orphaned pods that the kubelet ignores`)
  if (kubelet.mayReturn)
    return warning(
      `${unit}down, but may come back${note}; volctl then does no more than beside a kubelet`,
      howToStop(kubelet),
    )
  const isShown = kubelet.stoppedAt !== undefined && kubelet.stopShownBy !== 'nothing'
  const since = isShown ? ` since ${kubelet.stoppedAt?.replace(/\.\d+/, '')}` : ''
  return ok(`${unit}stopped${since}${note}`)
}

function version(snapshot: NodeSnapshot): Finding {
  const node = snapshot.api?.node
  const found = kubeletVersion(node)
  const { first, last } = TESTED_MINORS
  if (found === undefined)
    return unknown(node == null ? NO_NODE_OBJECT : 'the Node object does not name the version of the kubelet')
  if (isTested(found)) return ok(`${found.text}; volctl was tested with 1.${first} to 1.${last}`)
  return warning(
    `${found.text}, and volctl was tested with 1.${first} to 1.${last}`,
    'Compare the plan with findmnt, and apply one pod or volume at a time (--pod, --volume).',
  )
}

function attaching(snapshot: NodeSnapshot): Finding {
  if (snapshot.api?.node == null) return unknown(NO_NODE_OBJECT)
  const why = whyNotManaged(snapshot)
  if (why === undefined) return ok('the attach/detach controller (enableControllerAttachDetach)')
  return warning(
    `the kubelet itself, not the attach/detach controller: ${why}; volctl neither detaches nor waits for attachments`,
    "CSI volumes need the controller: set enableControllerAttachDetach: true in the kubelet's configuration.",
  )
}

function migration(snapshot: NodeSnapshot, context: PlanContext | undefined): Finding {
  if (snapshot.api === undefined || context === undefined)
    return unknown('the API server did not give the volumes of pods')
  const inTree = MIGRATED_SOURCES.filter((source) => sourcesIn(snapshot).has(source))
  if (inTree.length === 0) return notApplicable('no volume here is of an in-tree plugin that has moved to CSI')
  const kept = [...new Set(context.desired.volumes.flatMap((volume) => notMigrated(context, volume) ?? []))]
  if (kept.length === 0) return ok(`${inTree.join(', ')}: the kubelet leaves these to their CSI drivers`)
  return warning(
    `the kubelet itself mounts ${kept.join(', ')} volumes, and volctl leaves them alone`,
    'Let the kubelet mount them.',
  )
}
