/** The timer of systemd that starts the kubelet again, whatever becomes of volctl (S35). */
import { SafetyRefusal } from '../errors/errors.ts'
import { hasSystemd, unitProperties } from '../node/kubelet/systemctl.ts'
import { runCommand } from '../trust/programs.ts'

const DEADLINE_MS = 10_000

export interface ArmedTimer {
  /** `kubelet.timer` for `kubelet.service`: a timer of that name starts it. */
  readonly name: string
  /** It does not fire before this moment, by performance.now(). */
  readonly firesAt: number
}

/**
 * Arms a transient timer that starts the unit, and reads back that it waits. It is gone once it has fired, and after a reboot.
 *
 * @throws SafetyRefusal TimerNotArmed: then there is none
 */
export async function armTimer(unit: string, afterMs: number): Promise<ArmedTimer> {
  const name = timerOf(unit)
  const armed = performance.now()
  const asked = await runCommand(
    'systemd-run',
    [
      `--on-active=${Math.floor(afterMs)}ms`,
      '--timer-property=AccuracySec=100ms',
      `--description=volctl: starts ${unit} again`,
      `--unit=${unit}`,
    ],
    DEADLINE_MS,
  ).catch((error: unknown) => ({ status: undefined, stderr: error instanceof Error ? error.message : String(error) }))
  if (asked.status !== 0) throw notArmed(unit, asked.stderr.trim() || 'systemd-run did not answer')
  const shown = await unitProperties(name, ['ActiveState', 'SubState', 'Unit', 'NextElapseUSecMonotonic'])
  const next = shown?.get('NextElapseUSecMonotonic')
  const waits =
    shown?.get('ActiveState') === 'active' && shown.get('SubState') === 'waiting' && shown.get('Unit') === unit
  if (waits && next !== undefined && next !== '' && next !== 'infinity') return { name, firesAt: armed + afterMs }
  await disarmTimer(name)
  throw notArmed(unit, `${name} was not shown as waiting`)
}

/** @returns false: it is still there */
export async function disarmTimer(name: string): Promise<boolean> {
  if (!hasSystemd()) return false
  await runCommand('systemctl', ['stop', '--', name], DEADLINE_MS).catch(() => undefined)
  return (await unitProperties(name, ['LoadState']))?.get('LoadState') === 'not-found'
}

function timerOf(unit: string): string {
  return unit.replace(/\.service$/, '.timer')
}

function notArmed(unit: string, why: string): SafetyRefusal {
  return new SafetyRefusal('S35', 'TimerNotArmed', `no timer could be set that starts ${unit} again: ${why}`, {
    hint: `volctl stops ${unit} only if systemd starts it again whatever happens. Stop and start it yourself, around: volctl apply`,
  })
}
