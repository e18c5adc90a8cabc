import { Flags } from '@oclif/core'
import { VolctlError } from '../errors/errors.ts'
import { parseDuration } from '../lang/duration.ts'
import { DEFAULT_SETTLE_MS, type PlanOptions } from '../plan/plan.ts'
import { parseOperationKinds } from './operation-kinds.ts'

const scope = { helpGroup: 'SCOPE' }
const guard = { helpGroup: 'GUARDS', multiple: true, multipleNonGreedy: true } as const

/** What both `plan` and `apply` take to say which operations are wanted, and which single guard is lifted. */
export const planFlags = {
  orphans: Flags.boolean({
    ...scope,
    summary:
      'Include what only makes sense for pods that are gone for good: their emptyDir data and their directories.',
  }),
  remount: Flags.boolean({
    ...scope,
    summary: 'Bring volumes of living pods up to date (RemountVolume); else they are planned as NotAsked.',
  }),
  expand: Flags.boolean({
    ...scope,
    summary: 'Let file systems grow to the size that their claims ask for (ExpandVolume); else NotAsked.',
  }),
  only: Flags.string({
    ...scope,
    helpValue: 'LIST',
    summary: 'Only these kinds or groups of operations, comma separated.',
  }),
  skip: Flags.string({
    ...scope,
    helpValue: 'LIST',
    summary: 'All but these kinds or groups; what depends on them is left out too.',
  }),
  pod: Flags.string({
    ...scope,
    multiple: true,
    multipleNonGreedy: true,
    helpValue: '[NS/]NAME|UID',
    summary:
      'Only this pod, by name or by UID or its beginning, with the devices that it is the last to use. Repeatable.',
  }),
  namespace: Flags.string({
    ...scope,
    char: 'n',
    multiple: true,
    multipleNonGreedy: true,
    helpValue: 'NS',
    summary: 'Only pods of this namespace. Repeatable.',
  }),
  volume: Flags.string({
    ...scope,
    multiple: true,
    multipleNonGreedy: true,
    helpValue: 'NAME',
    summary: 'Only this volume. Repeatable.',
  }),
  'ignore-not-found': Flags.boolean({
    ...scope,
    summary: 'A name of --pod or --volume that nothing here bears is no error.',
  }),
  max: Flags.string({ ...scope, helpValue: 'N', summary: 'At most this many operations.' }),
  settle: Flags.string({
    ...scope,
    helpValue: 'DUR',
    summary: 'How long a kubelet must have been stopped or, while one runs, a thing unchanged (default 2m).',
  }),
  'force-unmount': Flags.string({
    ...guard,
    helpValue: 'PATH',
    summary: 'Unmount PATH by force: breaks a connection that no other mount shares. Repeatable.',
  }),
  lazy: Flags.string({
    ...guard,
    helpValue: 'PATH',
    summary: 'Detach PATH lazily: only a mount that is shown to be dead and that nothing holds. Repeatable.',
  }),
  'driver-gone': Flags.string({
    ...guard,
    helpValue: 'NAME',
    summary:
      'This CSI or flexVolume driver will not come back: unmount without it, and say what is not done. Repeatable.',
  }),
  handle: Flags.string({
    ...guard,
    helpValue: 'VOLUME=HANDLE',
    summary: 'The CSI volume handle of a volume whose own record is lost. Repeatable.',
  }),
  'foreign-pod': Flags.string({
    ...guard,
    helpValue: 'UID',
    summary:
      'The processes of this pod, which nothing on this node knows, are of another kubelet on this machine. Repeatable.',
  }),
  device: Flags.string({
    ...guard,
    helpValue: 'VOLUME=DEVICE',
    summary:
      'The device file of a volume to be detached whose device is not known, or none if it has none on this node. Repeatable.',
  }),
  'accept-outage': Flags.string({
    helpGroup: 'GUARDS',
    helpValue: 'N',
    summary: 'Act though the API looks wiped or turned back; N is the number of gone pods that the plan shows.',
  }),
  'accept-identity': Flags.string({
    ...guard,
    helpValue: 'VALUE',
    summary: "Act though this id of the Node object, as the refusal shows it, is not this host's. Repeatable.",
  }),
  'accept-insecure-api': Flags.boolean({
    helpGroup: 'GUARDS',
    summary:
      'Act though the kubeconfig does not verify the API server (insecure-skip-tls-verify, http://): anybody between could answer.',
  }),
}

