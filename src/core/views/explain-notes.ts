/** What waits and what is wrong, as `volctl explain` shows it. */
import type { Explanation, Verdict } from '../explain/explanation.ts'
import { firstFew } from '../lang/first-few.ts'
import type { Problem, Waiting } from '../plan/plan.ts'
import { subjectsText } from './explain-operations.ts'
import type { Screen } from './screen.ts'
import { terminalSafe } from './terminal-safe.ts'
import { wrapped } from './wrap.ts'

interface Note {
  readonly title: 'Waiting' | 'Problems'
  readonly code: string
  readonly text: string
}

/** All but what the verdict has said. */
export function notesBeside({
  verdict,
  waiting,
  problems,
  driver,
}: Explanation): Pick<Explanation, 'waiting' | 'problems'> {
  const isSaid = ({ code, message }: { readonly code: string; readonly message: string }): boolean =>
    code === verdict.code && (driver !== undefined || says(verdict, message))
  return {
    waiting: waiting.filter((each) => !isSaid(each)),
    problems: problems.filter((each) => !isSaid(each)),
  }
}

function says({ message, code }: Verdict, text: string): boolean {
  // The verdict on a dead mount says the same in more words.
  return message.includes(text) || code === 'DeadMount'
}

/** What a node's answer and a cluster's have in common. */
interface Coded {
  readonly waiting: readonly { readonly code: string }[]
  readonly problems: readonly Pick<Problem, 'code' | 'severity'>[]
}

/** Their codes, in a line. @param most codes of each kind that are named */
export function notesLine(answer: Coded, { paint, width }: Screen, most = Number.POSITIVE_INFINITY): string {
  const { waiting, problems } = answer
  const serious = problems.filter(({ severity }) => severity !== 'info')
  const parts = [counted('waits', waiting, most), counted('problem', serious, most)].flat()
  return parts.length === 0 ? '' : wrapped(`${paint.bold('Also:')} `, parts.join('; '), width)
}

function counted(what: string, list: readonly { readonly code: string }[], most: number): string[] {
  const codes = [...Map.groupBy(list, ({ code }) => code)].map(([code, own]) =>
    own.length === 1 ? code : `${own.length} ${code}`,
  )
  return codes.length === 0 ? [] : [`${what}: ${firstFew(codes, most, 'and ').join(', ')}`]
}

export function notesText({ waiting, problems }: Pick<Explanation, 'waiting' | 'problems'>, screen: Screen): string {
  return [
    listText('Waiting', waiting.map(waitingNote), screen),
    listText('Problems', problems.map(problemNote), screen),
  ].join('')
}

function waitingNote({ kind, code, message, pod, volume }: Waiting): Note {
  return { title: 'Waiting', code, text: `${kind} ${subjectsText(pod, volume)}: ${message}` }
}

function problemNote({ code, severity, message }: Problem): Note {
  return { title: 'Problems', code, text: severity === 'info' ? message : `${severity}: ${message}` }
}

function listText(title: Note['title'], notes: readonly Note[], { paint, width }: Screen): string {
  if (notes.length === 0) return ''
  const lines = notes.map(
    ({ code, text }) => `${paint.warn(`  ${terminalSafe(code)}`)}\n${wrapped('    ', text, width)}`,
  )
  return `\n${paint.bold(`${title}:`)}\n${lines.join('')}`
}
