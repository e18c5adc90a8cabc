/** Stops and starts the unit that runs the kubelet, and sets the timer of systemd that starts it whatever becomes of volctl (S35). */

import { pause } from '../../linux/deadline.ts'
import { advice, commandLine } from '../../messages/command.ts'
import { errorMessage, type SafetyRefusal, said, VolctlError } from '../../messages/findings.ts'
import { notStopped } from '../../node/kubelet/stoppable.ts'
import { hasSystemd, startingService, timerOf, unitProperties } from '../../node/kubelet/systemctl.ts'
import { runCommand } from '../../trust/programs.ts'

/** A kubelet ends within a second; systemd kills most units that do not after 90 s. */
const STOP_DEADLINE_MS = 30_000
/** A k3s reports its start to systemd only once it has started. */
const START_DEADLINE_MS = 60_000
const BETWEEN_MS = 200

/** False where systemd does not answer. */
export async function isActive(unit: string): Promise<boolean> {
  return (await propertyOf(unit, 'ActiveState')) === 'active'
}

/** Undefined: systemd does not answer. */
async function propertyOf(unit: string, name: string): Promise<string | undefined> {
  return (await unitProperties(unit, [name]))?.get(name)
}

/** @throws VolctlError CommandFailed: it may be stopped, or not */
export async function stopUnit(unit: string): Promise<void> {
  const failure = await asked('stop', unit, STOP_DEADLINE_MS)
  if (failure === undefined) return
  throw new VolctlError(said('CommandFailed.notStopped', { unit, failure }), {
    hint: advice`See what it does: ${commandLine('systemctl', 'status', unit)}`,
  })
}

/** @returns why it does not run; undefined: systemd shows it as active */
export async function startUnit(unit: string): Promise<string | undefined> {
  const failure = await asked('start', unit, START_DEADLINE_MS)
  // Somebody else, or the timer, may have started it at the same moment.
  const until = performance.now() + (failure === undefined ? START_DEADLINE_MS : 0)
  for (;;) {
    const state = await propertyOf(unit, 'ActiveState')
    if (state === 'active') return undefined
    if (performance.now() >= until || state === 'failed') return failure ?? `systemd shows it as ${state ?? 'unknown'}`
    await pause(BETWEEN_MS)
  }
}

/** @returns what systemctl says of a failure */
async function asked(verb: 'start' | 'stop', unit: string, deadlineMs: number): Promise<string | undefined> {
  try {
    const { status, stderr } = await runCommand('systemctl', [verb, '--', unit], deadlineMs)
    if (status === 0) return undefined
    return stderr.trim() || (status === undefined ? 'systemctl did not end in time' : `systemctl exited ${status}`)
  } catch (error) {
    return errorMessage(error)
  }
}

const DEADLINE_MS = 10_000

/** Its name, `volctl-start-kubelet.timer` for `kubelet.service`; the moment, by performance.now(), before which it does not fire. */
export type ArmedTimer = Awaited<ReturnType<typeof armTimer>>

/**
 * Arms a transient timer that starts the unit, and reads back that it waits. It is gone once it has fired, and after a reboot.
 *
 * A timer stays as long as what it has started runs. So this one starts a service that ends at once, and that wants the unit: systemd
 * starts the unit itself, with no program between that may fail.
 *
 * @throws SafetyRefusal KubeletNotStopped: then there is none
 */
export async function armTimer(unit: string, afterMs: number) {
  const service = startingService(unit)
  const name = timerOf(service)
  // Only one that volctl has made itself is taken back.
  const there = await propertyOf(name, 'LoadState')
  if (there !== 'not-found') throw notArmed(unit, there === undefined ? 'systemd does not answer' : `${name} is in use`)
  const armed = performance.now()
  const asked = await runCommand(
    'systemd-run',
    [
      ...[`--unit=${service}`, `--on-active=${Math.floor(afterMs)}ms`, '--timer-property=AccuracySec=100ms'],
      ...[`--description=volctl: starts ${unit} again`, '--property=Type=oneshot', `--property=Wants=${unit}`],
      'true',
    ],
    DEADLINE_MS,
  ).catch((error: unknown) => ({ status: undefined, timedOut: false, stderr: errorMessage(error) }))
  const isMade = asked.status === 0
  const wanted = isMade ? await propertyOf(service, 'Wants') : undefined
  if (isMade && (await waits(name, service)) && wanted?.split(/\s+/).includes(unit))
    return { name, firesAt: armed + afterMs, disarm: () => disarm(name) }
  const failure = asked.timedOut ? 'systemd-run did not answer' : asked.stderr.trim()
  const why = isMade ? `${name} was not shown as waiting` : failure
  // Without an answer it may be set all the same, or be set once systemd comes to it.
  throw notArmed(unit, (await disarm(name)) ? why : `${why}, and ${name} may be left`)
}

async function waits(timer: string, service: string): Promise<boolean> {
  const shown = await unitProperties(timer, ['ActiveState', 'SubState', 'Unit', 'NextElapseUSecMonotonic'])
  const next = shown?.get('NextElapseUSecMonotonic') ?? ''
  const isWaiting = shown?.get('ActiveState') === 'active' && shown.get('SubState') === 'waiting'
  return isWaiting && shown.get('Unit') === service && next !== '' && next !== 'infinity'
}

/** @returns false: it is still there */
async function disarm(name: string): Promise<boolean> {
  if (!hasSystemd()) return false
  await runCommand('systemctl', ['stop', '--', name], DEADLINE_MS).catch(() => undefined)
  return (await propertyOf(name, 'LoadState')) === 'not-found'
}

function notArmed(unit: string, why: string): SafetyRefusal {
  return notStopped(
    said('KubeletNotStopped.noTimer', { unit, why }),
    `volctl stops ${unit} only if systemd starts it again whatever happens. Stop and start it yourself, around: volctl apply`,
  )
}
