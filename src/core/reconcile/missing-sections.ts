/** Sources that failed: each is an error of the plan, which is then incomplete. */
import type { Findings } from '../plan/draft.ts'
import type { PlanContext } from './context/context.ts'
import { podListIsComplete } from './pods/pod-classes.ts'
import { missingPodsDirectory } from './pods/pods-directory.ts'

const SECTIONS = [
  'api',
  'mountinfo',
  'tree',
  'runtime',
  'processes',
  'deadMounts',
  'staticPods',
  'kubelet',
  'blockDevices',
  'csiSockets',
] as const

/** A missing section is a source that failed: it is reported, and the plan is incomplete (contract, Snapshot). */
export function reportMissingSections({ inputs }: PlanContext, findings: Findings): void {
  const { snapshot } = inputs
  for (const section of SECTIONS) {
    const missing =
      section === 'mountinfo' ? inputs.mounts.size === 0 && !snapshot.mountinfo : snapshot[section] === undefined
    if (!missing) continue
    findings.complete = false
    findings.problem(
      'error',
      'SectionMissing',
      `section ${section} is missing; what it would show is unknown`,
      {},
      'Take a new snapshot.',
    )
  }
  const missing = missingPodsDirectory(inputs)
  if (missing !== undefined) {
    findings.complete = false
    findings.problem('error', 'NoPodsDirectory', missing.message, { path: missing.path }, missing.hint)
  }
  if (snapshot.api !== undefined && !podListIsComplete(inputs)) {
    findings.complete = false
    findings.problem('error', 'PodListIncomplete', 'the pod list is incomplete, so no pod counts as deleted')
  }
}
