import { errnoOf, VolctlError } from '../../base/errors.ts'
import { troubleText } from '../../linux/disk-trouble.ts'
import { replaceFile } from '../../linux/replace-file.ts'
import { JsonLimitError, requireBoundedJson } from '../../trust/parse-json.ts'
import type { ClusterOptions, ClusterPlan } from '../cluster-plan.ts'
import type { Plan, PlanOptions } from '../plan.ts'
import { PLAN_FILE_LIMITS } from './plan-file-limits.ts'

/** A plan as `apply FILE` takes it: the plan as `-o json` prints it, and the options that it was made with. */
export function planFileText(plan: Plan | ClusterPlan, options: PlanOptions | ClusterOptions): string {
  return `${JSON.stringify({ ...plan, options }, undefined, 1)}\n`
}

/**
 * Saves a plan, for its owner alone, whole or not at all. Only a plain file is ever replaced: never a directory, a pipe or a
 * link, whoever owns it.
 *
 * @param name what messages call the file
 * @throws VolctlError NotWritten, also if it exceeds what `readPlanFile` accepts
 */
export function writePlanFile(
  plan: Plan | ClusterPlan,
  options: PlanOptions | ClusterOptions,
  path: string,
  name = path,
): void {
  try {
    const bytes = Buffer.from(planFileText(plan, options))
    requireBoundedJson(bytes, PLAN_FILE_LIMITS)
    replaceFile(path, bytes)
  } catch (error) {
    if (error instanceof JsonLimitError) {
      throw new VolctlError('NotWritten', `plan file ${name}: too large for apply to read: the plan ${error.message}`, {
        cause: error,
        hint: 'Plan a part with --only, --pod or --volume, apply that, and plan again.',
      })
    }
    throw new VolctlError('NotWritten', `plan file ${name}: ${WORDS[errnoOf(error) ?? ''] ?? troubleText(error)}`, {
      cause: error,
      hint: 'Give a plain file, not a link, in an existing, writable directory with free space.',
    })
  }
}

const WORDS: Readonly<Record<string, string>> = {
  ENOENT: 'no such directory',
  ENOTDIR: 'no such directory',
  ENOSPC: 'no space is left on the disk',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'the file system is read-only',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
}
