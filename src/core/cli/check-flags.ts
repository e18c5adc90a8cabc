/** What `volctl check` tolerates, and how long it may take. */
import { Flags } from '@oclif/core'
import type { Limits } from '../check/judge.ts'
import { parseDuration } from '../lang/duration.ts'
import { parseCount } from './plan-flags.ts'

const limits = { helpGroup: 'LIMITS' }

const most = (what: string) =>
  Flags.string({ ...limits, helpValue: 'N', summary: `Not ok with more than N ${what} (default 0).` })

export const checkFlags = {
  'max-errors': most('causes that are errors'),
  'max-dead-mounts': most('mounts that do not answer'),
  'max-orphaned-pods': most('pods that were deleted from the API and whose leftovers no longer change'),
  'max-leaked-devices': most('volumes that are staged or mapped though no pod here has them'),
  'max-blocked': most('obstacles that block operations'),
  'max-waiting-for': Flags.string({
    ...limits,
    helpValue: 'DUR',
    summary: 'Not ok if a pod waits longer than this for a volume, or to terminate (default 10m).',
  }),
  confirm: Flags.string({
    helpValue: 'DUR',
    summary:
      'If something is wrong or unknown, look again after this time; only what still is counts (default 15s, with -o prometheus 0; 0: do not).',
  }),
  timeout: Flags.string({
    helpValue: 'DUR',
    summary: 'Give up after this time; the result is then unknown (default 60s).',
  }),
}

type LimitFlags = { readonly [Name in keyof typeof checkFlags]?: string | undefined }

/** @throws VolctlError Usage */
export function checkLimits(flags: LimitFlags): Limits {
  const count = (name: keyof typeof checkFlags): number => parseCount(flags[name] ?? '0', `--${name}`, 0)
  return {
    most: {
      error: count('max-errors'),
      deadMount: count('max-dead-mounts'),
      orphanedPod: count('max-orphaned-pods'),
      leakedDevice: count('max-leaked-devices'),
      blocked: count('max-blocked'),
    },
    waitingForMs: parseDuration(flags['max-waiting-for'] ?? '10m', '--max-waiting-for'),
  }
}

export interface CheckTimes {
  readonly confirmMs: number
  readonly timeoutMs: number
}

/** @param format gauges come again and again, and an alert waits anyway: one look each @throws VolctlError Usage */
export function checkTimes(flags: LimitFlags, format: string): CheckTimes {
  const { confirm = format === 'prometheus' ? '0' : '15s', timeout = '60s' } = flags
  return { confirmMs: parseDuration(confirm, '--confirm'), timeoutMs: parseDuration(timeout, '--timeout') }
}
