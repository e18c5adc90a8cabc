import { existsSync } from 'node:fs'
import { askProgram } from '../../trust/programs.ts'

/** The state of a unit, as systemd shows it. */
export interface UnitState {
  readonly activeState: string
  readonly subState: string
  /** `enabled`: it starts at the next boot. */
  readonly unitFileState: string
  /** RFC 3339: when the unit last became inactive; absent: it never was active, or systemd has forgotten it (O38). */
  readonly inactiveSince?: string
  /** What may start the inactive unit at any moment: a queued job, or active units that trigger or uphold it. */
  readonly startedBy: readonly string[]
}

const DEADLINE_MS = 2000
/** What every look at a unit asks for: its state, and what may start it. */
export const OF_STATE = [
  ...['LoadState', 'ActiveState', 'SubState', 'UnitFileState'],
  ...['TriggeredBy', 'UpheldBy', 'WantedBy'],
]

/**
 * Asks systemd, with a deadline. Undefined if systemd does not run here, does not answer, or knows no such unit.
 *
 * @param stoppedHere volctl has stopped it: what its own timer does, which starts it again, is known (S35)
 */
export async function unitState(
  unit: string,
  stoppedHere = false,
): Promise<UnitState | 'no systemd' | 'no answer' | undefined> {
  if (!hasSystemd()) return 'no systemd'
  const shown = await unitProperties(unit, [...OF_STATE, 'InactiveEnterTimestampMonotonic', 'Job'])
  if (shown === undefined) return 'no answer'
  const state = unitStateIn(shown)
  if (state === undefined) return undefined
  const known = [QUEUED, stoppedHere ? timerOf(startingService(unit)) : undefined]
  const active = await activeAmong(state.startedBy.filter((each) => !known.includes(each)))
  return { ...state, startedBy: state.startedBy.filter((each) => each === QUEUED || active.includes(each)) }
}

const QUEUED = 'a queued job'

export function hasSystemd(): boolean {
  return existsSync('/run/systemd/system')
}

/** The units that are active, or that systemd says nothing about. */
export async function activeAmong(units: readonly string[]): Promise<readonly string[]> {
  return units.length === 0 ? [] : activeOf((await show(['Id', 'ActiveState'], units)) ?? '', units)
}

/** Properties of one unit, by name; undefined: systemd does not answer. An empty one may be unknown to this systemd. */
export async function unitProperties(
  unit: string,
  properties: readonly string[],
): Promise<ReadonlyMap<string, string> | undefined> {
  const output = await show(properties, [unit])
  return output === undefined ? undefined : fieldsOf(output)
}

/** The units that systemd shows as active, or does not show at all. */
export function activeOf(output: string, units: readonly string[]): readonly string[] {
  const states = new Map(
    output.split(/\n\n+/).map((block) => {
      const fields = fieldsOf(block)
      return [fields.get('Id'), fields.get('ActiveState')] as const
    }),
  )
  return units.filter((unit) => !['inactive', 'failed'].includes(states.get(unit) ?? ''))
}

/** What `systemctl show` says of one unit. */
export function fieldsOf(output: string): ReadonlyMap<string, string> {
  return new Map(
    output.split('\n').map((line) => {
      const equals = line.indexOf('=')
      return [line.slice(0, equals), line.slice(equals + 1)] as const
    }),
  )
}

/** The same moment by two clocks, in milliseconds: since the epoch, and by the monotonic clock. */
function thisMoment() {
  return { wall: Date.now(), monotonic: Number(process.hrtime.bigint() / 1_000_000n) }
}

/** @param fields of OF_STATE */
export function unitStateIn(fields: ReadonlyMap<string, string>, now = thisMoment()): UnitState | undefined {
  if (fields.get('LoadState') === 'not-found' || !fields.has('ActiveState')) return undefined
  const text = (name: string): string => fields.get(name) ?? ''
  const queued = /^[1-9]/.test(text('Job')) ? [QUEUED] : []
  // A timer of volctl's is not among those that trigger the unit: it starts a service that wants it.
  const own = unitsIn(fields, 'WantedBy').filter((name) => name.startsWith(STARTS) && name.endsWith('.service'))
  return {
    activeState: text('ActiveState'),
    subState: text('SubState'),
    unitFileState: text('UnitFileState'),
    inactiveSince: sinceMonotonic(text('InactiveEnterTimestampMonotonic'), now),
    startedBy: [...queued, ...unitsIn(fields, 'TriggeredBy', 'UpheldBy'), ...own.map(timerOf)],
  }
}

/** The units that these properties name. */
export function unitsIn(fields: ReadonlyMap<string, string>, ...names: readonly string[]): readonly string[] {
  return names.flatMap((name) => (fields.get(name) ?? '').split(/\s+/).filter(Boolean))
}

const STARTS = 'volctl-start-'

/** The service of volctl's that wants a unit, so that it starts it and then ends itself, with its timer (S35). */
export const startingService = (unit: string): string => `${STARTS}${unit}`

/** The timer of a service. */
export const timerOf = (service: string): string => service.replace(/\.service$/, '.timer')

/** A time by the monotonic clock, in microseconds: its age is right even if the wall clock has been set since (S28). */
function sinceMonotonic(text: string, { wall, monotonic }: ReturnType<typeof thisMoment>): string | undefined {
  const since = Number(text) / 1000
  if (!(since > 0) || since > monotonic) return undefined
  return new Date(wall - (monotonic - since)).toISOString()
}

/** Runs this host's systemctl(1), never one from the caller's PATH: its answer decides about S11. */
async function show(properties: readonly string[], units: readonly string[]): Promise<string | undefined> {
  try {
    const args = ['show', `--property=${properties.join(',')}`, '--', ...units]
    const { status, stdout } = await askProgram('systemctl', args, DEADLINE_MS)
    return status === 0 ? stdout : undefined
  } catch {
    return undefined
  }
}
