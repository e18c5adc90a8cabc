/** Every object of every cluster has its answer, which is the plan's, and which fits on the screen. */

import { describe, expect, it } from 'vitest'
import { withAges, withoutRoot } from '../../../src/core/answer/names.ts'
import { clusterContext } from '../../../src/core/cluster/context/cluster-context.ts'
import type { ClusterExplanation } from '../../../src/core/cluster/explain/cluster-explanation.ts'
import { clusterExplainer } from '../../../src/core/cluster/explain/explain-cluster.ts'
import type { ClusterState } from '../../../src/core/cluster/model/cluster-state.ts'
import { planCluster } from '../../../src/core/cluster/pass/plan-cluster.ts'
import { clusterStatus } from '../../../src/core/cluster/status/cluster-status.ts'
import type { ClusterPlan } from '../../../src/core/plan/cluster-plan.ts'
import { namespacedName } from '../../../src/core/plan/pod-name.ts'
import { renderExplanation } from '../../../src/core/views/explain-view.ts'
import { namesOfClusterPlan, namesOfClusterRows, namesOfExplanation } from '../../../src/core/views/names.ts'
import { screenLines } from '../../../src/core/views/screen-lines.ts'
import { textWidth } from '../../../src/core/views/text-width.ts'
import { clusterOptions } from '../../helpers/cluster-builder.ts'
import { explainerOf } from '../../helpers/cluster-plan.ts'
import { anyCluster, healthyCluster } from '../../helpers/random-cluster.ts'
import { randomFrom } from '../../helpers/random-from.ts'
import { SCREENS } from '../../helpers/screens.ts'
import { explanationDefects } from './schema.ts'

const RUNS = Number(process.env.VOLCTL_RUNS ?? 40)
const seeds = Array.from({ length: RUNS }, (_, seed) => seed)

/** What is in the lists, as `kubectl get -o name` has it; what a list has twice, once. */
function objects(state: ClusterState): string[] {
  return [
    ...state.pods.map((pod) => `pod/${namespacedName(pod)}`),
    ...state.claims.map((claim) => `persistentvolumeclaim/${namespacedName(claim)}`),
    ...state.volumes.map(({ name }) => `persistentvolume/${name}`),
    ...state.attachments.map(({ name }) => `volumeattachment.storage.k8s.io/${name}`),
    ...state.nodes.map(({ name }) => `node/${name}`),
    ...state.drivers.map(({ name }) => `csidriver.storage.k8s.io/${name}`),
  ]
}

type Ask = (what: string) => ClusterExplanation

/** Who has to show what the plan says of them. */
function unshown(plan: ClusterPlan, state: ClusterState, ask: Ask): string[] {
  const known = new Set(objects(state))
  const isKnown = (what: string): boolean => known.has(what)
  const listed = (names: readonly (string | undefined)[]): string[] =>
    names.flatMap((name) => (name !== undefined && isKnown(name) ? name : []))
  const about = ({
    nodes = [],
    pods = [],
    volume,
    claim,
    attachment,
    driver,
  }: ClusterPlan['problems'][number]['about']) =>
    listed([
      ...nodes.map((node) => `node/${node}`),
      ...pods.map(({ namespace, name }) => `pod/${namespace}/${name}`),
      volume?.persistentVolume && `persistentvolume/${volume.persistentVolume}`,
      claim && `persistentvolumeclaim/${claim}`,
      attachment && `volumeattachment.storage.k8s.io/${attachment}`,
      (driver ?? volume?.driver) && `csidriver.storage.k8s.io/${driver ?? volume?.driver}`,
    ])
  return [
    ...plan.operations.flatMap((each) =>
      about({ nodes: [each.node], pods: each.pods, volume: each.volume, attachment: each.attachment.name }).flatMap(
        (what) => (ask(what).operations.includes(each) ? [] : [`${what} does not show ${each.kind} ${each.id}`]),
      ),
    ),
    ...plan.waiting.flatMap((each) =>
      about({ nodes: [each.node], pods: each.pods, ...(each.volume && { volume: each.volume }) }).flatMap((what) =>
        ask(what).waiting.includes(each) ? [] : [`${what} does not show that ${each.kind} waits: ${each.code}`],
      ),
    ),
    ...plan.problems.flatMap((each) =>
      about(each.about).flatMap((what) =>
        ask(what).problems.includes(each) ? [] : [`${what} does not show ${each.code}: ${each.message}`],
      ),
    ),
  ]
}

