/** What a command makes of its flags: the node that is meant, and the options of a pass. */
import type { Interfaces } from '@oclif/core'
import { didYouMean } from '../base/text.ts'
import { IN_CLUSTER } from '../kube/api/names.ts'
import { usageError, type VolctlError } from '../messages/findings.ts'
import { DEFAULT_JOURNAL_DIR } from '../node/read-lazily-detached.ts'
import type { ClusterOptions } from '../plan/cluster-plan.ts'
import {
  DEFAULT_SETTLE_MS,
  OPERATION_GROUPS,
  OPERATION_KINDS,
  type OperationKind,
  type PlanOptions,
} from '../plan/plan.ts'
import { callerPath } from '../trust/run.ts'
import { clusterFlags, type placeFlags, planFlags } from './flags.ts'

/** The flags that say which node is meant, as the sources take them. */
export type NodeChoice = ReturnType<typeof nodeChoice>

/** What is looked at: this node, or the one in a snapshot. */
export type PlaceFlagValues = Partial<Omit<Interfaces.InferredFlags<typeof placeFlags>, 'node'>> & {
  /** A command that also has a pass over the cluster takes several; those of a node take one. */
  readonly node?: string | readonly string[]
  readonly snapshot?: string
}

export function nodeChoice(flags: PlaceFlagValues) {
  return {
    kubeconfig: flags.kubeconfig === IN_CLUSTER ? IN_CLUSTER : flags.kubeconfig && callerPath(flags.kubeconfig),
    context: flags.context,
    nodeName: [flags.node].flat()[0],
    rootDir: flags['root-dir'],
    runtimeEndpoint: flags['runtime-endpoint'],
    hostRoot: flags['host-root'],
  }
}

/** Absolute, and of the file system that volctl was typed in: apply may have to go into another mount namespace first. */
export function journalDirectory(given: string | undefined): string | undefined {
  return given === undefined ? undefined : callerPath(formed('journal', given).input)
}

/** As they were parsed; a command that has only some of them gives these. */
type PlanFlagValues = Partial<Interfaces.InferredFlags<typeof planFlags>>

export function planOptions(flags: PlanFlagValues, volctlVersion: string): PlanOptions {
  const { settle, handle = [], device, only, skip, namespace, volume } = flags
  const outage = flags['accept-outage']
  return {
    orphans: flags.orphans === true,
    remount: flags.remount === true,
    expand: flags.expand === true,
    settleMs: settle === undefined ? DEFAULT_SETTLE_MS : parseDuration(settle, '--settle'),
    driverGone: flags['driver-gone'] ?? [],
    handles: parsePairs('handle', handle),
    forceUnmount: texts('force-unmount', flags['force-unmount']),
    lazy: texts('lazy', flags.lazy),
    devices: device && parsePairs('device', device),
    acceptOutage: outage === undefined ? undefined : parseCount(outage, '--accept-outage', 0),
    acceptIdentity: flags['accept-identity'],
    acceptInsecureApi: flags['accept-insecure-api'] === true ? true : undefined,
    only: only === undefined ? undefined : parseOperationKinds(only, '--only'),
    skip: skip === undefined ? undefined : parseOperationKinds(skip, '--skip'),
    pods: flags.pod && texts('pod', flags.pod),
    namespaces: namespace,
    volumes: volume,
    volctlVersion,
  }
}

/** A whole number of at least `least`. */
export function parseCount(text: string, flag: string, least: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (Number.isSafeInteger(value) && value >= least) return value
  const form = `a whole number of ${least} or more`
  throw usageError('Usage.form', `Give a number such as ${Math.max(least, 8)}.`, { flag, text, form })
}

const VOLUME_COLUMN = "VOLUME is the name in the plan's VOLUME column"

