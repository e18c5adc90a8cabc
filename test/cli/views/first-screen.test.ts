/**
 * What stops something is on the first screen, of 24 lines of 80 columns: every cause of severity error stands there by the name of its
 * subject, or is counted among those that stand below. Of every recorded node and cluster, and of some as no one would think of them.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ClusterState } from '../../../src/core/cluster/model/cluster-state.ts'
import { statusAndPlan } from '../../../src/core/explain/status/node-status.ts'
import type { Cause } from '../../../src/core/plan/cause.ts'
import type { ClusterPlan } from '../../../src/core/plan/cluster-plan.ts'
import { podTextIn, shownSubject } from '../../../src/core/plan/names.ts'
import { withAdvice } from '../../../src/core/plan/next-steps.ts'
import type { Plan } from '../../../src/core/plan/plan.ts'
import { decideNode } from '../../../src/core/reconcile/plan-node.ts'
import type { CsiSocket } from '../../../src/core/rpc/endpoints.ts'
import { type Answer, withoutRoot } from '../../../src/core/views/answer/answer.ts'
import { clusterAnswerOf } from '../../../src/core/views/answer/cluster-answer.ts'
import { answerOf } from '../../../src/core/views/answer/make-answer.ts'
import { renderPlan } from '../../../src/core/views/plan-view.ts'
import { renderStatus } from '../../../src/core/views/status-view.ts'
import type { PodRef } from '../../../src/core/volumes/finding.ts'
import { podName } from '../../../src/core/volumes/pods.ts'
import type { NodeState } from '../../../src/core/volumes/snapshot.ts'
import { captureFiles, recorded } from '../../helpers/captures.ts'
import { planOf } from '../../helpers/cluster-plan.ts'
import { planOptions } from '../../helpers/plan-options.ts'
import { anyCluster } from '../../helpers/random-cluster.ts'
import { randomFrom } from '../../helpers/random-from.ts'
import { buildNode, randomNode } from '../../helpers/random-node.ts'
import { SCREENS } from '../../helpers/screens.ts'
import { WORKED_CLUSTERS } from '../../helpers/worked-clusters.ts'
import { SCENES } from './cluster-scenes.ts'

const SCREEN = SCREENS['80x24']
const GIVEN = { applyFlags: [], settleMs: 120_000 }

interface Shown {
  readonly plan: Plan | ClusterPlan
  readonly answer: Answer
  readonly text: string
  readonly nameOf: (cause: Cause) => string
}

function shownOfNode(state: NodeState, orphans: boolean): Shown[] {
  const options = planOptions({ orphans })
  const decided = decideNode(state, options)
  const whole = withAdvice(decided.plan, GIVEN)
  const told = statusAndPlan(decided, options, {}, GIVEN)
  return [
    { plan: whole, text: renderPlan(whole, SCREEN) },
    { plan: told.plan, text: renderStatus(told, SCREEN, { all: false }) },
  ].map((each) => {
    const podText = podTextIn(each.plan)
    return { ...each, answer: answerOf(each.plan), nameOf: (cause) => nameOf(cause, podText, each.plan.rootDir) }
  })
}

const CONTEXT = { applyFlags: ['--cluster'] }
const LOOK = { unfolded: false, context: CONTEXT }

function shownOfCluster(state: ClusterState): Shown[] {
  const whole = planOf(state)
  return [
    {
      plan: whole,
      answer: clusterAnswerOf(whole, CONTEXT),
      text: renderPlan(whole, SCREEN, LOOK),
      nameOf: (cause) => nameOf(cause, podName, ''),
    },
  ]
}

/** As a person knows it; of the node or cluster as a whole the beginning of the sentence. */
function nameOf({ subject, message }: Cause, podText: (pod: PodRef) => string, rootDir: string): string {
  const { volume, nodes, pod } = subject
  const name = (nodes === undefined && volume) || shownSubject(pod ? { pod } : subject, podText) || message.slice(0, 40)
  // A sentence has the whole UID, where a list has its beginning.
  return withoutRoot(name, rootDir).replaceAll(/\s+/g, ' ').replace(/\)$/, '')
}

const SIGNS = /^ {2}[!x] /gm

/** Causes of severity error that neither stand there nor are counted. */
function unseen({ plan, answer, text, nameOf: name }: Shown): string[] {
  const lines = text.split('\n').slice(0, SCREEN.rows)
  const first = lines.join('\n')
  const seen = first.replaceAll(/\s+/g, ' ')
  const needs = /^Needs you.*\n(?: .*\n?)*/m.exec(first)?.[0] ?? ''
  const signs = needs.match(SIGNS)?.length ?? 0
  const counted = /^ {2}and (\d+) more \(-v/m.exec(needs)?.[1]
  const told = [...seen.matchAll(/\band (\d+) more\b/g)].reduce((sum, [, n]) => sum + Number(n), 0)
  const missing = (plan.summary.causes ?? []).filter(
    (cause) => cause.severity === 'error' && !seen.includes(name(cause)),
  )
  return [
    ...(missing.length > told ? missing.map((cause) => `${cause.code}: ${name(cause)}`) : []),
    // What is counted is what is not there.
    ...(counted !== undefined && signs + Number(counted) !== answer.needs.length
      ? [`${answer.needs.length} needs: ${signs} and ${counted} more`]
      : []),
  ]
}

const problemsOf = (shown: readonly Shown[]): string[] =>
  shown.flatMap((each) => {
    const bad = unseen(each)
    const length = each.text.split('\n').length - 1
    return bad.length > 0 || length > 40 ? [`${[...bad, `${length} lines`].join('\n')}\n${each.text}`] : []
  })

/** As they were; nobody answers on the registration socket; or the driver that is registered there does not. */
const DRIVERS: Readonly<Record<string, (socket: CsiSocket) => CsiSocket>> = {
  'as they were': (socket) => socket,
  'no registration': ({ path }) => ({ path, registered: false, error: 'connect ECONNREFUSED' }),
  silent: (socket) => ({ ...socket, registered: false, error: 'connect ECONNREFUSED' }),
}

describe.each(captureFiles())('%s', (path) => {
  it.each(Object.entries(DRIVERS))('its CSI drivers: %s', async (_, changed) => {
    const state = await recorded(path)
    const csiSockets = state.snapshot.csiSockets?.map(changed)
    const node = { ...state, snapshot: { ...state.snapshot, csiSockets } }
    for (const orphans of [false, true]) expect(problemsOf(shownOfNode(node, orphans))).toEqual([])
  })
})

it.each(Object.entries({ ...SCENES, ...WORKED_CLUSTERS }))('the cluster %s', (_, state) =>
  expect(problemsOf(shownOfCluster(state))).toEqual([]),
)

it('clusters as no one would think of them', () => {
  for (let seed = 1; seed <= 60; seed++)
    expect(problemsOf(shownOfCluster(anyCluster(randomFrom(seed)))), `seed ${seed}`).toEqual([])
})

it('nodes as no one would think of them', () =>
  fc.assert(
    fc.property(randomNode, fc.boolean(), (random, orphans) => {
      expect(problemsOf(shownOfNode(buildNode(random), orphans))).toEqual([])
    }),
    { numRuns: 60, seed: 3424 },
  ))

it("a path below another kubelet's directory, which ends as this one does, is shown whole", () => {
  const paths = '/data/var/lib/kubelet/pods/u1 (/var/lib/kubelet/pods/u2)'
  expect(withoutRoot(paths, '/var/lib/kubelet')).toBe('/data/var/lib/kubelet/pods/u1 (pods/u2)')
})
