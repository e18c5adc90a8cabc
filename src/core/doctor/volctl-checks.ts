/** What volctl is allowed here, and with what it works: privileges, namespaces, programs, files (S6, S7, S33). */
import { defined } from '../lang/defined.ts'
import type { NodeSnapshot } from '../model/snapshot.ts'
import { missingText } from '../processes/capabilities.ts'
import { type Check, check, type Finding, failed, NO_NODE, OF_NODE, ok, warning } from './check.ts'
import type { DoctorFacts, HostFacts } from './facts.ts'
import { PROGRAMS, sourcesIn } from './programs.ts'

export function volctlChecks(facts: DoctorFacts): Check[] {
  const { host, state, source } = facts
  const snapshot = state?.snapshot
  return [
    check('Root', host === undefined ? OF_NODE : root(host)),
    ...(host === undefined ? [OF_NODE] : namespaces(facts, host)).map((finding) => check('Namespaces', finding)),
    ...(host === undefined ? [OF_NODE] : programs(host, snapshot)).map((finding) => check('Programs', finding)),
    ...ignored(snapshot, source).map((finding) => check('Ignored', finding)),
  ]
}

function root({ uid, missingCapabilities: missing }: HostFacts): Finding {
  if (uid !== 0)
    return failed(`volctl runs as user ${uid}: most of the node cannot be read`, 'As root: sudo volctl doctor', 'apply')
  if (missing.length === 0) return ok('root, with every capability that apply needs')
  return failed(`root without ${missingText(missing)}`, 'Run volctl with these capabilities.', 'apply')
}

function namespaces({ failures }: DoctorFacts, { standing }: HostFacts): Finding[] {
  if (failures.node !== undefined) return [NO_NODE]
  if (standing.length === 0) return [ok("the node's mount, PID and user namespace, and its root directory")]
  return standing.map(({ message, hint }) => failed(message, hint, 'apply'))
}

function programs({ programs: found, hasSystemd }: HostFacts, snapshot: NodeSnapshot | undefined): Finding[] {
  const here = { hasSystemd, sources: sourcesIn(snapshot ?? {}) }
  const needed = PROGRAMS.filter((program) => program.isNeeded(here))
  const lacking = needed.flatMap(({ name, use }) => {
    const why = found[name]
    return why === undefined
      ? []
      : [{ ...failed(`${why.message}; needed to ${use}`, why.hint ?? 'Install it.', 'apply'), about: name }]
  })
  const present = needed.filter(({ name }) => found[name] === undefined).map(({ name }) => name)
  return present.length === 0 ? lacking : [...lacking, ok(present.join(', '))]
}

/** Files and processes that somebody else than root could have made, and that volctl does without. */
function ignored(snapshot: NodeSnapshot | undefined, source: DoctorFacts['source']): Finding[] {
  const doubts = snapshot?.notBelieved ?? []
  if (doubts.length === 0) {
    return [ok(source === 'snapshot' ? 'nothing was ignored when the snapshot was taken' : 'nothing is ignored')]
  }
  return doubts.map(({ what, why, hint, unknown: obeyed }) => ({
    ...warning(why, hint, obeyed ? 'apply' : undefined),
    ...defined({ about: what }),
  }))
}
