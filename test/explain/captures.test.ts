/** Everything on every captured node can be explained, and the answer is the plan's. A folder added later is picked up. */
import { describe, expect, it } from 'vitest'
import { memoize } from '../../src/core/base/collections.ts'
import type { Explanation } from '../../src/core/explain/explanation.ts'
import { allThings } from '../../src/core/explain/things.ts'
import { VolctlError } from '../../src/core/messages/findings.ts'
import type { Operation, PlanOptions } from '../../src/core/plan/plan.ts'
import { decideNode, planNode } from '../../src/core/reconcile/plan-node.ts'
import type { NodeState } from '../../src/core/volumes/snapshot.ts'
import { captureFiles, recorded } from '../helpers/captures.ts'
import { explanationDefects } from '../helpers/closed-schema.ts'
import { explainer } from '../helpers/explaining.ts'
import { planOptions } from '../helpers/plan-options.ts'

const files = captureFiles()

/** What everything on a node is called: pods, objects, volumes, mounts, files, devices. */
function questions(state: NodeState): string[] {
  const { context } = decideNode(state, planOptions())
  const { rootDir, tree = [], blockDevices = [] } = state.snapshot
  return [
    ...allThings(context).map(({ ask }) => ask),
    ...state.mounts.all.map(({ mountPoint }) => mountPoint),
    // What an atomic writer wrote lies where nothing else is to be told.
    ...tree.filter(({ path }) => path !== '.' && !path.includes('/..')).map(({ path }) => `${rootDir}/${path}`),
    ...blockDevices.map(({ name }) => name),
  ]
}

function check(state: NodeState, options: Partial<PlanOptions>): string[] {
  const plan = planNode(state, planOptions(options))
  const ask = explainer(state, planOptions(options))
  const about = new Map([...new Set(questions(state))].map((what) => [what, ask(what).explanation]))
  const shows = (what: string, id: string): boolean =>
    (about.get(what) ?? ask(what).explanation).operations.some((each) => each.id === id)
  const missing = plan.operations.flatMap(({ id, kind, pod, paths, attachment }) =>
    [
      ...(pod === undefined ? [] : [pod.uid]),
      ...paths.filter((path) => state.mounts.at(path).length > 0),
      ...(attachment === undefined ? [] : [attachment.name]),
    ].flatMap((what) => (shows(what, id) ? [] : [`${what} does not show ${kind} ${id}`])),
  )
  const silent = plan.waiting.flatMap(({ pod, kind }) =>
    pod === undefined || ask(pod.uid).explanation.waiting.length > 0
      ? []
      : [`${pod.uid} does not show that ${kind} waits`],
  )
  const order = new Map(plan.operations.map((operation, index) => [textOf(operation), index]))
  return [...missing, ...silent, ...[...about].flatMap(([what, answer]) => disagreements(what, answer, order))]
}

/** One look has each operation once. */
const textOf = memoize((operation: Operation) => JSON.stringify(operation))

function disagreements(what: string, answer: Explanation, order: ReadonlyMap<string, number>): string[] {
  const { operations, waiting, problems, verdict, volumes } = answer
  const ids = new Set(operations.map(({ id }) => id))
  const numbers = operations.map((operation) => order.get(textOf(operation)) ?? -1)
  const serious = problems.filter(({ severity }) => severity !== 'info')
  const isQuiet = operations.length + waiting.length + serious.length === 0
  const runs = operations.some(({ blocked }) => blocked === undefined)
  const texts = [verdict, ...volumes.map((view) => view.verdict)].map(({ message }) => message)
  return [
    ...(numbers.every((number, index) => number > (numbers[index - 1] ?? -1))
      ? []
      : ['operations that are not the plan’s, or in another order']),
    ...(operations.every(({ after }) => after.every((id) => ids.has(id))) ? [] : ['not what comes first']),
    ...((verdict.state === 'nothing') === isQuiet ? [] : [`${verdict.state}, and something else is shown`]),
    ...(verdict.state !== 'operation' || runs ? [] : ['an operation that does not run']),
    ...(texts.every((text) => text !== '' && !text.includes('undefined')) ? [] : ['a verdict without words']),
    ...explanationDefects(answer).map((defect) => JSON.stringify(defect)),
  ].map((defect) => `${what}: ${defect}`)
}

describe.each(files)('%s', (path) => {
  it('everything has its answer, which is the plan’s and has the shape of its schema', async () => {
    const state = await recorded(path)
    expect(check(state, { orphans: path.endsWith('before.json') })).toEqual([])
  })

  it('every name means one thing, or says what else to ask for', async () => {
    const state = await recorded(path)
    const { context } = decideNode(state, planOptions())
    const candidates = allThings(context)
    const ask = explainer(state, planOptions())
    for (const name of new Set(candidates.flatMap(({ names }) => names))) {
      try {
        ask(name)
      } catch (error) {
        expect(error).toBeInstanceOf(VolctlError)
        const { code, message } = error as VolctlError
        expect(code, name).toBe('AmbiguousName')
        const offered = candidates.filter((each) => message.includes(`${each.ask} (`))
        expect(offered.length, message).toBeGreaterThan(1)
        for (const each of offered) ask(each.ask)
      }
    }
  })
})
