/** S35 beside a real systemd: every end of an apply that has stopped the kubelet, at every moment. */
import { writeFileSync } from 'node:fs'
import { beforeEach, expect } from 'vitest'
import { it } from '../../helpers/machine.ts'
import { until } from '../../helpers/until.ts'
import { VOLCTL } from '../../helpers/volctl-program.ts'
import { describeUnless } from '../describe-unless.ts'
import { named, unitText } from '../systemd/kubelet-unit.ts'
import { noSystemd, startSystemd } from '../systemd/start.ts'
import {
  after,
  interruptedBy,
  JSON_OUT,
  killedAt,
  PATIENCE_MS,
  QUICK,
  RUNS,
  stopPlaceForAll,
  TIMER,
  UNIT,
  untilStopped,
  untouched,
  WHOLE,
} from './place.ts'

/** Lines of what volctl does after the timer is armed, by their number or their end. */
const POINTS: readonly (number | string)[] = [
  ...Array.from({ length: 16 }, (_, line) => line),
  ...[`starting ${UNIT}`, `${UNIT} is active`, "the kubelet's health port answers", `${TIMER} is gone`],
]
const text = (pattern: RegExp): unknown => expect.stringMatching(pattern)

describeUnless(noSystemd, 'apply --stop-kubelet', () => {
  const stopPlace = stopPlaceForAll()
  beforeEach(() => stopPlace().reset())

  it('S35: the kubelet runs again after every end', async () => {
    const place = stopPlace()
    const twice = await interruptedBy(place, async (run) => {
      place.signal(run, 'SIGINT')
      await until(() => run.said().includes('Interrupt again'), PATIENCE_MS)
      place.signal(run, 'SIGINT')
    })
    expect(twice).toMatchObject({ status: 130, ...RUNS, left: true })
    const failed = await interruptedBy(place, () =>
      place.node.api.setFaults({ action: { type: 'status', status: 500 } }),
    )
    place.node.api.setFaults()
    expect(failed).toMatchObject({ status: 1, ...RUNS, left: true, journal: WHOLE })
    const masked = await interruptedBy(place, () => place.systemd.systemctl('mask', '--runtime', UNIT))
    place.systemd.systemctl('unmask', '--runtime', UNIT)
    expect(masked).toMatchObject({
      status: 3,
      said: text(/^KubeletNotStarted: .*masked/),
      kubelet: 'inactive',
      left: false,
      journal: WHOLE.with(2, 'start, does not run'),
    })
  })

  it('S35: a terminal that is closed does not end it', async () => {
    const place = stopPlace()
    const words = place.words('--yes', '--settle', '4s', '--max-downtime', '40s')
    const volctl = [VOLCTL, ...words].map((word) => `'${word}'`).join(' ')
    const run = place.start('script', '--quiet', '--flush', '--command', volctl, '/dev/null')
    await untilStopped(place, run)
    // nsenter waits for script(1), which has the terminal.
    place.inside('pkill', '-KILL', '-x', 'script')
    expect(await until(() => place.state() === 'active', PATIENCE_MS)).toBe(true)
    expect(await until(() => place.journal().at(-1) === 'end', PATIENCE_MS)).toBe(true)
    expect({ timer: place.state(TIMER), left: place.isMounted(), journal: place.journal() }).toEqual({
      timer: 'not-found',
      left: false,
      journal: WHOLE,
    })
  })

  it('S35: killed at any moment, systemd starts it, and its timer goes', async () => {
    // After its last lines it may end before the signal comes.
    for (const point of POINTS)
      expect(await killedAt(stopPlace(), point), `${point}`).toMatchObject({ runs: true, gone: true })
  })

  it('S35: what comes to the stop after its timer has fired stops nothing', async () => {
    const place = stopPlace()
    // systemctl is slow with the last answer before the stop: the timer fires meanwhile.
    const own = `${place.directory}/systemctl`
    const slow = `case "$*" in *ActiveState*,*) ;; *ActiveState*) sleep 1.2 ;; esac`
    writeFileSync(`${own}.slow`, `#!/bin/sh\n${slow}\nexec ${own} "$@"\n`, { mode: 0o755 })
    place.inside('cp', '/usr/bin/systemctl', own)
    place.inside('mount', '--bind', `${own}.slow`, '/usr/bin/systemctl')
    const ended = await place.run(...place.words(...JSON_OUT, '--settle', '100ms', '--max-downtime', '1200ms'))
    place.inside('umount', '/usr/bin/systemctl')
    expect(after(place, ended)).toMatchObject({
      status: 4,
      said: text(/^KubeletNotStopped: .*no time is left/),
      kubelet: 'active',
      left: true,
      journal: ['begin', 'end'],
    })
  })

  it('S35: a unit that does not run stays as it was; one whose containers live on is stopped', async () => {
    const place = stopPlace()
    const { systemd } = place
    const stays = async (kubelet: string, ended = {}): Promise<void> =>
      expect(await untouched(place)).toMatchObject({
        ...{ status: 0, said: text(/^The kubelet does not run.*: it is not stopped now/), same: true, kubelet },
        ...{ timer: 'not-found', ...ended },
      })
    const asBeside = { left: true, journal: [] }
    systemd.systemctl('stop', UNIT)
    systemd.systemctl('mask', '--runtime', UNIT)
    await stays('inactive')
    systemd.systemctl('unmask', '--runtime', UNIT)
    systemd.unit(UNIT, unitText('/bin/false'))
    systemd.systemctl('start', '--no-block', UNIT)
    await systemd.until('ActiveState', 'failed')
    place.forget()
    await stays('failed')
    systemd.unit(UNIT, unitText('/bin/false', 'Restart=always\nRestartSec=1h\n'))
    systemd.systemctl('start', '--no-block', UNIT)
    await systemd.until('SubState', 'auto-restart')
    place.forget()
    await stays('activating', asBeside)
    systemd.systemctl('stop', UNIT)
    systemd.unit(UNIT, unitText(place.command()))
    // Somebody's own: that of a volctl which was killed is shown by a second apply.
    place.inside('systemd-run', '--on-active=1h', `--unit=${UNIT}`)
    await stays('inactive', asBeside)
    systemd.systemctl('stop', 'kubelet.timer')

    const container = `${named(`${place.directory}/shim`, 'containerd-shim')} -c "sleep infinity & wait" & `
    place.restart(place.command(container), 'KillMode=process\n')
    const stopped = after(place, await place.run(...place.words(...JSON_OUT, ...QUICK)))
    expect(stopped).toMatchObject({ status: 0, ...RUNS, left: false })
    systemd.systemctl('kill', '--kill-whom=all', UNIT)
  })

  it('S35: a reboot meanwhile starts it', async () => {
    const place = stopPlace()
    const run = place.start(VOLCTL, ...place.words(...JSON_OUT, '--settle', '20s', '--max-downtime', '60s'))
    await untilStopped(place, run)
    expect(place.state(TIMER)).toBe('active')
    await place.systemd[Symbol.asyncDispose]()
    await run.ended
    place.systemd = await startSystemd(place.directory, true)
    expect(await until(() => place.state() === 'active', PATIENCE_MS)).toBe(true)
    expect({ timer: place.state(TIMER), journal: place.journal() }).toEqual({
      timer: 'not-found',
      journal: ['begin', 'stop'],
    })
  })
})
