import { describe, expect, it } from 'vitest'
import type { Plan, PlanOptions } from '../../../src/core/plan/plan.ts'
import { planNode } from '../../../src/core/reconcile/plan-node.ts'
import { node, uid } from '../../helpers/node-builder.ts'
import { planOptions } from '../../helpers/plan-options.ts'
import { GONE, plan } from '../planned.ts'

const built = () =>
  node()
    .livingPod(uid(2), 'app', [{ name: 'data', persistentVolumeClaim: { claimName: 'claim-1' } }])
    .persistentVolume('pv-1', { handle: 'vol-1' })
    .published(uid(2), 'pv-1', '7:1')
    .staged('vol-1', '7:1')
    .mount(`pods/${GONE}/volumes/kubernetes.io~secret/token`)

const unmatched = (options: Partial<PlanOptions>) =>
  plan(built(), options)
    .problems.filter(({ code }) => code === 'NothingNamed')
    .map(({ message, severity }) => [severity, message.split(' matches')[0]])

/** How many directories a node has to remove is said of the node. */
const OF_RUNNING = ['PodStillRunning', 'PodGoneButRunning']

describe('a name that --pod or --volume gives', () => {
  it.each<[string, Partial<PlanOptions>, string[]]>([
    ['a pod that is not here', { pods: ['default/app', 'default/ap'] }, ['default/ap']],
    ['a volume that is not here', { volumes: ['pv-2'] }, ['pv-2']],
  ])('is of nothing, and said: %s', (_name, options, want) =>
    expect(unmatched(options)).toEqual(want.map((each) => ['warning', each])),
  )

  it.each<{ name: string; options: Partial<PlanOptions>; is: string[] }>([
    {
      name: 'nothing is named',
      options: {},
      is: [
        ...['ClaimMissing', 'StillInUse', 'PodStillRunning', 'OrphanPodDir', 'PodGoneButRunning'],
        ...['MayBeInUse', 'MountedButNotAttached'],
      ],
    },
    { name: 'a pod', options: { pods: [GONE] }, is: ['OrphanPodDir'] },
    { name: 'the pod that still runs', options: { pods: [uid(4)] }, is: OF_RUNNING },
    { name: 'a volume', options: { volumes: ['token'] }, is: [] },
  ])('waits and problems of other things are left out, and counted: $name', ({ options, is }) => {
    const builder = () =>
      built().persistentVolume('pv-2').staged('pv-2', '7:2').published(uid(4), 'pv-2', '7:2').running(uid(4))
    const whole = plan(builder())
    const made = plan(builder(), options)
    const found = ({ waiting, problems }: Plan): string[] => [...waiting, ...problems].map(({ code }) => code)
    expect(found(made)).toEqual(is)
    // Of directories is said how many --orphans would remove of what is named: nothing that is left out.
    const counted = (each: Plan): string[] => found(each).filter((code) => code !== 'OrphanPodDir')
    const left = (each: Plan): number => counted(each).length + each.operations.length
    expect(made.summary.filtered).toBe(left(whole) - left(made))
  })

  it('is of nothing where it is empty', () => {
    expect(plan(built(), { orphans: true }).operations).not.toEqual([])
    expect(plan(built(), { orphans: true, volumes: [''] }).operations).toEqual([])
  })

  it('may be gone when an apply looks again', () => {
    const { problems } = planNode(built().build(), planOptions({ pods: ['x/y'] }), 'again')
    expect(problems.filter(({ code }) => code === 'NothingNamed')).toEqual([])
  })
})
