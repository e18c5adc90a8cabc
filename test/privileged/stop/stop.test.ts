/** S35 beside a real systemd: the kubelet runs again at every end of an apply that has stopped it. */
import { describe, expect, it } from 'vitest'
import { inNamespace } from '../../helpers/in-namespace.ts'
import { noSystemd } from '../../helpers/systemd/start.ts'
import { POINTS } from './place.ts'
import type { After } from './stop.worker.ts'

const WORKER = new URL('./stop.worker.ts', import.meta.url)
const run = <T = After & { readonly same: boolean }>(
  scenario: string,
  args: readonly string[] = [],
): Promise<Readonly<Record<string, T>>> => inNamespace<Readonly<Record<string, T>>>(WORKER, scenario, args)

const RUNS = { kubelet: 'active', timer: 'not-found' }
const WHOLE = ['begin', 'stop', 'start, runs', 'end']
const text = (pattern: RegExp): unknown => expect.stringMatching(pattern)

describe.skipIf(noSystemd !== undefined)(
  `apply --stop-kubelet${noSystemd === undefined ? '' : ` (${noSystemd})`}`,
  () => {
    it('S35: stops the kubelet, waits, applies, starts it, and says so', async () => {
      const { meanwhile, json, table, question, nothing, journal } = (await run('whole')) as Readonly<
        Record<string, unknown>
      >
      expect(meanwhile).toBe('active')
      expect(json).toMatchObject({ status: 0, ...RUNS, left: false, journal: WHOLE })
      const { downtime } = json as After
      expect(downtime).toMatchObject({ unit: 'kubelet.service', runs: true, ready: true })
      expect(downtime?.downMs).toBeGreaterThan(1000)
      expect(downtime?.downMs).toBeLessThan(20_000)
      expect(question).toMatch(/once kubelet.service is stopped.*waits 1s.*at most 20s/s)
      expect(table).toMatch(/kubelet\.service runs again, after \d+s; node node-1 is Ready\./)
      expect(nothing).toEqual({
        same: true,
        status: 0,
        said: text(/^Nothing here needs the kubelet to be stopped: kubelet.service keeps running\./),
      })
      expect(journal).toMatch(/kubelet\.service was stopped at \S+; started again after \d+s/)
    })

    it('S35: the kubelet runs again after every end', async () => {
      const { ofSecond, ...ends } = await run<After>('exits')
      const interrupted = {
        status: 130,
        ...RUNS,
        left: true,
        journal: WHOLE,
      }
      expect(ends).toEqual({
        interrupted: expect.objectContaining(interrupted),
        twice: expect.objectContaining({ status: 130, ...RUNS, left: true }),
        failed: expect.objectContaining({ status: 1, ...RUNS, left: true, journal: ['begin', 'stop', 'start, runs'] }),
        second: expect.objectContaining({ status: 0, ...RUNS, left: false, journal: WHOLE }),
        masked: expect.objectContaining({
          status: 3,
          said: text(/^KubeletNotStarted: /),
          kubelet: 'inactive',
          journal: WHOLE.with(2, 'start, does not run'),
        }),
      })
      // Its timer shows that the kubelet may start at any moment.
      expect(ofSecond).toEqual({
        status: 4,
        said: text(/^KubeletNotStopped: .*volctl-start-kubelet.timer may start the unit/),
      })
    })

    it('S35: a terminal that is closed does not end it', async () => {
      expect(await run('closed')).toEqual({
        started: true,
        ended: true,
        timer: 'not-found',
        left: false,
        journal: WHOLE,
      })
    })

    it('S35: killed at any moment, systemd starts it, its timer goes, and the next apply works', async () => {
      const { killed, next } = (await run('killed')) as Readonly<Record<string, unknown>>
      expect(killed).toEqual(POINTS.map((point) => ({ point, killed: true, runs: true, gone: true })))
      expect(next).toMatchObject({ status: 0, ...RUNS, left: false })
    })

    it('S35: what comes to the stop after its timer has fired stops nothing', async () => {
      expect(await run('late')).toMatchObject({
        status: 4,
        said: text(/^KubeletNotStopped: .*no time is left/),
        kubelet: 'active',
        left: true,
        journal: ['begin'],
      })
    })

    it('S35: a reboot meanwhile starts it', async () => {
      expect(await run('reboot')).toEqual({
        before: 'active',
        started: true,
        timer: 'not-found',
        journal: ['begin', 'stop'],
      })
    })

    it('S35: a unit that does not run stays as it was', async () => {
      const { stopped, masked, failed, restarting, timed } = await run('before')
      const stays = {
        status: 0,
        said: text(/^The kubelet does not run: it is not stopped now/),
        same: true,
        timer: 'not-found',
      }
      expect({ stopped, masked, failed }).toEqual({
        stopped: expect.objectContaining({ ...stays, kubelet: 'inactive' }),
        masked: expect.objectContaining({ ...stays, kubelet: 'inactive' }),
        failed: expect.objectContaining({ ...stays, kubelet: 'failed' }),
      })
      const refused = { status: 4, said: text(/^KubeletNotStopped: /), same: true, left: true, journal: [] }
      expect(restarting).toMatchObject({ ...refused, kubelet: 'activating', timer: 'not-found' })
      expect(timed).toMatchObject({ ...refused, kubelet: 'inactive' })
    })

    it('S35: refused', async () => {
      const { keepsContainers, ...refused } = await run('refused')
      const by = (said: string): unknown =>
        expect.objectContaining({
          status: 4,
          said: text(new RegExp(`^KubeletNotStopped: .*${said}`)),
          same: true,
          left: true,
          journal: [],
        })
      expect(refused).toEqual({
        noTimer: expect.objectContaining({
          status: 4,
          said: text(/^KubeletNotStopped: .*no timer could be set/),
          same: true,
          left: true,
        }),
        startedByOthers: by('may start kubelet.service at any moment'),
        endsContainers: by('would end containers'),
        stopsOthers: by('would stop .* as well'),
        servesApi: by('API server'),
        noUnit: by('runs in no systemd unit'),
      })
      expect(keepsContainers).toMatchObject({ status: 0, ...RUNS, left: false })
    })
  },
)
