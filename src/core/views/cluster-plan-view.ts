/**
 * A cluster's plan as a person reads it: who acts, then the operations by node, what waits, what is wrong, the worst first, and
 * last the verdict, the counts and the next command. What is alike is folded.
 */

import { count } from '../lang/count.ts'
import { firstFew } from '../lang/first-few.ts'
import type { ClusterOperation, ClusterPlan, ClusterProblem, ClusterWaiting } from '../plan/cluster-plan.ts'
import { podName } from '../plan/pod-name.ts'
import { fillsScreen } from './fit-parts.ts'
import { fleetWords } from './fleet-words.ts'
import type { Screen } from './screen.ts'
import { summaryLine } from './summary-line.ts'
import { evidenceText } from './words.ts'
import { wrapped } from './wrap.ts'

/** Of more entries that are alike the first few are shown. */
const SHOWN_OF_ALIKE = 3
const ALIKE_AT_MOST = 5
const NAMES_AT_MOST = 4
const UNFOLD = '-v or -o wide shows all'

export interface ClusterPlanLook {
  /** Nothing is folded. */
  readonly unfolded: boolean
  /** A pager shows what is longer than the screen: the verdict stands first as well. */
  readonly paged?: boolean
  /** The command that carries the plan out; absent: this is it. */
  readonly applyCommand?: string
}

/** The whole answer of `volctl plan --cluster`. */
export function renderClusterPlan(plan: ClusterPlan, screen: Screen, look: ClusterPlanLook): string {
  const view = new ClusterPlanView(screen, look.unfolded || screen.wide)
  const body = [
    view.header(plan),
    view.operations(plan.operations),
    view.waiting(plan.waiting),
    view.problems(plan.problems),
  ].join('')
  const end = view.end(plan, look.applyCommand)
  return `${look.paged === true && fillsScreen(body, screen) ? `${end}\n` : ''}${body}\n${end}`
}

const CONTROLLER = { lives: 'lives', mayLive: 'may live', dead: 'does not run' } as const

class ClusterPlanView {
  readonly #screen: Screen
  readonly #unfolded: boolean

  constructor(screen: Screen, unfolded: boolean) {
    this.#screen = screen
    this.#unfolded = unfolded
  }