interface PlanFlagValues {
  readonly orphans?: boolean | undefined
  readonly remount?: boolean | undefined
  readonly expand?: boolean | undefined
  readonly only?: string | undefined
  readonly skip?: string | undefined
  readonly pod?: readonly string[] | undefined
  readonly namespace?: readonly string[] | undefined
  readonly volume?: readonly string[] | undefined
  readonly max?: string | undefined
  readonly settle?: string | undefined
  readonly 'force-unmount'?: readonly string[] | undefined
  readonly lazy?: readonly string[] | undefined
  readonly 'driver-gone'?: readonly string[] | undefined
  readonly handle?: readonly string[] | undefined
  readonly 'foreign-pod'?: readonly string[] | undefined
  readonly device?: readonly string[] | undefined
  readonly 'accept-outage'?: string | undefined
  readonly 'accept-identity'?: readonly string[] | undefined
  readonly 'accept-insecure-api'?: boolean | undefined
}

export function planOptions(flags: PlanFlagValues, volctlVersion: string): PlanOptions {
  return {
    orphans: flags.orphans === true,
    remount: flags.remount === true,
    expand: flags.expand === true,
    settleMs: flags.settle === undefined ? DEFAULT_SETTLE_MS : parseDuration(flags.settle, '--settle'),
    driverGone: flags['driver-gone'] ?? [],
    handles: parseHandles(flags.handle ?? []),
    ...(flags.device === undefined ? {} : { devices: parseDevices(flags.device) }),
    forceUnmount: absolutePaths(flags['force-unmount'] ?? [], '--force-unmount'),
    lazy: absolutePaths(flags.lazy ?? [], '--lazy'),
    ...(flags['accept-outage'] === undefined
      ? {}
      : { acceptOutage: parseCount(flags['accept-outage'], '--accept-outage', 0) }),
    ...(flags['foreign-pod'] === undefined ? {} : { foreignPods: flags['foreign-pod'].map(checkUid) }),
    ...(flags['accept-identity'] === undefined ? {} : { acceptIdentity: flags['accept-identity'] }),
    ...(flags['accept-insecure-api'] === true && { acceptInsecureApi: true }),
    ...(flags.only === undefined ? {} : { only: parseOperationKinds(flags.only, '--only') }),
    ...(flags.skip === undefined ? {} : { skip: parseOperationKinds(flags.skip, '--skip') }),
    ...(flags.pod === undefined ? {} : { pods: flags.pod.map(checkPod) }),
    ...(flags.namespace === undefined ? {} : { namespaces: flags.namespace }),
    ...(flags.volume === undefined ? {} : { volumes: flags.volume }),
    ...(flags.max === undefined ? {} : { max: parseCount(flags.max, '--max', 1) }),
    volctlVersion,
  }
}

/** A whole number of at least `least`. */
export function parseCount(text: string, flag: string, least: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (Number.isSafeInteger(value) && value >= least) return value
  throw new VolctlError('BadNumber', `${flag}: "${text}" is not a whole number of ${least} or more.`, {
    hint: `Write it like ${Math.max(least, 8)}.`,
  })
}

function parseHandles(values: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    values.map((value) => {
      const at = value.indexOf('=')
      if (at <= 0 || at === value.length - 1) {
        throw new VolctlError('BadHandle', `--handle: "${value}" is not VOLUME=HANDLE.`, {
          hint: 'VOLUME is the name in the VOLUME column of the plan, HANDLE what its driver calls the volume.',
        })
      }
      return [value.slice(0, at), value.slice(at + 1)]
    }),
  )
}

function parseDevices(values: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    values.map((value) => {
      const [, volume, device] = /^([^=]+)=(none|\/dev\/.+)$/.exec(value) ?? []
      if (volume === undefined || device === undefined) {
        throw new VolctlError('BadDevice', `--device: "${value}" is neither VOLUME=/dev/NAME nor VOLUME=none.`, {
          hint: 'VOLUME is the name in the VOLUME column of the plan; lsblk shows the devices of this node.',
        })
      }
      return [volume, device]
    }),
  )
}

function absolutePaths(paths: readonly string[], flag: string): readonly string[] {
  for (const path of paths) {
    if (path.startsWith('/')) continue
    throw new VolctlError('BadPath', `${flag}: "${path}" is not an absolute path.`, {
      hint: 'Give it as the plan shows it.',
    })
  }
  return paths
}

/** A pod's UID; one that was copied out of the name of a slice has underscores where the pod's own has dashes. */
function checkUid(text: string): string {
  if (/^[0-9a-f]{8}(?:_[0-9a-f]{4}){3}_[0-9a-f]{12}$/.test(text)) return text.replaceAll('_', '-')
  if (/^[^/\s]+$/.test(text)) return text
  throw new VolctlError('BadPod', `--foreign-pod: "${text}" is no UID of a pod.`, {
    hint: 'Give the UID as the plan shows it.',
  })
}

/** `web-0`, `default/web-0`, or a UID or its beginning: of an API object or the hash of a static pod. */
function checkPod(text: string): string {
  if (/^[^/\s]+(\/[^/\s]+)?$/.test(text)) return text
  throw new VolctlError('BadPod', `--pod: "${text}" is neither [NAMESPACE/]NAME nor a UID.`, {
    hint: 'Give it as the POD column of the plan shows it.',
  })
}
