/** S35 beside a real systemd: the kubelet runs again at every end of an apply that has stopped it; more: every-end.long.test.ts. */
import { readFileSync, writeFileSync } from 'node:fs'
import { beforeEach, expect } from 'vitest'
import type { Plan } from '../../../src/core/plan/plan.ts'
import { it } from '../../helpers/machine.ts'
import { until } from '../../helpers/until.ts'
import { VOLCTL } from '../../helpers/volctl-program.ts'
import { describeUnless } from '../describe-unless.ts'
import { named, unitText } from '../systemd/kubelet-unit.ts'
import { noSystemd } from '../systemd/start.ts'
import {
  after,
  forwarder,
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

describeUnless(noSystemd, 'apply --stop-kubelet', () => {
  const stopPlace = stopPlaceForAll()
  beforeEach(() => stopPlace().reset())

  it('S35: stops the kubelet, waits, applies, starts it, and says so', async () => {
    const place = stopPlace()
    const run = place.start(VOLCTL, ...place.words('--yes', ...QUICK))
    await untilStopped(place, run)
    expect(place.state(TIMER)).toBe('active')
    const ended = await run.ended
    expect(after(place, ended)).toMatchObject({ status: 0, ...RUNS, left: false, journal: WHOLE })
    expect(ended.stderr).toMatch(/once kubelet.service is stopped.*waits 1s.*at most 20s/s)
    expect(ended.stdout).toMatch(/kubelet\.service runs again, after \d+s; node node-1 is Ready\./)
    const { stdout } = await place.run('journal')
    expect(stdout).toMatch(/kubelet\.service was stopped at \S+; started again after \d+s/)
    // Once more, when nothing is left.
    expect(await untouched(place)).toMatchObject({
      same: true,
      status: 0,
      said: expect.stringMatching(/^Nothing here needs the kubelet to be stopped: kubelet.service keeps running\./),
    })
  })

  it('S35: the kubelet runs again where a person interrupts', async () => {
    const interrupted = await interruptedBy(stopPlace(), (run) => stopPlace().signal(run, 'SIGINT'))
    expect(interrupted).toMatchObject({
      ...{ status: 130, ...RUNS, left: true, journal: WHOLE },
      ends: ['interrupted Interrupted'],
    })
  })

  it('S35: what comes meanwhile is said: a second apply, a person who starts the unit', async () => {
    const place = stopPlace()
    const started = await interruptedBy(place, async (first) => {
      const second = await place.run(...place.words(...JSON_OUT, ...QUICK))
      expect({ status: second.status, said: second.stderr }).toEqual({
        status: 1,
        said: expect.stringMatching(
          new RegExp(`The kubelet does not run \\(.*Locked.*another apply is running: pid ${place.pidOf(first)} `, 's'),
        ),
      })
      place.systemd.systemctl('start', UNIT)
    })
    expect(started).toMatchObject({
      ...{ status: 3, ...RUNS, left: true, journal: WHOLE },
      ends: ['refused KubeletRunning'],
      downtime: { runs: true, byOthers: true },
    })
    expect(started.downtime?.ready).toBeUndefined()
  })

  it('S35: of two units that could start a kubelet here, the look after the stop takes the one that was stopped', async () => {
    const place = stopPlace()
    const flags = ['--node-name=node-1', `--kubelet-arg=root-dir=${place.node.root}`]
    place.systemd.unit('k3s-agent.service', unitText(`/bin/false agent ${flags.join(' ')}`))
    const ended = after(place, await place.run(...place.words(...JSON_OUT, ...QUICK)))
    place.remove('k3s-agent.service')
    expect(ended).toMatchObject({ status: 0, ...RUNS, left: false, journal: WHOLE })
  })

  it('S35: the timer of a systemd-run that does not answer is taken back', async () => {
    const place = stopPlace()
    const own = `${place.directory}/systemd-run`
    writeFileSync(`${own}.silent`, `#!/bin/sh\n${own} "$@"\nexec sleep infinity\n`, { mode: 0o755 })
    place.inside('cp', '/usr/bin/systemd-run', own)
    place.inside('mount', '--bind', `${own}.silent`, '/usr/bin/systemd-run')
    const ended = await untouched(place)
    place.inside('umount', '/usr/bin/systemd-run')
    expect(ended).toMatchObject({
      ...{ status: 4, same: true, ...RUNS, left: true },
      said: expect.stringMatching(/^KubeletNotStopped: .*systemd-run did not answer$/),
    })
  })

  it('S35: killed while it is stopped, systemd starts it, its timer goes, and the next apply works', async () => {
    const place = stopPlace()
    expect(await killedAt(place, 6)).toEqual({ killed: true, runs: true, gone: true })
    const next = after(place, await place.run(...place.words(...JSON_OUT, ...QUICK)))
    expect(next).toMatchObject({ status: 0, ...RUNS, left: false })
    expect(next.downtime).toMatchObject({ unit: UNIT, runs: true, ready: true })
    expect(next.downtime?.downMs).toBeGreaterThan(1000)
    expect(next.downtime?.downMs).toBeLessThan(20_000)
  })

  it('S35: refused', async ({ directory }) => {
    const place = stopPlace()
    const { systemd } = place
    const by = (said: string): unknown =>
      expect.objectContaining({
        status: 4,
        said: expect.stringMatching(new RegExp(`^KubeletNotStopped: .*${said}`)),
        same: true,
        left: true,
        journal: [],
      })
    // A timer of that name which an administrator made: no other can be set.
    systemd.unit(TIMER, `[Unit]\nDefaultDependencies=no\n[Timer]\nOnActiveSec=1h\nUnit=${UNIT}\n`)
    expect(await untouched(place)).toMatchObject({
      status: 4,
      said: expect.stringMatching(/^KubeletNotStopped: .*no timer could be set/),
      same: true,
      left: true,
    })
    systemd.systemctl('start', TIMER)
    expect(await untouched(place)).toEqual(by('may start kubelet.service at any moment'))
    const [, , , , ...node] = place.words('-o', 'json')
    const { inputs } = JSON.parse((await place.run('plan', ...node)).stdout) as Plan
    expect(inputs.kubelet.unstoppable?.command).toEqual(['systemctl', 'stop', TIMER])
    systemd.systemctl('stop', TIMER)
    place.remove(TIMER)

    const container = `${named(`${place.directory}/shim`, 'containerd-shim')} -c "sleep infinity & wait" & `
    place.restart(place.command(container))
    expect(await untouched(place)).toEqual(by('would end containers'))
    systemd.systemctl('stop', UNIT)

    place.restart(place.command())
    systemd.unit('other.service', unitText('/bin/sleep infinity').replace('[Unit]', `[Unit]\nBindsTo=${UNIT}`))
    systemd.systemctl('start', 'other.service')
    expect(await untouched(place)).toEqual(by('would stop .* as well'))
    systemd.systemctl('stop', 'other.service')
    place.remove('other.service')

    const { url } = place.node.api
    const { program, port } = await forwarder(directory, Number(new URL(url).port))
    const kubeconfig = `${directory}/forwarded.kubeconfig`
    const own = readFileSync(place.node.api.kubeconfig('admin'), 'utf8')
    writeFileSync(kubeconfig, own.replace(new URL(url).host, `127.0.0.1:${port}`), { mode: 0o600 })
    place.restart(place.command(`${process.execPath} ${program} & `))
    await until(
      () => place.inside('sh', '-c', `exec bash -c ": > /dev/tcp/127.0.0.1/${port}"`).status === 0,
      PATIENCE_MS,
    )
    expect(await untouched(place, '--kubeconfig', kubeconfig)).toEqual(by('API server'))

    systemd.systemctl('stop', UNIT)
    const run = place.start('sh', '-c', `exec ${place.command()}`)
    expect(await untouched(place)).toEqual(by('runs in no systemd unit'))
    place.inside('pkill', '-KILL', '-x', 'kubelet')
    await run.ended
  })
})
