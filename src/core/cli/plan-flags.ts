import { Flags, type Interfaces } from '@oclif/core'
import { parseDuration } from '../base/duration.ts'
import { VolctlError } from '../base/errors.ts'
import { didYouMean } from '../base/near-names.ts'
import { omitUndefined } from '../base/omit-undefined.ts'
import {
  DEFAULT_SETTLE_MS,
  OPERATION_GROUPS,
  OPERATION_KINDS,
  type OperationKind,
  type PlanOptions,
} from '../plan/plan.ts'

const selection = { helpGroup: 'SELECTION' }
const override = { helpGroup: 'SAFETY OVERRIDES', multiple: true, multipleNonGreedy: true } as const

/** Flags of both `plan` and `apply`: which operations are wanted, and which single safety check is overridden. */
export const planFlags = {
  orphans: Flags.boolean({
    ...selection,
    summary: 'Also delete emptyDir data and directories of orphaned pods.',
  }),
  remount: Flags.boolean({
    ...selection,
    summary:
      'Also update config maps, secrets and tokens in mounted volumes (RemountVolume). Without this flag: blocked as NotAsked.',
  }),
  expand: Flags.boolean({
    ...selection,
    summary:
      'Also grow file systems to the size that their claims request (ExpandVolume). Without this flag: blocked as NotAsked.',
  }),
  only: Flags.string({
    ...selection,
    helpValue: 'LIST',
    summary: 'Only these kinds or groups of operations, separated by commas.',
  }),
  skip: Flags.string({
    ...selection,
    helpValue: 'LIST',
    summary: 'Leave out these kinds or groups of operations, and what depends on them.',
  }),
  pod: Flags.string({
    ...selection,
    multiple: true,
    multipleNonGreedy: true,
    helpValue: '[NS/]NAME|UID',
    summary: 'Only this pod (name, UID or its beginning), and the devices that it is the last to use. Repeatable.',
  }),
  namespace: Flags.string({
    ...selection,
    char: 'n',
    multiple: true,
    multipleNonGreedy: true,
    helpValue: 'NS',
    summary: 'Only pods of this namespace. Repeatable.',
  }),
  volume: Flags.string({
    ...selection,
    multiple: true,
    multipleNonGreedy: true,
    helpValue: 'NAME',
    summary: 'Only this volume. Repeatable.',
  }),
  'ignore-not-found': Flags.boolean({
    ...selection,
    summary: 'Do not fail if nothing on this node, or in this cluster, has a name that was given.',
  }),
  settle: Flags.string({
    ...selection,
    helpValue: 'DUR',
    summary:
      'How long the kubelet must have been stopped; while it runs, how long a leftover must be unchanged (default 2m).',
  }),
  'force-unmount': Flags.string({
    ...override,
    helpValue: 'PATH',
    summary:
      'Unmount PATH by force (umount -f): breaks a connection to the server that no other mount shares. Repeatable.',
  }),
  lazy: Flags.string({
    ...override,
    helpValue: 'PATH',
    summary: 'Detach PATH lazily (umount -l): only a mount that is proven dead and not held open. Repeatable.',
  }),
  'driver-gone': Flags.string({
    ...override,
    helpValue: 'NAME',
    summary:
      'This CSI or flexVolume driver will not come back: unmount without calling it. The plan says what then stays undone. Repeatable.',
  }),
  handle: Flags.string({
    ...override,
    helpValue: 'VOLUME=HANDLE',
    summary: 'The CSI volume handle of a volume whose vol_data.json is lost. Repeatable.',
  }),
  device: Flags.string({
    ...override,
    helpValue: 'VOLUME=DEVICE',
    summary:
      'The device of a volume to be unstaged, unmapped or detached whose device is unknown; "none" if the volume has no device on this node. Repeatable.',
  }),
  'accept-outage': Flags.string({
    helpGroup: override.helpGroup,
    helpValue: 'N',
    summary:
      'Proceed although the API server seems to have lost or rolled back pods; N is the number of orphaned pods in the plan.',
  }),
  'accept-identity': Flags.string({
    ...override,
    helpValue: 'VALUE',
    summary: "Proceed although this ID of the Node object, as in the refusal, is not this machine's. Repeatable.",
  }),
  'accept-insecure-api': Flags.boolean({
    helpGroup: override.helpGroup,
    summary:
      'Proceed although the kubeconfig does not verify the API server (insecure-skip-tls-verify, http://): anyone on the network path could answer.',
  }),
}

/** As they were parsed; a command that has only some of them gives these. */
type PlanFlagValues = Partial<Interfaces.InferredFlags<typeof planFlags>>

