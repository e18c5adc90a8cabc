/** Which node this is, whether the Node object describes this machine (S1), and whether its state can be read. */
import { count } from '../lang/count.ts'
import { defined } from '../lang/defined.ts'
import type { Plan } from '../plan/plan.ts'
import { type Check, check, type Finding, failed, NO_NODE, ok, unknown } from './check.ts'
import type { DoctorFacts } from './facts.ts'

/** @param plan of what could be read; absent: nothing was */
export function nodeChecks(facts: DoctorFacts, plan: Plan | undefined): Check[] {
  return [
    check('NodeFound', nodeFound(facts)),
    check('NodeObject', nodeObject(facts)),
    check('Machine', machine(facts, plan)),
    ...refused(plan).map((finding) => check('PlanRefused', finding)),
    check('MountTable', mountTable(facts)),
    check('RootDirectory', rootDirectory(facts)),
  ]
}

const READ_AS_ROOT = 'Run volctl as root of the host.'

function nodeFound({ failures, state }: DoctorFacts): Finding {
  const { node } = failures
  if (node !== undefined) return failed(node.message, node.hint ?? 'Name the node with --root-dir and --node.', 'plan')
  if (state === undefined) return NO_NODE
  const { nodeName, rootDir } = state.snapshot
  return ok(`${nodeName}, ${rootDir}`)
}

function nodeObject({ failures, state }: DoctorFacts): Finding {
  const { nodeObject: why } = failures
  if (why !== undefined) {
    const next = why.hint ?? 'Give this identity the right to get nodes, or another credential with --kubeconfig.'
    return failed(why.message, next, 'plan')
  }
  if (state === undefined) return NO_NODE
  const { api } = state.snapshot
  if (api?.node === undefined) return unknown('the API server did not give the Node object')
  if (api.node === null) {
    const noted = api.errors.find(({ resource }) => resource === 'nodes')
    return failed(
      noted?.message ?? `the API server ${api.server} has no node ${state.snapshot.nodeName}`,
      "Check that this is the right cluster; give the node's name with --node, or another --kubeconfig.",
      'plan',
    )
  }
  return ok(`${api.node.metadata.name} of ${api.server}`)
}

function machine({ state }: DoctorFacts, plan: Plan | undefined): Finding {
  if (state === undefined || plan === undefined) return NO_NODE
  if (state.snapshot.api === undefined) return unknown('the API server did not give the Node object')
  const { refused, inputs } = plan
  if (refused?.rule === 'S1') {
    const next = refused.hint ?? 'Check --context and --node: this may be the API of another cluster.'
    return failed(refused.message, next, 'plan')
  }
  const accepted = (inputs.machine.contradictions ?? []).map(({ field }) => field)
  const but = accepted.length === 0 ? '' : `, though not in ${accepted.join(', ')}`
  return ok(`the Node object describes this machine${but}`)
}

/** The other safety rules that refuse a whole plan: pods that seem lost (S29). */
function refused(plan: Plan | undefined): Finding[] {
  if (plan?.refused === undefined || plan.refused.rule === 'S1') return []
  const { message, hint, rule } = plan.refused
  return [{ ...failed(message, hint ?? 'See the plan: volctl plan', 'plan'), ...defined({ about: rule }) }]
}

function mountTable({ failures, state }: DoctorFacts): Finding {
  const { mountinfo } = failures
  if (mountinfo !== undefined) return failed(mountinfo.message, mountinfo.hint ?? READ_AS_ROOT, 'plan')
  if (state === undefined) return NO_NODE
  const { mounts } = state
  if (mounts.size === 0) return failed('the mount table is empty', READ_AS_ROOT, 'plan')
  return ok(
    `${count(mounts.size, 'mount')}, ${mounts.under(state.snapshot.rootDir).length} of them below the root directory`,
  )
}

function rootDirectory({ failures, state }: DoctorFacts): Finding {
  const { tree } = failures
  if (tree !== undefined) return failed(tree.message, tree.hint ?? READ_AS_ROOT, 'plan')
  const entries = state?.snapshot.tree
  if (state === undefined) return NO_NODE
  if (entries === undefined) return unknown('the directories were not read')
  const unread = entries.filter(({ error }) => error !== undefined)
  const [first] = unread
  if (first !== undefined) {
    const more = unread.length === 1 ? '' : `, and ${unread.length - 1} more`
    return {
      ...unknown(`cannot be read: ${first.path}: ${first.error}${more}`),
      next: 'What is in there counts as in use. Run volctl as root, or look at the path.',
    }
  }
  const pods = entries.filter(({ path, type }) => type === 'dir' && /^pods\/[^/]+$/.test(path)).length
  return ok(`${count(pods, 'pod directory', 'pod directories')} can be read`)
}
