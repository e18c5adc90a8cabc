/** Stops and starts the unit that runs the kubelet (S35). */
import { errorMessage, SafetyRefusal, VolctlError } from '../errors/errors.ts'
import { unitProperties } from '../node/kubelet/systemctl.ts'
import { pause } from '../processes/deadline.ts'
import { runCommand } from '../trust/programs.ts'

/** A kubelet ends within a second; systemd kills most units that do not after 90 s. */
const STOP_DEADLINE_MS = 30_000
/** A k3s reports its start to systemd only once it has started. */
const START_DEADLINE_MS = 60_000
const BETWEEN_MS = 200

/** @throws SafetyRefusal KubeletNotStopped */
export async function requireActive(unit: string): Promise<void> {
  const state = (await unitProperties(unit, ['ActiveState']))?.get('ActiveState')
  if (state === 'active') return
  throw new SafetyRefusal('S35', 'KubeletNotStopped', `${unit} is ${state ?? 'unknown'} now`, {
    hint: 'volctl only stops a kubelet that runs. Plan again.',
  })
}

/** @throws VolctlError CommandFailed: it may be stopped, or not */
export async function stopUnit(unit: string): Promise<void> {
  const failure = await asked('stop', unit, STOP_DEADLINE_MS)
  if (failure === undefined) return
  throw new VolctlError('CommandFailed', `${unit} did not stop: ${failure}`, {
    hint: `See what it does: systemctl status ${unit}`,
  })
}

/** @returns why it does not run; undefined: systemd shows it as active */
export async function startUnit(unit: string): Promise<string | undefined> {
  const failure = await asked('start', unit, START_DEADLINE_MS)
  // Somebody else, or the timer, may have started it at the same moment.
  const until = performance.now() + (failure === undefined ? START_DEADLINE_MS : 0)
  for (;;) {
    const state = (await unitProperties(unit, ['ActiveState']))?.get('ActiveState')
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