function contradictions(answer: ClusterExplanation): string[] {
  const { operations, waiting, problems, verdict, chains, what } = answer
  const serious = problems.filter(({ severity }) => severity !== 'info')
  const isQuiet = operations.length + waiting.length + serious.length === 0
  const texts = [
    verdict.message,
    ...chains.flatMap(({ decision, links }) => [decision.why, ...links.map(({ says }) => says)]),
  ]
  return [
    ...((verdict.state === 'nothing') === isQuiet || (isQuiet && verdict.code === undefined)
      ? []
      : [`${verdict.state}, and something else is shown`]),
    ...(texts.every((text) => text !== '' && !text.includes('undefined')) ? [] : ['an empty text']),
    ...(answer.subject.kind === 'Node' || answer.subject.kind === 'Driver' || chains.length > 0 ? [] : ['no chain']),
  ].map((defect) => `${what}: ${defect}`)
}

/** These clusters are broken in many ways at once: of a driver all of it is shown. */
const LINES_AT_MOST = 60

const shown = ({ verdict, createdAt }: ClusterExplanation): string =>
  withAges(withoutRoot(verdict.message, ''), createdAt)

const isCommand = (line: string): boolean => /^ +(?:kubectl|volctl) /.test(line)

const longestWord = (line: string): number => Math.max(...line.trim().split(' ').map(textWidth))

function screenDefects(answer: ClusterExplanation): string[] {
  return Object.entries(SCREENS).flatMap(([name, screen]) => {
    const text = renderExplanation(answer, screen)
    const words = text.replaceAll(/\s+/g, ' ')
    const { width = Number.POSITIVE_INFINITY } = screen as { width?: number }
    const lines = screenLines(text, screen.width)
    const wide = text
      .split('\n')
      .filter((line) => textWidth(line) > width && longestWord(line) < width - 30 && !isCommand(line))
    return [
      ...(lines <= LINES_AT_MOST ? [] : [`${lines} lines`]),
      ...wide.map((line) => `too wide: ${line}`),
      ...(answer.subject.kind === 'Node' || words.includes(shown(answer).replaceAll(/\s+/g, ' '))
        ? []
        : ['without the verdict']),
    ].map((defect) => `${answer.what} on ${name}: ${defect}`)
  })
}

function defects(state: ClusterState): unknown[] {
  const options = clusterOptions()
  const plan = planCluster(state, options)
  const { explain, asks } = clusterExplainer(clusterContext(state, options), plan)
  const answers = new Map<string, ClusterExplanation>()
  const ask: Ask = (what) => {
    const answer = answers.get(what) ?? explain(what)
    answers.set(what, answer)
    return answer
  }
  const named = [...namesOfClusterPlan(plan), ...namesOfClusterRows(clusterStatus(state, options).status.rows)]
  const all = [...new Set([...asks(), ...objects(state), ...named])].map(ask)
  // An answer's own name is a question, too.
  const again = all.flatMap((answer) => namesOfExplanation(answer)).filter((name) => ask(name).subject === undefined)
  return [
    ...unshown(plan, state, ask),
    ...all.flatMap(contradictions),
    ...all.flatMap(screenDefects),
    ...again,
    ...all.flatMap((answer) => explanationDefects(answer)),
  ]
}

describe('every object has an answer that fits the screen and agrees with the plan', () => {
  it.each(seeds)('any cluster, seed %i', (seed) => expect(defects(anyCluster(randomFrom(seed)))).toEqual([]))

  it.each(seeds.slice(0, 12))('a healthy cluster, seed %i', (seed) => {
    const state = healthyCluster(randomFrom(seed))
    expect(defects(state)).toEqual([])
    const { explain } = explainerOf(state)
    const troubled = objects(state).filter((what) => explain(what).verdict.state !== 'nothing')
    expect(troubled).toEqual([])
  })
})
