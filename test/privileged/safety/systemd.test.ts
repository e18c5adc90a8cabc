/** S11 beside a real systemd: what its units are, and when the kubelet of each stopped. */
import { describe, expect, it } from 'vitest'
import { inNamespace } from '../../helpers/in-namespace.ts'
import { noSystemd } from '../../helpers/systemd/start.ts'
import type { Seen } from './systemd.worker.ts'

const WORKER = new URL('./systemd.worker.ts', import.meta.url)
const run = <T = Seen>(scenario: string): Promise<Readonly<Record<string, T>>> =>
  inNamespace<Readonly<Record<string, T>>>(WORKER, scenario)

/** The device stays, whatever else is done, and the plan says for what it waits. */
const kept = (state: string, code: string, note?: string): object => ({
  kubelet: expect.objectContaining({ state, ...(note !== undefined && { note: expect.stringContaining(note) }) }),
  waiting: expect.arrayContaining([code]),
  kinds: expect.not.arrayContaining(['UnmountDevice']),
  status: 0,
  left: true,
})
/** Control: nothing else holds it. */
const gone = (note: string): object => ({
  kubelet: expect.objectContaining({ state: 'stopped', note: expect.stringContaining(note) }),
  waiting: [],
  kinds: expect.arrayContaining(['UnmountDevice']),
  status: 0,
  left: false,
})

describe.skipIf(noSystemd !== undefined)(
  `the kubelet's unit${noSystemd === undefined ? '' : ` (${noSystemd})`}`,
  () => {
    it('S11: stopped a moment ago, or forgotten by systemd, the settle time holds', async () => {
      const { forgotten, ...seen } = await run('stopped')
      expect(forgotten).toBe('')
      expect(seen).toEqual({
        running: kept('running', 'KubeletRunning'),
        stopped: kept('stopped', 'Settling', 'enabled, starts at next boot'),
        settled: gone('enabled'),
        disabled: kept('mayReturn', 'KubeletRunning', "the node's lease was renewed"),
        later: kept('stopped', 'Settling', 'disabled'),
        untold: kept('stopped', 'Settling', 'disabled'),
        hourLater: gone('disabled'),
      })
    })

    it('S11: apply waits for the settle time by itself, and does not with --no-wait', async () => {
      const { hasty, patient } = await run<{ readonly left: boolean; readonly said: string }>('waits')
      expect(hasty).toEqual({
        left: true,
        said: expect.stringMatching(/^Node:.*waiting time .*the kubelet stopped less than/s),
      })
      expect(patient).toEqual({
        left: false,
        said: expect.stringMatching(/^The kubelet stopped a moment ago: waiting \S+ for its last calls to end/),
      })
    })

    it('S11: masked', async () => {
      expect(await run('masked')).toEqual({
        masked: kept('stopped', 'Settling', 'masked'),
        hourLater: gone('masked'),
      })
    })

    it('S11: between two starts, and failed for good', async () => {
      expect(await run('failing')).toEqual({
        restarting: kept('mayReturn', 'KubeletRunning', 'auto-restart'),
        failed: kept('stopped', 'Settling', 'failed'),
        settled: gone('failed'),
      })
    })

    it('S11: stopped, while a timer may start it', async () => {
      expect(await run('triggered')).toEqual({
        idle: gone('inactive'),
        timed: kept('mayReturn', 'KubeletRunning', 'kubelet.timer may start the unit'),
        stopped: gone('inactive'),
      })
    })

    it('S11: held by another supervisor', async () => {
      expect(await run('supervised')).toEqual({
        between: kept('mayReturn', 'KubeletRunning', "the node's lease was renewed"),
        justEnded: kept('stopped', 'Settling', 'inactive'),
        hourLater: gone('inactive'),
      })
    })
  },
)
