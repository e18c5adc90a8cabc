/** What `volctl explain` shows of everything on every captured node fits on the screen: 80x24, 120x40, and a pipe. */
import { describe, expect, it } from 'vitest'
import type { Explanation } from '../../src/core/explain/explanation.ts'
import { allThings } from '../../src/core/explain/things.ts'
import { rankOf } from '../../src/core/explain/verdict.ts'
import { decideNode } from '../../src/core/reconcile/plan-node.ts'
import { withoutRoot } from '../../src/core/views/answer/answer.ts'
import { renderExplanation } from '../../src/core/views/explain-view.ts'
import { type Screen, screenLines } from '../../src/core/views/screen.ts'
import type { NodeState } from '../../src/core/volumes/snapshot.ts'
import { captureFiles, recorded } from '../helpers/captures.ts'
import { explainer } from '../helpers/explaining.ts'
import { planOptions } from '../helpers/plan-options.ts'
import { SCREENS, tooWide } from '../helpers/screens.ts'

/** Of these the screens are compared with what they were. */
const KEPT: ReadonlySet<string> = new Set(['healthy/node.json', 'recreate/before.json', 'forcedel-running/before.json'])

/** Every pod, claim, PersistentVolume, attachment, volume, driver and mount, and directories with several of them. */
function answersOn(state: NodeState): Explanation[] {
  const { context } = decideNode(state, planOptions())
  const ask = explainer(state, planOptions())
  const mounts = state.mounts.under(state.snapshot.rootDir).map(({ mountPoint }) => mountPoint)
  const { rootDir, tree = [] } = state.snapshot
  const shared = tree.filter(({ path, type }) => type === 'dir' && !/^pods\/.*\//.test(path) && path !== '.')
  const names = [
    ...allThings(context).map((each) => each.ask),
    ...mounts,
    ...shared.map(({ path }) => `${rootDir}/${path}`),
  ]
  return [...new Set(names)].map((what) => ask(what).explanation)
}

/** Four of five are at most a small terminal's; none is longer than this. */
const LINES_AT_MOST = 40
const ROWS = 24

function defects(answer: Explanation, screen: Screen): string[] {
  const { verdict, chain, rootDir } = answer
  const text = renderExplanation(answer, screen)
  const words = text.replaceAll(/\s+/g, ' ')
  const has = (what: string): string[] => (words.includes(what.replaceAll(/\s+/g, ' ')) ? [] : [`without ${what}`])
  const lines = screenLines(text, screen.width)
  return [
    ...(lines <= LINES_AT_MOST ? [] : [`${lines} lines`]),
    ...tooWide(text, screen.width).map((line) => `too wide: ${line}`),
    ...has(withoutRoot(verdict.message, rootDir)),
    ...saidTwice(words).map((sentence) => `twice: ${sentence}`),
    ...[...new Set(chain.map(({ state }) => state))].flatMap((state) => has(` ${state} `)),
  ].map((defect) => `${answer.what}: ${defect}`)
}

/** Sentences of some length, no commands, that stand on the screen twice. */
function saidTwice(words: string): string[] {
  const sentences = words.split(/[.;:] | [#→] /).map((each) => each.trim())
  return sentences.filter(
    (each, index) => each.length > 40 && !/^[a-z]+ /.test(each) && sentences.indexOf(each) !== index,
  )
}

/** The pod that is worst off, its volume, attachment and driver, and a pod that is well. */
function examples(answers: readonly Explanation[]): Explanation[] {
  const pods = answers
    .filter(({ subject }) => subject.kind === 'Pod')
    .toSorted((a, b) => rankOf(a) - rankOf(b) || b.chain.length - a.chain.length)
  const names = pods[0]?.chain.map(({ name }) => name) ?? []
  const own = answers.filter(
    ({ subject }) => ['PersistentVolume', 'VolumeAttachment'].includes(subject.kind) && names.includes(subject.name),
  )
  const drivers = answers.filter(({ subject }) => subject.kind === 'Driver')
  return [...new Set([pods[0], ...own, drivers.at(-1), pods.at(-1)])].filter((each) => each !== undefined)
}

describe.each(captureFiles())('%s', (path) => {
  it('everything fits, with its verdict and chain, and nothing twice', async () => {
    const answers = answersOn(await recorded(path))
    expect(answers.length).toBeGreaterThan(10)
    for (const [name, screen] of Object.entries(SCREENS))
      expect(
        answers.flatMap((answer) => defects(answer, screen)),
        name,
      ).toEqual([])
    const small = answers.filter((answer) => screenLines(renderExplanation(answer, SCREENS['80x24']), 80) <= ROWS)
    expect(small.length / answers.length).toBeGreaterThanOrEqual(0.8)
    if (!KEPT.has(path)) return
    const [worst, ...others] = examples(answers)
    const shown = [
      ...Object.entries(SCREENS).map(([name, screen]) => [name, worst, screen] as const),
      ...others.map((answer) => ['80x24', answer, SCREENS['80x24']] as const),
    ].map(([name, answer, screen]) => `==== ${answer?.what}, ${name}\n${answer && renderExplanation(answer, screen)}`)
    await expect(shown.join('\n')).toMatchFileSnapshot(`./screens/${path.replace('/', '-').replace('.json', '.txt')}`)
  })
})