/** Of flags whose values have a form: the form, its name, and the hint. */
const FORMS = {
  journal: [/^\//, 'an absolute path', `Give an absolute path, such as ${DEFAULT_JOURNAL_DIR}.`],
  'force-unmount': [/^\//, 'an absolute path', 'Copy the path from the plan.'],
  lazy: [/^\//, 'an absolute path', 'Copy the path from the plan.'],
  handle: [/^([^=]+)=(.+)$/s, 'VOLUME=HANDLE', `${VOLUME_COLUMN}, HANDLE the volume's name at its driver.`],
  device: [
    /^([^=]+)=(none|\/dev\/.+)$/,
    'VOLUME=/dev/NAME or VOLUME=none',
    `${VOLUME_COLUMN}; lsblk lists this node's devices.`,
  ],
  /** `web-0`, `default/web-0`, or a UID or its beginning: of an API object or the hash of a static pod. */
  pod: [/^[^/\s]+(\/[^/\s]+)?$/, '[NAMESPACE/]NAME or a UID', 'volctl status shows the pods of this node.'],
} as const

function formed(name: keyof typeof FORMS, text: string): RegExpExecArray {
  const [pattern, form, hint] = FORMS[name]
  const found = pattern.exec(text)
  if (found !== null) return found
  throw usageError('Usage.form', hint, { flag: `--${name}`, text, form })
}

function texts(flag: keyof typeof FORMS, values: readonly string[] = []): readonly string[] {
  return values.map((text) => formed(flag, text).input)
}

function parsePairs(flag: 'handle' | 'device', values: readonly string[]): Record<string, string> {
  const pairs = values.map((text) => formed(flag, text))
  return Object.fromEntries(pairs.map(([, volume, value]) => [volume, value]))
}

/** The kinds that `--only` or `--skip` names: kinds and groups, comma separated, in the plan's order, each once. */
export function parseOperationKinds(text: string, flag: string): OperationKind[] {
  const chosen = new Set(
    namesIn(text).flatMap((word) => {
      const kind = OPERATION_KINDS.find((known) => known.toLowerCase() === word.toLowerCase())
      const found = OPERATION_GROUPS.get(word) ?? kind
      if (found === undefined) throw badKind(flag, word)
      return found
    }),
  )
  if (chosen.size === 0) throw badKind(flag, text)
  return OPERATION_KINDS.filter((kind) => chosen.has(kind))
}

function namesIn(list: string): string[] {
  return list
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')
}

function badKind(flag: string, text: string): VolctlError {
  const groups = [...OPERATION_GROUPS.keys()]
  const meant = didYouMean(text, [...groups, ...OPERATION_KINDS])
  const hint = `${meant}Groups are ${groups.join(', ')}; kinds are ${OPERATION_KINDS.join(', ')}.`
  return usageError('Usage.form', hint, { flag, text, form: 'a kind of operation or a group of them' })
}

type Given = Readonly<Record<string, unknown>>

/** @throws VolctlError Usage */
export function requireOneNode({ cluster, node }: Given): void {
  if (cluster === true || [node].flat().length < 2) return
  throw usageError('Usage.oneNode', 'Give one, or add --cluster.')
}

/** The options of a pass over the cluster. @param options those that both passes have */
export function clusterOptions(flags: Given, options: PlanOptions): ClusterOptions {
  const { settleMs, acceptOutage, acceptInsecureApi, only, skip, pods, namespaces, volumes, volctlVersion } = options
  const both = { acceptOutage, acceptInsecureApi, only, skip, pods, namespaces, volumes }
  return {
    settleMs,
    ...both,
    nodes: (flags.node as readonly string[] | undefined)?.flatMap(namesIn),
    nodeGone: flags['node-gone'] as readonly string[] | undefined,
    volctlVersion,
  }
}

/**
 * Beside a file, what was reviewed is what is planned: no flag may change it.
 *
 * @param tokens of the command line
 * @throws VolctlError Usage, naming them
 */
export function requireNoPlanFlags(tokens: readonly { readonly type: string; readonly flag?: string }[]): void {
  const { cluster: _, ...ofCluster } = clusterFlags
  const changes = { ...planFlags, ...ofCluster }
  const given = tokens.flatMap(({ type, flag = '' }) =>
    type === 'flag' && Object.hasOwn(changes, flag) ? `--${flag}` : [],
  )
  if (given.length === 0) return
  const flags = [...new Set(given)].join(', ')
  const hint = `A plan file keeps the flags that it was made with: give ${flags} to volctl plan --out.`
  throw usageError('Usage.withPlanFile', hint, { flags })
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/**
 * A duration as Go and kubectl write it (`90s`, `2m`, `1h30m`, `500ms`), in milliseconds.
 * A bare `0` is allowed; any other number needs a unit, as nobody knows what `10` would mean.
 */
export function parseDuration(text: string, flag: string): number {
  if (text === '0') return 0
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)]
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== text) {
    throw usageError('Usage.form', 'Give a duration such as 90s, 2m or 1h30m.', { flag, text, form: 'a duration' })
  }
  return Math.round(parts.reduce((sum, [, number, unit]) => sum + Number(number) * (UNIT_MS[unit ?? ''] ?? 0), 0))
}
