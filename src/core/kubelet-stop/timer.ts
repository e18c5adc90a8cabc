/** The timer of systemd that starts the kubelet again, whatever becomes of volctl (S35). */
import { SafetyRefusal } from '../errors/errors.ts'
import { hasSystemd, startingService, timerOf, unitProperties } from '../node/kubelet/systemctl.ts'
import { runCommand } from '../trust/programs.ts'

const DEADLINE_MS = 10_000

export interface ArmedTimer {
  /** `volctl-start-kubelet.timer` for `kubelet.service`. */
  readonly name: string
  /** It does not fire before this moment, by performance.now(). */
  readonly firesAt: number
}

/**
 * Arms a transient timer that starts the unit, and reads back that it waits. It is gone once it has fired, and after a reboot.
 *
 * A timer stays as long as what it has started runs. So this one starts a service that ends at once, and that wants the unit: systemd
 * starts the unit itself, with no program between that may fail.
 *
 * @throws SafetyRefusal KubeletNotStopped: then there is none
 */
export async function armTimer(unit: string, afterMs: number): Promise<ArmedTimer> {
  const service = startingService(unit)
  const name = timerOf(service)
  const armed = performance.now()
  const asked = await runCommand(
    'systemd-run',
    [
      ...[`--unit=${service}`, `--on-active=${Math.floor(afterMs)}ms`, '--timer-property=AccuracySec=100ms'],
      ...[`--description=volctl: starts ${unit} again`, '--property=Type=oneshot', `--property=Wants=${unit}`],
      'true',
    ],
    DEADLINE_MS,
  ).catch((error: unknown) => ({ status: undefined, stderr: error instanceof Error ? error.message : String(error) }))
  if (asked.status !== 0) throw notArmed(unit, asked.stderr.trim() || 'systemd-run did not answer')
  if ((await waits(name, service)) && (await wants(service, unit))) return { name, firesAt: armed + afterMs }
  await disarmTimer(name)
  throw notArmed(unit, `${name} was not shown as waiting`)
}

async function waits(timer: string, service: string): Promise<boolean> {
  const shown = await unitProperties(timer, ['ActiveState', 'SubState', 'Unit', 'NextElapseUSecMonotonic'])
  const next = shown?.get('NextElapseUSecMonotonic') ?? ''
  const isWaiting = shown?.get('ActiveState') === 'active' && shown.get('SubState') === 'waiting'
  return isWaiting && shown.get('Unit') === service && next !== '' && next !== 'infinity'
}

async function wants(service: string, unit: string): Promise<boolean> {
  return (await unitProperties(service, ['Wants']))?.get('Wants')?.split(/\s+/).includes(unit) === true
}

/** @returns false: it is still there */
export async function disarmTimer(name: string): Promise<boolean> {
  if (!hasSystemd()) return false
  await runCommand('systemctl', ['stop', '--', name], DEADLINE_MS).catch(() => undefined)
  return (await unitProperties(name, ['LoadState']))?.get('LoadState') === 'not-found'
}

function notArmed(unit: string, why: string): SafetyRefusal {
  return new SafetyRefusal('S35', 'KubeletNotStopped', `no timer could be set that starts ${unit} again: ${why}`, {
    hint: `volctl stops ${unit} only if systemd starts it again whatever happens. Stop and start it yourself, around: volctl apply`,
  })
}