export function planOptions(flags: PlanFlagValues, volctlVersion: string): PlanOptions {
  return {
    orphans: flags.orphans === true,
    remount: flags.remount === true,
    expand: flags.expand === true,
    settleMs: flags.settle === undefined ? DEFAULT_SETTLE_MS : parseDuration(flags.settle, '--settle'),
    driverGone: flags['driver-gone'] ?? [],
    handles: parseHandles(flags.handle ?? []),
    ...omitUndefined({ devices: flags.device === undefined ? undefined : parseDevices(flags.device) }),
    forceUnmount: absolutePaths(flags['force-unmount'] ?? [], '--force-unmount'),
    lazy: absolutePaths(flags.lazy ?? [], '--lazy'),
    ...(flags['accept-outage'] === undefined
      ? {}
      : { acceptOutage: parseCount(flags['accept-outage'], '--accept-outage', 0) }),
    ...omitUndefined({
      acceptIdentity: flags['accept-identity'],
    }),
    ...(flags['accept-insecure-api'] === true && { acceptInsecureApi: true }),
    ...omitUndefined({
      only: flags.only === undefined ? undefined : parseOperationKinds(flags.only, '--only'),
      skip: flags.skip === undefined ? undefined : parseOperationKinds(flags.skip, '--skip'),
      pods: flags.pod?.map(checkPod),
      namespaces: flags.namespace,
      volumes: flags.volume,
    }),
    volctlVersion,
  }
}

/** A whole number of at least `least`. */
export function parseCount(text: string, flag: string, least: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (Number.isSafeInteger(value) && value >= least) return value
  throw new VolctlError('Usage', `${flag}: "${text}" is not a whole number of ${least} or more.`, {
    hint: `Give a number such as ${Math.max(least, 8)}.`,
  })
}

/** @param is what is said of another text, VALUE in it @param more goes on with the hint */
function parsePairs(values: readonly string[], form: RegExp, is: string, more: string): Record<string, string> {
  const pairs = values.map((text) => {
    const [, volume, value] = form.exec(text) ?? []
    if (volume !== undefined && value !== undefined) return [volume, value] as const
    throw new VolctlError(
      'Usage',
      is.replace('VALUE', () => `"${text}"`),
      {
        hint: `VOLUME is the name in the plan's VOLUME column${more}`,
      },
    )
  })
  return Object.fromEntries(pairs)
}

function parseHandles(values: readonly string[]): Record<string, string> {
  const more = ", HANDLE the volume's name at its driver."
  return parsePairs(values, /^([^=]+)=(.+)$/s, '--handle: VALUE is not VOLUME=HANDLE.', more)
}

function parseDevices(values: readonly string[]): Record<string, string> {
  const is = '--device: VALUE is neither VOLUME=/dev/NAME nor VOLUME=none.'
  return parsePairs(values, /^([^=]+)=(none|\/dev\/.+)$/, is, "; lsblk lists this node's devices.")
}

function absolutePaths(paths: readonly string[], flag: string): readonly string[] {
  for (const path of paths) {
    if (path.startsWith('/')) continue
    throw new VolctlError('Usage', `${flag}: "${path}" is not an absolute path.`, {
      hint: 'Copy the path from the plan.',
    })
  }
  return paths
}

/** `web-0`, `default/web-0`, or a UID or its beginning: of an API object or the hash of a static pod. */
function checkPod(text: string): string {
  if (/^[^/\s]+(\/[^/\s]+)?$/.test(text)) return text
  throw new VolctlError('Usage', `--pod: "${text}" is neither [NAMESPACE/]NAME nor a UID.`, {
    hint: 'volctl status shows the pods of this node.',
  })
}

/** The kinds that `--only` or `--skip` names: kinds and groups, comma separated, in the plan's order, each once. */
export function parseOperationKinds(text: string, flag: string): OperationKind[] {
  const words = text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')
  const chosen = new Set(words.flatMap((word) => kindsOf(word, flag)))
  if (chosen.size === 0) throw badKind(`${flag}: names no kind of operation.`)
  return OPERATION_KINDS.filter((kind) => chosen.has(kind))
}

function kindsOf(word: string, flag: string): readonly OperationKind[] {
  const group = OPERATION_GROUPS.get(word)
  if (group !== undefined) return group
  const kind = OPERATION_KINDS.find((known) => known.toLowerCase() === word.toLowerCase())
  if (kind === undefined) throw badKind(`${flag}: "${word}" is neither a kind of operation nor a group of them.`, word)
  return [kind]
}

function badKind(message: string, word = ''): VolctlError {
  const groups = [...OPERATION_GROUPS.keys()]
  const meant = didYouMean(word, [...groups, ...OPERATION_KINDS])
  return new VolctlError('Usage', message, {
    hint: `${meant}Groups are ${groups.join(', ')}; kinds are ${OPERATION_KINDS.join(', ')}.`,
  })
}
