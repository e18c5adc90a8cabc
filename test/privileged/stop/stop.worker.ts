/** `volctl apply --stop-kubelet` beside a real systemd: what runs, and what is left, at every end (S35). */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { ApplyResult, KubeletDowntime } from '../../../src/core/plan/events.ts'
import { runScenario } from '../../helpers/scenario.ts'
import { named, unitText } from '../../helpers/systemd/kubelet-unit.ts'
import { startSystemd } from '../../helpers/systemd/start.ts'
import { VOLCTL } from '../../helpers/volctl-program.ts'
import {
  type Ended,
  forwarder,
  inStopPlace,
  POINTS,
  QUICK,
  type Run,
  STARTER,
  type StopPlace,
  TIMER,
  UNIT,
  within,
} from './place.ts'

/** How it stands after a run. */
export interface After {
  readonly status: number | undefined
  /** Code and words of an error, or what else was said. */
  readonly said: string
  readonly kubelet: string
  readonly timer: string
  readonly left: boolean
  readonly journal: readonly string[]
  readonly downtime?: KubeletDowntime | undefined
}

const codeOf = ({ stderr }: Ended): string => {
  const [line] = /^\{"apiVersion".*/m.exec(stderr) ?? []
  if (line === undefined) return stderr
  const { code, message } = JSON.parse(line) as { code: string; message: string }
  return `${code}: ${message}`
}

function after(place: StopPlace, ended: Ended): After {
  const document = ended.stdout.startsWith('{') ? (JSON.parse(ended.stdout) as ApplyResult) : undefined
  return {
    status: ended.status,
    said: codeOf(ended),
    kubelet: place.state(),
    timer: place.state(TIMER),
    left: place.isMounted(),
    journal: place.journal(),
    downtime: document?.downtime,
  }
}

const JSON_OUT = ['--yes', '-o', 'json']

async function untilStopped(place: StopPlace, run: Run): Promise<void> {
  const stopped = await Promise.race([run.ended, within(60_000, () => place.state() === 'inactive')])
  if (stopped !== true) throw new Error(`not stopped: ${JSON.stringify(stopped)} ${run.said()}`)
}

/** Runs volctl, does something once the kubelet is down, and waits for the end. */
async function interruptedBy(
  place: StopPlace,
  act: (run: Run) => unknown,
  ...flags: readonly string[]
): Promise<After> {
  rmSync('/var/lib/volctl', { recursive: true, force: true })
  place.forget()
  const run = place.start(VOLCTL, ...place.words(...JSON_OUT, '--settle', '6s', '--max-downtime', '40s', ...flags))
  await untilStopped(place, run)
  await act(run)
  return after(place, await run.ended)
}

/** The unit's state does not change by a run. */
async function untouched(
  place: StopPlace,
  forget = true,
  ...flags: readonly string[]
): Promise<After & { readonly same: boolean }> {
  if (forget) {
    rmSync('/var/lib/volctl', { recursive: true, force: true })
    place.forget()
  }
  const times = () =>
    place.systemd.systemctl('show', '--property=ActiveState,SubState,StateChangeTimestampMonotonic', UNIT)
  const before = times()
  const ended = await place.run(...place.words(...JSON_OUT, ...QUICK, ...flags))
  return { ...after(place, ended), same: times() === before }
}

await runScenario({
  /** The whole way, for a script and for a person; then once more, when nothing is left. */
  whole: (directory) =>
    inStopPlace(directory, async (place) => {
      let timer = ''
      const run = place.start(VOLCTL, ...place.words(...JSON_OUT, ...QUICK))
      await untilStopped(place, run)
      timer = place.state(TIMER)
      const json = after(place, await run.ended)
      place.forget()
      const table = await place.run(...place.words('--yes', ...QUICK))
      const { same, status, said } = await untouched(place, false)
      const nothing = { same, status, said }
      const journal = await place.run('journal')
      return { meanwhile: timer, json, table: table.stdout, question: table.stderr, nothing, journal: journal.stdout }
    }),

  /** What ends an apply while the kubelet is down. */
  exits: (directory) =>
    inStopPlace(directory, async (place) => {
      let ofSecond: object = {}
      const found = {
        interrupted: await interruptedBy(place, (run) => place.signal(run, 'SIGINT')),
        twice: await interruptedBy(place, async (run) => {
          place.signal(run, 'SIGINT')
          await within(10_000, () => run.said().includes('Interrupt again'))
          place.signal(run, 'SIGINT')
        }),
        failed: await interruptedBy(place, () =>
          place.node.api.setFaults({ action: { type: 'status', status: 500 } }),
        ).finally(() => place.node.api.setFaults()),
        second: await interruptedBy(place, async () => {
          const ended = await place.run(...place.words(...JSON_OUT, ...QUICK))
          ofSecond = { status: ended.status, said: codeOf(ended) }
        }),
        masked: await interruptedBy(place, () => place.systemd.systemctl('mask', '--runtime', UNIT)).finally(() =>
          place.systemd.systemctl('unmask', '--runtime', UNIT),
        ),
      }
      return { ...found, ofSecond }
    }),

  /** The terminal is closed while the kubelet is down: the apply goes on to its end. */
  closed: (directory) =>
    inStopPlace(directory, async (place) => {
      const words = place.words('--yes', '--settle', '4s', '--max-downtime', '40s')
      const volctl = [VOLCTL, ...words].map((word) => `'${word}'`).join(' ')
      const run = place.start('script', '--quiet', '--flush', '--command', volctl, '/dev/null')
      await untilStopped(place, run)
      // nsenter waits for script(1), which has the terminal.
      place.inside('pkill', '-KILL', '-x', 'script')
      const started = await within(60_000, () => place.state() === 'active')
      const ended = await within(60_000, () => place.journal().at(-1) === 'end')
      return { started, ended, timer: place.state(TIMER), left: place.isMounted(), journal: place.journal() }
    }),

  /** SIGKILL at each point, one after another; then an apply to its end. */
  killed: (directory) =>
    inStopPlace(directory, async (place) => {
      const killed: object[] = []
      for (const point of POINTS) {
        place.forget()
        const run = place.start(VOLCTL, ...place.words(...JSON_OUT, '-v', '--settle', '200ms', '--max-downtime', '2s'))
        const lines = (): string[] => run.said().split(`${TIMER} is armed`)[1]?.split('\n').slice(1) ?? []
        await run.saying(() =>
          typeof point === 'number' ? lines().length > point : lines().some((line) => line.endsWith(point)),
        )
        place.signal(run, 'SIGKILL')
        const { status } = await run.ended
        const runs = await within(10_000, () => place.state() === 'active')
        const gone = await within(5000, () => [TIMER, STARTER].every((unit) => place.state(unit) === 'not-found'))
        killed.push({ point, killed: status !== 0, runs, gone })
      }
      place.forget()
      return { killed, next: after(place, await place.run(...place.words(...JSON_OUT, ...QUICK))) }
    }),

  /** systemctl is slow with the last answer before the stop: the timer fires meanwhile. */
  late: (directory) =>
    inStopPlace(directory, async (place) => {
      const own = `${directory}/systemctl`
      const slow = `case "$*" in *ActiveState*,*) ;; *ActiveState*) sleep 1.2 ;; esac`
      writeFileSync(`${own}.slow`, `#!/bin/sh\n${slow}\nexec ${own} "$@"\n`, { mode: 0o755 })
      place.inside('cp', '/usr/bin/systemctl', own)
      place.inside('mount', '--bind', `${own}.slow`, '/usr/bin/systemctl')
      const ended = await place.run(...place.words(...JSON_OUT, '--settle', '100ms', '--max-downtime', '1200ms'))
      place.inside('umount', '/usr/bin/systemctl')
      return after(place, ended)
    }),

  /** The machine reboots while the kubelet is down. */
  reboot: (directory) =>
    inStopPlace(directory, async (place) => {
      const run = place.start(VOLCTL, ...place.words(...JSON_OUT, '--settle', '20s', '--max-downtime', '60s'))
      await untilStopped(place, run)
      const timer = place.state(TIMER)
      await place.systemd[Symbol.asyncDispose]()
      await run.ended
      place.systemd = await startSystemd(directory, true)
      const started = await within(20_000, () => place.state() === 'active')
      return { before: timer, started, timer: place.state(TIMER), journal: place.journal() }
    }),

  /** A unit that does not run is left as it is. */
  before: (directory) =>
    inStopPlace(directory, async (place) => {
      const { systemd } = place
      const found: Record<string, unknown> = {}
      systemd.systemctl('stop', UNIT)
      found.stopped = await untouched(place)
      systemd.systemctl('mask', '--runtime', UNIT)
      found.masked = await untouched(place)
      systemd.systemctl('unmask', '--runtime', UNIT)
      systemd.unit(UNIT, unitText('/bin/false'))
      systemd.systemctl('start', '--no-block', UNIT)
      await systemd.until(UNIT, 'ActiveState', 'failed')
      found.failed = await untouched(place)
      systemd.unit(UNIT, unitText('/bin/false', 'Restart=always\nRestartSec=1h\n'))
      systemd.systemctl('start', '--no-block', UNIT)
      await systemd.until(UNIT, 'SubState', 'auto-restart')
      found.restarting = await untouched(place)
      systemd.systemctl('stop', UNIT)
      systemd.unit(UNIT, unitText(place.command()))
      // Somebody's own: that of a volctl which was killed is shown by a second apply.
      place.inside('systemd-run', '--on-active=1h', `--unit=${UNIT}`)
      found.timed = await untouched(place)
      return found
    }),

  /** What may not be stopped keeps running. */
  refused: (directory) =>
    inStopPlace(directory, async (place) => {
      const { systemd } = place
      const found: Record<string, unknown> = {}
      // A timer of that name which an administrator made: no other can be set.
      systemd.unit(TIMER, `[Unit]\nDefaultDependencies=no\n[Timer]\nOnActiveSec=1h\nUnit=${UNIT}\n`)
      found.noTimer = await untouched(place)
      systemd.systemctl('start', TIMER)
      found.startedByOthers = await untouched(place)
      systemd.systemctl('stop', TIMER)
      place.remove(TIMER)

      const shim = named(`${directory}/shim`, 'containerd-shim')
      const container = `${shim} -c "sleep infinity & wait" & `
      place.restart(place.command(container))
      found.endsContainers = await untouched(place)
      place.restart(place.command(container), 'KillMode=process\n')
      found.keepsContainers = after(place, await place.run(...place.words(...JSON_OUT, ...QUICK)))
      systemd.systemctl('kill', '--kill-whom=all', UNIT)

      systemd.systemctl('stop', UNIT)
      place.restart(place.command())
      systemd.unit('other.service', unitText('/bin/sleep infinity').replace('[Unit]', `[Unit]\nBindsTo=${UNIT}`))
      systemd.systemctl('start', 'other.service')
      found.stopsOthers = await untouched(place)
      systemd.systemctl('stop', 'other.service')
      place.remove('other.service')

      const { url } = place.node.api
      const { program, port } = await forwarder(directory, Number(new URL(url).port))
      const kubeconfig = `${directory}/forwarded.kubeconfig`
      const own = readFileSync(place.node.api.kubeconfig('admin'), 'utf8')
      writeFileSync(kubeconfig, own.replace(new URL(url).host, `127.0.0.1:${port}`), { mode: 0o600 })
      place.restart(place.command(`${process.execPath} ${program} & `))
      await within(20_000, () => place.inside('sh', '-c', `exec bash -c ": > /dev/tcp/127.0.0.1/${port}"`).status === 0)
      found.servesApi = await untouched(place, true, '--kubeconfig', kubeconfig)

      systemd.systemctl('stop', UNIT)
      const run = place.start('sh', '-c', `exec ${place.command()}`)
      found.noUnit = await untouched(place)
      place.inside('pkill', '-KILL', '-x', 'kubelet')
      await run.ended
      return found
    }),
})
