import { describe, expect, it } from 'vitest'
import { candidateFrom } from '../../../src/core/node/kubelet/kubelet-candidate.ts'
import { judgeKubelet, type KubeletAnswers } from '../../../src/core/node/kubelet/kubelet-state.ts'
import { serviceOf } from '../../../src/core/node/kubelet/scan-processes.ts'
import { activeOf, fieldsOf, unitStateIn } from '../../../src/core/node/kubelet/systemctl.ts'

const stopped = {
  activeState: 'inactive',
  subState: 'dead',
  unitFileState: 'disabled',
  inactiveSince: '2026-11-21T02:00:00Z',
  startedBy: [],
}
const chosen = candidateFrom({
  source: 'unit kubelet.service',
  unit: 'kubelet.service',
  args: ['--kubeconfig=/k'],
  workingDirectory: '/',
})

describe('the unit that runs the kubelet', () => {
  it.each([
    { name: 'k3s', cgroup: '0::/system.slice/k3s-agent.service\n', want: 'k3s-agent.service' },
    {
      name: 'MicroK8s under cgroup v1',
      cgroup: '4:memory:/x\n1:name=systemd:/system.slice/snap.microk8s.daemon-kubelite.service\n',
      want: 'snap.microk8s.daemon-kubelite.service',
    },
    { name: 'a shell', cgroup: '0::/user.slice/user-0.slice/session-3.scope\n', want: undefined },
    { name: 'a name that a shell would change', cgroup: '0::/system.slice/a$(b).service\n', want: undefined },
  ])('by its cgroup: $name', ({ cgroup, want }) => expect(serviceOf(cgroup)).toBe(want))
})

/** What a real systemd shows: privileged/safety/systemd.test.ts. */
describe('S11: judgeKubelet', () => {
  it.each<[name: string, answers: Partial<KubeletAnswers>, want: object]>([
    ['stopped', { state: stopped }, { running: false, mayReturn: false, stoppedAt: '2026-11-21T02:00:00Z' }],
    ['systemd silent', { state: 'no answer' }, { running: false, mayReturn: true }],
    ['no systemd', { state: 'no systemd' }, { running: false, mayReturn: false }],
    ['no unit', { state: undefined }, { running: false, mayReturn: false }],
    [
      'somebody listens where its API would be',
      { state: { ...stopped }, port: 10250 },
      { running: true, mayReturn: true, note: expect.stringContaining('10250') },
    ],
    [
      'forgotten by systemd',
      { state: { activeState: 'inactive', subState: 'dead', unitFileState: 'disabled', startedBy: [] } },
      { mayReturn: false, stopUnknown: true },
    ],
    ['its health port answers', { state: stopped, healthy: true }, { running: true, mayReturn: true }],
  ])('%s', (_name, answers, want) => {
    const state = judgeKubelet(
      { running: [], chosen, config: {} },
      { unit: 'kubelet.service', state: undefined, healthy: false, ...answers },
    )
    expect(state).toMatchObject(want)
    const down = answers.healthy !== true && answers.port === undefined
    const told = typeof answers.state === 'object' && answers.state.inactiveSince !== undefined
    expect('stoppedAt' in state).toBe(told && down)
    // Never "long ago" without somebody who says so.
    expect('stopUnknown' in state).toBe(!told && down)
  })

  it('a process decides, even of another root directory', () => {
    const other = candidateFrom({ source: 'process 9', pid: 9, args: ['--root-dir=/other'], workingDirectory: '/' })
    const answers = { unit: 'kubelet.service', state: stopped, healthy: false }
    expect(judgeKubelet({ running: [other], chosen, config: {} }, answers)).toMatchObject({
      running: true,
      mayReturn: true,
      pid: 9,
    })
  })
})

describe('unitStateIn', () => {
  const parseUnitState = (text: string, now?: Parameters<typeof unitStateIn>[1]) => unitStateIn(fieldsOf(text), now)

  it('reads what systemctl shows', () => {
    const text = 'LoadState=loaded\nActiveState=inactive\nSubState=dead\nUnitFileState=enabled\n'
    const shown = { activeState: 'inactive', subState: 'dead', unitFileState: 'enabled', startedBy: [] }
    expect(parseUnitState(text)).toEqual(shown)
    // The clock was set forward by a day since: it is not a day ago.
    const now = { wall: Date.parse('2026-11-22T02:06:02Z'), monotonic: 100_000 }
    expect(parseUnitState(`${text}InactiveEnterTimestampMonotonic=70000000\n`, now)).toMatchObject({
      inactiveSince: '2026-11-22T02:05:32.000Z',
    })
    for (const unknown of ['0', '', '200000000']) {
      const inactive = parseUnitState(`${text}InactiveEnterTimestampMonotonic=${unknown}\n`, now)
      expect(inactive).toMatchObject({ inactiveSince: undefined })
    }
    // What may start it, a queued job among them.
    const triggered = `${text}Job=7\nTriggeredBy=kubelet.timer kubelet.path\nUpheldBy=\n`
    expect(parseUnitState(triggered)?.startedBy).toEqual(['a queued job', 'kubelet.timer', 'kubelet.path'])
    const wanted = `${text}WantedBy=multi-user.target volctl-start-kubelet.service\n`
    expect(parseUnitState(wanted)?.startedBy).toEqual(['volctl-start-kubelet.timer'])
    const starters = 'Id=kubelet.timer\nActiveState=active\n\nId=kubelet.path\nActiveState=inactive\n'
    expect(activeOf(starters, ['kubelet.timer', 'kubelet.path'])).toEqual(['kubelet.timer'])
    expect(activeOf('', ['kubelet.timer'])).toEqual(['kubelet.timer'])
    expect(parseUnitState('LoadState=not-found\nActiveState=inactive\n')).toBeUndefined()
    expect(parseUnitState('')).toBeUndefined()
  })
})
