/** A saved plan, read with suspicion: it may be damaged, of another version, edited, or somebody else's. */
import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs'
import { errnoOf, errorMessage, VolctlError } from '../errors.ts'
import { parseDocument, shownField } from '../parse-document.ts'
import { ShapeError } from '../shape.ts'
import { PLAN_FILE_LIMITS } from './plan-file-limits.ts'
import { type SavedPlan, savedPlan } from './plan-shape.ts'

const VERSION = 'volctl.io/v1'
const KIND = 'Plan'
const SCOPE = 'node'

const DEFECTS = { CutOff: 'PlanFileDamaged', NotJson: 'PlanFileDamaged', TooLarge: 'PlanFileTooLarge' } as const

const PLAN_AGAIN = 'Make it again: volctl plan --out FILE'

/**
 * Unknown fields are left out. Nothing of what is read is carried out: it says which operations of a fresh plan are
 * wanted, and with which options that plan is made.
 *
 * @param name what messages call the file
 * @throws VolctlError one clear line on what is wrong with the file
 */
export function readPlanFile(path: string, volctlVersion: string, name = path): SavedPlan {
  return parsePlanFile(readTrusted(path, name), volctlVersion, name)
}

export function parsePlanFile(bytes: Buffer, volctlVersion: string, name: string): SavedPlan {
  const parsed = parseDocument(bytes, PLAN_FILE_LIMITS)
  if ('defect' in parsed) throw defect(name, DEFECTS[parsed.defect], parsed.why, parsed.cause)
  requireHead(parsed.document, volctlVersion, name)
  const plan = shaped(parsed.document, name)
  const ids = plan.operations.map(({ id }) => id)
  const twice = ids.length === new Set(ids).size ? undefined : ids.find((id, index) => ids.indexOf(id) !== index)
  if (twice !== undefined) throw defect(name, 'PlanFileDamaged', `two operations have the id ${twice}`)
  return { ...plan, options: { ...plan.options, volctlVersion } }
}

function requireHead(
  { apiVersion, kind, scope, options, volctlVersion: version }: Readonly<Record<string, unknown>>,
  volctlVersion: string,
  name: string,
): void {
  if (kind !== KIND) throw defect(name, 'NotAPlan', `its kind is ${shownField(kind)}, not ${KIND}`)
  if (apiVersion !== VERSION) {
    throw defect(name, 'PlanFileVersion', `its apiVersion is ${shownField(apiVersion)}; this volctl reads ${VERSION}`)
  }
  if (version !== volctlVersion) {
    throw defect(name, 'PlanFileVersion', `it is of volctl ${shownField(version)}, and this is "${volctlVersion}"`)
  }
  if (scope !== SCOPE) {
    throw defect(name, 'PlanFileScope', `its scope is ${shownField(scope)}; this is an apply of scope ${SCOPE}`)
  }
  if (options === undefined) {
    throw defect(name, 'NotAPlan', 'it does not say which options it was made with: it was printed, not saved')
  }
}

function shaped(document: object, name: string): SavedPlan {
  try {
    return savedPlan(document, '')
  } catch (error) {
    if (error instanceof ShapeError) throw defect(name, 'PlanFileDamaged', error.message, error)
    throw error
  }
}

/** Only a plain file that nobody else could have written: it may lift guards, and it is obeyed as root. */
function readTrusted(path: string, name: string): Buffer {
  let fd: number | undefined
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const stat = fstatSync(fd)
    if (!stat.isFile()) throw defect(name, 'PlanFileUnreadable', 'it is not a plain file')
    const { maxBytes } = PLAN_FILE_LIMITS
    if (stat.size > maxBytes) throw defect(name, 'PlanFileTooLarge', `it is larger than ${maxBytes} bytes`)
    requireOwn(stat, name)
    return readFileSync(fd)
  } catch (error) {
    if (error instanceof VolctlError) throw error
    const why = errnoOf(error) === 'ENOENT' ? 'there is no such file' : errorMessage(error)
    throw new VolctlError('PlanFileUnreadable', `plan file ${name}: ${why}`, { cause: error, hint: 'Check the path.' })
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}

function requireOwn({ uid, mode }: Stats, name: string): void {
  const trusted = [0, process.geteuid?.(), Number(process.env.SUDO_UID ?? 0)]
  const why = !trusted.includes(uid)
    ? `it belongs to another user (uid ${uid})`
    : (mode & 0o022) !== 0
      ? 'others may write to it'
      : undefined
  if (why === undefined) return
  throw new VolctlError('PlanFileUnsafe', `plan file ${name}: ${why}: whoever wrote it could lift guards`, {
    hint: 'Look at what is in it; then make it yours: chown, and chmod go-w.',
  })
}

function defect(name: string, code: string, why: string, cause?: unknown): VolctlError {
  return new VolctlError(code, `plan file ${name}: ${why}`, {
    hint: PLAN_AGAIN,
    ...(cause === undefined ? {} : { cause }),
  })
}
