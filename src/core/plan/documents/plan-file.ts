/** Saves a plan, and reads a saved one with suspicion: it may be damaged, of another version, edited, or somebody else's. */

import { replaceFile } from '../../linux/descriptors.ts'
import { ownDescriptor } from '../../linux/paths.ts'
import { marked } from '../../messages/command.ts'
import { NotTrusted, readTrusted, requireTrustedInput, TRUST_HINT } from '../../trust/files.ts'
import { JSON_LIMITS, JsonLimitError, type JsonLimits, requireBoundedJson } from '../../trust/parse-json.ts'
import { callerPath } from '../../trust/run.ts'
import type { Shape } from '../../trust/shape.ts'
import { type ClusterOptions, type ClusterPlan, type SavedClusterPlan, savedClusterPlan } from '../cluster-plan.ts'
import { type Plan, type PlanOptions, type SavedPlan, savedPlan } from '../plan.ts'
import { DocumentFrame, shownField } from './document-frame.ts'

/**
 * Limits of a plan file, for writing and for reading. An operation takes about 2.1 KB: 20,000 of them take 42 MB, and 300 MB
 * of memory to read; 76 MiB are 38,000 operations, the leftovers of 19,000 pods.
 */
const PLAN_FILE_LIMITS: JsonLimits = { ...JSON_LIMITS, maxBytes: 76 * 1024 * 1024 }

const frame = new DocumentFrame('Plan', { maxBytes: PLAN_FILE_LIMITS.maxBytes, pipeMs: 50_000 })

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
    if (!(error instanceof JsonLimitError)) throw frame.notWritten(name, error)
    const hint = 'Plan a part with --only, --pod or --volume, apply that, and plan again.'
    throw frame.damaged('NotWritten.tooLarge', { name, why: error.message }, { cause: error, hint })
  }
}

/** Plans that are saved, by their scope. */
interface Saved {
  readonly node: SavedPlan
  readonly cluster: SavedClusterPlan
}
type Scope = keyof Saved

const SHAPES: { readonly [S in Scope]: Shape<Saved[S]> } = { node: savedPlan, cluster: savedClusterPlan }

/**
 * Unknown fields are left out. Nothing in the file is carried out: it says which operations of a fresh plan are wanted, and
 * which options that plan is made with.
 *
 * @param name what messages call the file
 * @throws VolctlError one clear line on what is wrong with the file
 */
export function readPlanFile<S extends Scope>(scope: S, path: string, volctlVersion: string, name = path): Saved[S] {
  const bytes = trusted(name, () => readTrusted(path, PLAN_FILE_LIMITS.maxBytes))
  return parsePlanFile(scope, bytes, volctlVersion, name)
}

/** Is it standard input, as it was typed: `-`, `/dev/stdin`? */
export function isPlanInput(typed: string): boolean {
  return ownDescriptor(typed) === 0
}

/** The plan file that was typed, or that on standard input. @throws VolctlError as readPlanFile */
export async function readTypedPlan<S extends Scope>(
  scope: S,
  typed: string,
  volctlVersion: string,
): Promise<Saved[S]> {
  if (!isPlanInput(typed)) return readPlanFile(scope, callerPath(typed), volctlVersion, typed)
  return parsePlanFile(scope, await readInput(), volctlVersion, INPUT)
}

const INPUT = 'from standard input'

/** A pipe, or a file that nobody else could have written (S33). */
async function readInput(): Promise<Buffer> {
  trusted(INPUT, () => requireTrustedInput(callerPath))
  return (await frame.read('-', INPUT)).bytes
}

export function parsePlanFile<S extends Scope>(scope: S, bytes: Buffer, volctlVersion: string, name: string): Saved[S] {
  const document = frame.parsed(bytes, name, PLAN_FILE_LIMITS)
  frame.requireHead(document, name)
  requireSame(document, scope, volctlVersion, name)
  const plan = frame.shaped(SHAPES[scope], document, name)
  const ids = plan.operations.map(({ id }) => id)
  const twice = ids.length === new Set(ids).size ? undefined : ids.find((id, index) => ids.indexOf(id) !== index)
  if (twice !== undefined) throw frame.damaged('FileDamaged.twice', { name, id: twice })
  return { ...plan, options: { ...plan.options, volctlVersion } }
}

/** Of this volctl, of the scope that is asked for, and with its options. */
function requireSame(
  { scope, options, volctlVersion: version }: Readonly<Record<string, unknown>>,
  wanted: Scope,
  volctlVersion: string,
  name: string,
): void {
  if (version !== volctlVersion)
    throw frame.damaged('FileDamaged.version', { name, version: shownField(version), volctlVersion })
  if (scope !== wanted) {
    const args = { name, found: shownField(scope), wanted }
    throw frame.damaged('Usage.scope', args, { hint: OTHER_SCOPE[wanted] })
  }
  if (options === undefined) throw frame.damaged('FileDamaged.printed', { name })
}

/** By what was asked for. */
const OTHER_SCOPE = {
  node: marked(
    '`volctl apply --cluster` makes its own plan, with the flags of this one. Save a plan of this node: `volctl plan --out FILE`',
  ),
  cluster: marked(
    'A plan of a node is carried out on the node. Save a plan of the cluster: `volctl plan --cluster --out FILE`',
  ),
}

/**
 * Only a plain file; nobody else may be able to write the file, a directory above it, or a link on the way. The file may lift
 * safety rules, and root acts on it (S33).
 */
function trusted<T>(name: string, read: () => T): T {
  try {
    return read()
  } catch (cause) {
    if (cause instanceof NotTrusted)
      throw frame.damaged(
        'NotBelieved.plan',
        { name, why: cause.message },
        { cause, hint: `${TRUST_HINT} Or save the plan again, in a directory of your own.` },
      )
    throw frame.unread(name, cause)
  }
}
