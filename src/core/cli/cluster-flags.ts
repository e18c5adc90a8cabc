/** Flags of the whole cluster's pass (`--cluster`), and which flags go with which of the two passes. */
import { Flags } from '@oclif/core'
import { VolctlError } from '../base/errors.ts'
import { omitUndefined } from '../base/omit-undefined.ts'
import type { ClusterOptions } from '../plan/cluster-plan.ts'
import type { PlanOptions } from '../plan/plan.ts'
import { planFlags } from './plan-flags.ts'

const group = { helpGroup: 'CLUSTER' }

/** Of the commands that have both passes, in the place of the one name of a node's pass. */
export const nodesFlag = {
  node: Flags.string({
    multiple: true,
    multipleNonGreedy: true,
    helpValue: 'NAME',
    summary:
      "The node's name. Default: found from the kubelet. With --cluster: only these nodes, separated by commas; repeatable.",
  }),
}

/** Flags of the commands that have a pass over the whole cluster. */
export const clusterFlags = {
  cluster: Flags.boolean({
    ...group,
    summary:
      "The attach/detach controller's pass over all nodes, from the API server alone: needs no node and no root.",
  }),
  'node-gone': Flags.string({
    ...group,
    multiple: true,
    multipleNonGreedy: true,
    helpValue: 'NAME',
    summary:
      'With --cluster: you made sure that the machine of this node, deleted or not ready, does not run. Repeatable.',
  }),
  'strip-finalizers': Flags.boolean({
    ...group,
    summary:
      'With --cluster: also take the finalizers off VolumeAttachments whose driver is shown to be gone. Nothing is detached in the storage system.',
  }),
}

/** Flags that only an apply of the cluster has. */
export const clusterApplyFlags = {
  confirm: Flags.string({
    ...group,
    helpValue: 'DIGEST',
    summary: 'With --strip-finalizers: the digest of the plan that was read. On a terminal apply asks for the digest.',
  }),
}

/** What only a node's pass has. */
const NODE_ONLY = [
  'orphans',
  'remount',
  'expand',
  'force-unmount',
  'lazy',
  'driver-gone',
  'handle',
  'device',
  'accept-identity',
  'root-dir',
  'runtime-endpoint',
  'host-root',
  'parallel',
  'watch',
  'no-wait',
  'stop-kubelet',
  'max-downtime',
] as const

const CLUSTER_ONLY = ['node-gone', 'strip-finalizers', 'confirm'] as const

/** Flags of a cluster's plan that a saved plan has already. */
const CHANGES_CLUSTER_PLAN: ReadonlySet<string> = new Set(['node-gone', 'strip-finalizers'])

type Given = Readonly<Record<string, unknown>>

/** @throws VolctlError Usage for a flag of the other pass */
export function requireFlagsOfScope(flags: Given): void {
  const isGiven = (name: string): boolean => flags[name] !== undefined && flags[name] !== false
  if (flags.cluster !== true) {
    const [flag] = CLUSTER_ONLY.filter(isGiven)
    if (flag !== undefined) throw wrongScope(flag, 'is for the pass over the whole cluster', 'Add --cluster.')
    if ([flags.node].flat().length > 1)
      throw new VolctlError('Usage', 'a pass over one node takes one --node', { hint: 'Give one, or add --cluster.' })
    return
  }
  const [flag] = NODE_ONLY.filter(isGiven)
  if (flag === undefined) return
  throw wrongScope(flag, 'is for the pass over one node', `Leave out --${flag}; or leave out --cluster, on the node.`)
}

function wrongScope(flag: string, why: string, hint: string): VolctlError {
  return new VolctlError('Usage', `--${flag} ${why}`, { hint })
}

/** The options of a pass over the cluster. @param options those that both passes have */
export function clusterOptions(flags: Given, options: PlanOptions): ClusterOptions {
  const { settleMs, acceptOutage, acceptInsecureApi, only, skip, pods, namespaces, volumes } = options
  const nodes = (flags.node as readonly string[] | undefined)
    ?.flatMap((each) => each.split(','))
    .filter((name) => name !== '')
  return {
    settleMs,
    ...omitUndefined({
      acceptOutage,
      acceptInsecureApi,
      only,
      skip,
      pods,
      namespaces,
      volumes,
      nodes,
      nodeGone: flags['node-gone'] as readonly string[] | undefined,
      stripFinalizers: flags['strip-finalizers'] === true ? true : undefined,
    }),
    volctlVersion: options.volctlVersion,
  }
}

/**
 * Beside a file, what was reviewed is what is planned: no flag may change it.
 *
 * @param given names of the flags on the command line
 * @throws VolctlError Usage, naming them
 */
export function requireNoPlanFlags(given: readonly string[]): void {
  const changes = (name: string): boolean => Object.hasOwn(planFlags, name) || CHANGES_CLUSTER_PLAN.has(name)
  const changing = given.filter(changes).map((name) => `--${name}`)
  if (changing.length === 0) return
  const flags = changing.join(', ')
  throw new VolctlError('Usage', `${flags} cannot be combined with a plan file`, {
    hint: `A plan file keeps the flags that it was made with: give ${flags} to volctl plan --out.`,
  })
}

/** Names of the flags that stand on the command line. */
export function givenFlags(tokens: readonly { readonly type: string; readonly flag?: string }[]): string[] {
  return [...new Set(tokens.flatMap(({ type, flag }) => (type === 'flag' && flag !== undefined ? flag : [])))]
}
