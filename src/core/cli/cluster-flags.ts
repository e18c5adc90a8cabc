/** The flags of the cluster's scope, and which others go with them. */
import { Flags } from '@oclif/core'
import { VolctlError } from '../errors/errors.ts'
import { defined } from '../lang/defined.ts'
import type { ClusterOptions } from '../plan/cluster-plan.ts'
import { planOptions } from './plan-flags.ts'

const GROUP = { helpGroup: 'CLUSTER' } as const

export const clusterFlags = {
  cluster: Flags.boolean({
    ...GROUP,
    summary:
      'The whole cluster instead of this node: the pass of the attach/detach controller, once, by the API alone. Needs no root.',
  }),
  'node-gone': Flags.string({
    ...GROUP,
    multiple: true,
    multipleNonGreedy: true,
    helpValue: 'NAME',
    summary:
      'With --cluster: the machine of this node is off for certain, so that its volumes may be detached. Repeatable.',
  }),
  'strip-finalizers': Flags.boolean({
    ...GROUP,
    summary: 'With --cluster: take the finalizers off attachments whose driver is shown to be gone.',
  }),
}

/** Only for `apply`. */
export const clusterApplyFlags = {
  confirm: Flags.string({
    ...GROUP,
    helpValue: 'DIGEST',
    summary: 'With --strip-finalizers: the digest of the plan that was read. On a terminal apply asks for it.',
  }),
  'lease-namespace': Flags.string({
    ...GROUP,
    helpValue: 'NS',
    summary: 'With --cluster: the namespace of the lease that keeps two applies apart (default kube-system).',
  }),
}

/** What else has a meaning for a cluster; all other flags are about a node. */
const SHARED: ReadonlySet<string> = new Set([
  ...['output', 'yes', 'timeout', 'journal', 'no-journal', 'verbose', 'color', 'no-color', 'no-pager'],
  ...['kubeconfig', 'context', 'node', 'only', 'skip', 'pod', 'namespace', 'volume', 'max', 'settle'],
  ...['accept-outage', 'accept-insecure-api', 'detailed-exitcode'],
])

/**
 * @param given names of the flags on the command line
 * @throws VolctlError Usage for a flag that is only for a node with --cluster, or only for a cluster without
 */
export function requireFlagsOfScope(isCluster: boolean, given: readonly string[]): void {
  const ofCluster = new Set(Object.keys({ ...clusterFlags, ...clusterApplyFlags }))
  const wrong = given.filter((name) => (isCluster ? !ofCluster.has(name) && !SHARED.has(name) : ofCluster.has(name)))
  if (wrong.length === 0) return
  const flags = wrong.map((name) => `--${name}`).join(', ')
  throw isCluster
    ? new VolctlError('Usage', `${flags} cannot be combined with --cluster: the flag is about one node`, {
        hint: `Leave out ${flags}.`,
      })
    : new VolctlError('Usage', `${flags} needs --cluster`, { hint: 'Add --cluster, or leave the flag out.' })
}

interface ClusterFlagValues extends Omit<Parameters<typeof planOptions>[0], keyof typeof clusterFlags> {
  readonly node?: string | undefined
  readonly 'node-gone'?: readonly string[] | undefined
  readonly 'strip-finalizers'?: boolean | undefined
}

export function clusterOptions(flags: ClusterFlagValues, volctlVersion: string): ClusterOptions {
  const { settleMs, acceptOutage, acceptInsecureApi, only, skip, pods, namespaces, volumes, max } = planOptions(
    flags,
    volctlVersion,
  )
  return {
    settleMs,
    volctlVersion,
    ...(flags['strip-finalizers'] === true && { stripFinalizers: true }),
    ...defined({ acceptOutage, acceptInsecureApi, only, skip, pods, namespaces, volumes, max }),
    ...defined({ nodeGone: flags['node-gone'], nodes: flags.node === undefined ? undefined : [flags.node] }),
  }
}
