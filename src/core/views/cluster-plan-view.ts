/**
 * A cluster's plan on a screen: the answer; with -v and `-o wide` each operation with what it rests on, each wait and each problem.
 */
import { type ClusterGiven, clusterAnswerOf } from '../answer/cluster-answer.ts'
import { count } from '../lang/count.ts'
import { firstFew } from '../lang/first-few.ts'
import type { ClusterOperation, ClusterPlan, ClusterProblem, ClusterWaiting } from '../plan/cluster-plan.ts'
import { podName } from '../plan/pod-name.ts'
import { renderAnswer } from './answer-view.ts'
import { fleetWords } from './fleet-words.ts'
import type { Screen } from './screen.ts'
import { evidenceText } from './words.ts'
import { wrapped } from './wrap.ts'

const NAMES_AT_MOST = 4

export interface ClusterPlanLook extends ClusterGiven {
  /** Nothing is folded. */
  readonly unfolded: boolean
}

/** The whole answer of `volctl plan --cluster`. */
export function renderClusterPlan(plan: ClusterPlan, screen: Screen, look: ClusterPlanLook): string {
  const full = look.unfolded || screen.wide
  const asks = look.applyCommand === undefined
  const answer = clusterAnswerOf(plan, look)
  const view = new ClusterPlanView(screen)
  const more = full ? [view.operations(plan.operations), view.waiting(plan.waiting), view.problems(plan.problems)] : []
  return renderAnswer(answer, screen, {
    unfolded: full,
    header: full || asks ? view.header(plan) : undefined,
    more: more.filter((part) => part !== ''),
  })
}

const CONTROLLER = { lives: 'lives', mayLive: 'may live', dead: 'does not run' } as const

class ClusterPlanView {
  readonly #screen: Screen

  constructor(screen: Screen) {
    this.#screen = screen
  }

  /** S31: which cluster, as whom, who else acts, and how much was seen. */
  header({ cluster, inputs, fleet }: ClusterPlan): string {
    const { api, controller, counts, lists, unjudged } = inputs
    const { paint } = this.#screen
    const user = api.user === undefined ? '' : ` as ${api.user}`
    const insecure = api.insecure === undefined ? '' : ' (not verified: anyone on the network path could answer)'
    const seen = [
      count(counts.nodes, 'node'),
      count(counts.pods, 'pod'),
      count(lists.volumeattachments?.count ?? counts.attachments, 'VolumeAttachment'),
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
    const numbers = new Map(operations.map(({ id }, index) => [id, index + 1]))
    return operations.map((each) => this.#operation(each, numbers)).join('')
  }

  #operation(operation: ClusterOperation, numbers: ReadonlyMap<string, number>): string {
    const { id, kind, reason, node, volume, pods, message, blocked, after, makeSure, evidence, rule, controllerWould } =
      operation
    const { paint, symbols, wide } = this.#screen
    const indent = '     '
    const users = pods.length === 0 ? '' : `, pods ${firstFew(pods.map(podName), NAMES_AT_MOST, 'and ').join(', ')}`
    const comes = after.flatMap((each) => numbers.get(each) ?? [])
    const order = comes.length === 0 ? '' : `; after ${comes.join(', ')}`
    return [
      this.#line(
        `${String(numbers.get(id)).padStart(3)}  `,
        `${kind} ${volume.name} on node ${node} (${reason})${users}${order}`,
      ),
      this.#line(indent, message),
      ...evidence.map((each) => this.#line(indent, evidenceText(each), paint.dim)),
      ...(blocked === undefined
        ? []
        : [
            this.#line(`${indent}${symbols.warn} `, `blocked: ${blocked.code}: ${blocked.message}`, paint.warn),
            this.#hint(indent, blocked.hint),
          ]),
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
    const lines = waiting.map(({ kind, code, volume, attachment, node, message, hint }) => {
      const what = `${kind} ${volume?.name ?? attachment ?? '?'} on node ${node}`
      return `${this.#line('  ', `${what}: ${code}: ${message}`)}${this.#hint('    ', hint)}`
    })
    return `${this.#line('', 'Waiting:', this.#screen.paint.bold)}${lines.join('')}`
  }

  problems(problems: readonly ClusterProblem[]): string {
    if (problems.length === 0) return ''
    const { paint, symbols } = this.#screen
    const lines = problems.map(({ severity, code, message, hint }) => {
      const sign = { error: symbols.bad, warning: symbols.warn, info: symbols.unknown }[severity]
      return `${this.#line(`  ${sign} `, `${code}: ${message}`)}${this.#hint('    ', hint)}`
    })
    return `${this.#line('', 'Problems:', paint.bold)}${lines.join('')}`
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