  /** S31: which cluster, as whom, who else acts, and how much was seen. */
  header({ cluster, inputs, fleet }: ClusterPlan): string {
    const { api, controller, counts, unjudged } = inputs
    const { paint } = this.#screen
    const user = api.user === undefined ? '' : ` as ${api.user}`
    const insecure = api.insecure === undefined ? '' : ' (not verified: anyone on the network path could answer)'
    const seen = [
      count(counts.nodes, 'node'),
      count(counts.pods, 'pod'),
      count(counts.attachments, 'VolumeAttachment'),
      `${count(counts.inUse, 'volume')} in use on nodes`,
    ]
    return [
      this.#labelled('Cluster', `${cluster.server}${user}${insecure}`, insecure === '' ? undefined : paint.bad),
      this.#labelled(
        'Controller',
        `the attach/detach controller ${CONTROLLER[controller.state]}: ${controller.note}`,
        controller.state === 'dead' ? paint.warn : undefined,
      ),
      this.#labelled('Seen', seen.join(', ')),
      ...(fleet === undefined ? [] : [this.#labelled('Snapshots', fleetWords(fleet))]),
      ...unjudged.map(({ message }) => this.#labelled('Not judged', message, paint.warn)),
    ].join('')
  }

  operations(operations: readonly ClusterOperation[]): string {
    if (operations.length === 0) return ''
    const numbers = new Map(operations.map(({ id }, index) => [id, index + 1]))
    const alike = this.#alike(operations, ({ kind, reason, blocked }) => `${kind} ${reason} ${blocked?.code ?? ''}`)
    return alike
      .map(([first, ...others]) => {
        const { shown, hidden } = this.#folded([first, ...others])
        const state = first.blocked === undefined ? '' : `; blocked: ${first.blocked.code}`
        const title = `${first.kind}: ${first.reason}${state}`
        const more = hidden.length === 0 ? '' : this.#line('  ', `and ${hidden.length} more like it: ${UNFOLD}`)
        return `\n${this.#line('', title, this.#screen.paint.bold)}${shown.map((each) => this.#operation(each, numbers)).join('')}${more}`
      })
      .join('')
  }

  #operation(operation: ClusterOperation, numbers: ReadonlyMap<string, number>): string {
    const { id, node, volume, pods, message, blocked, after, makeSure, evidence, rule, controllerWould } = operation
    const { paint, symbols, wide } = this.#screen
    const indent = '     '
    const users = pods.length === 0 ? '' : `, pods ${firstFew(pods.map(podName), NAMES_AT_MOST, 'and ').join(', ')}`
    const comes = after.flatMap((each) => numbers.get(each) ?? [])
    const order = comes.length === 0 ? '' : `; after ${comes.join(', ')}`
    return [
      this.#line(`${String(numbers.get(id)).padStart(3)}  `, `${volume.name} on node ${node}${users}${order}`),
      this.#line(indent, message),
      ...evidence.map((each) => this.#line(indent, evidenceText(each), paint.dim)),
      ...(blocked === undefined
        ? []
        : [this.#line(`${indent}${symbols.warn} `, blocked.message, paint.warn), this.#hint(indent, blocked.hint)]),
      ...(makeSure === undefined ? [] : [this.#line(`${indent}${symbols.warn} `, `Make sure first ${makeSure}`)]),
      ...(controllerWould === undefined
        ? []
        : [this.#line(indent, `The controller would ${controllerWould}`, paint.dim)]),
      ...(wide
        ? [
            ...operation.steps.map(({ op, target }) => this.#line(`${indent}- `, `${op} ${target}`)),
            this.#line(indent, `rule ${rule}, id ${id}`, paint.dim),
          ]
        : []),
    ].join('')
  }

  waiting(waiting: readonly ClusterWaiting[]): string {
    if (waiting.length === 0) return ''
    const alike = this.#alike(waiting, ({ kind, code }) => `${kind} ${code}`)
    const texts = alike.map((same) => {
      const { shown, hidden } = this.#folded(same)
      const [first] = same
      const title = same.length === 1 ? first.code : `${same.length} ${first.code}`
      const names = hidden.map(({ volume, attachment, node }) => `${volume?.name ?? attachment ?? '?'} on ${node}`)
      const likewise =
        hidden.length === 0
          ? ''
          : this.#line('    ', `likewise ${firstFew(names, NAMES_AT_MOST, 'and ').join(', ')} (${UNFOLD})`)
      const said = shown.map(({ message }) => this.#line('    ', message)).join('')
      return `${this.#line('  ', `${title} (${first.kind})`)}${said}${likewise}${this.#hint('    ', first.hint)}`
    })
    return `\n${this.#line('', 'Waiting for others:', this.#screen.paint.bold)}${texts.join('')}`
  }

  problems(problems: readonly ClusterProblem[]): string {
    if (problems.length === 0) return ''
    const sorted = problems.toSorted((a, b) => RANK[a.severity] - RANK[b.severity])
    const alike = this.#alike(sorted, ({ severity, code, shape }) => `${severity} ${code} ${shape}`)
    const texts = alike.flatMap((same) => {
      if (this.#unfolded) return same.map((each) => this.#problem([each]))
      return [this.#problem(same)]
    })
    return `\n${this.#line('', 'Problems:', this.#screen.paint.bold)}${texts.join('')}`
  }

  #problem(same: readonly [ClusterProblem, ...ClusterProblem[]] | readonly [ClusterProblem]): string {
    const [{ severity, code, message, hint }, ...others] = same
    const { paint, symbols } = this.#screen
    const sign = { error: symbols.bad, warning: symbols.warn, info: symbols.unknown }[severity]
    const colour = { error: paint.bad, warning: paint.warn, info: paint.dim }[severity]
    const word = severity === 'info' ? 'note' : severity
    const what = others.length === 0 ? word : count(others.length + 1, word)
    const names = others.map(({ about }) => subjectOf(about))
    const likewise =
      others.length === 0
        ? ''
        : `; likewise ${firstFew([...new Set(names)], NAMES_AT_MOST, 'and ').join(', ')} (${UNFOLD})`
    return `${this.#line(`  ${sign} `, `${what} ${code}: ${message}${likewise}`, colour)}${this.#hint('    ', hint)}`
  }

  end(plan: ClusterPlan, applyCommand: string | undefined): string {
    const { paint, symbols } = this.#screen
    const first = plan.operations.find(({ blocked }) => blocked === undefined)
    const next =
      plan.refused?.hint ??
      (first === undefined || applyCommand === undefined ? undefined : `${applyCommand}  # asks first`)
    const verdict = this.#line('', summaryLine(plan, 'in this cluster'), paint.bold)
    const digest =
      plan.digest === undefined || plan.refused !== undefined
        ? ''
        : this.#line(
            '',
            `The plan takes finalizers off: apply asks for its digest, ${plan.digest}.${applyCommand === undefined ? '' : ` Where apply cannot ask: ${applyCommand} --confirm ${plan.digest}`}`,
          )
    return `${verdict}${digest}${next === undefined ? '' : this.#line(plan.refused === undefined ? 'Next: ' : `${symbols.arrow} `, next)}`
  }

  #alike<T>(entries: readonly T[], key: (entry: T) => string): (readonly [T, ...T[]])[] {
    return [...Map.groupBy(entries, key).values()] as unknown as (readonly [T, ...T[]])[]
  }

  #folded<T>(entries: readonly T[]): { readonly shown: readonly T[]; readonly hidden: readonly T[] } {
    if (this.#unfolded || entries.length <= ALIKE_AT_MOST) return { shown: entries, hidden: [] }
    return { shown: entries.slice(0, SHOWN_OF_ALIKE), hidden: entries.slice(SHOWN_OF_ALIKE) }
  }

  #labelled(label: string, text: string, colour?: (text: string) => string): string {
    return this.#line(`${label}:`.padEnd(12), text, colour)
  }

  #hint(indent: string, hint: string | undefined): string {
    const { paint, symbols } = this.#screen
    return hint === undefined ? '' : this.#line(`${indent}${symbols.arrow} `, hint, paint.dim)
  }

  #line(first: string, text: string, colour?: (text: string) => string): string {
    return wrapped(first, text, this.#screen.width, colour)
  }
}

const RANK = { error: 0, warning: 1, info: 2 } as const

/** What a problem is about, in a word. */
function subjectOf({ volume, claim, attachment, pods, nodes, driver, list }: ClusterProblem['about']): string {
  const [pod] = pods ?? []
  return volume?.name ?? claim ?? attachment ?? (pod && podName(pod)) ?? nodes?.[0] ?? driver ?? list ?? 'others'
}
