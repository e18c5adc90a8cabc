/** Past applies on a screen: a line for each, and one for each of its operations. */

import type { PastApplies, PastApply, PastOperation } from '../apply/journal/read-journal.ts'
import { byteText, count, formatDuration, inSeconds, tally } from '../base/text.ts'
import { terminalSafe } from '../messages/terminal-safe.ts'
import { stateText, subject, whyText } from './apply-lines.ts'
import type { Palette } from './screen.ts'

export function renderJournal({ applies, damaged }: PastApplies, paint: Palette): string {
  const parts = applies.map((apply) => applyText(apply, paint))
  const notes = damaged.map(
    ({ file, line }) =>
      `${paint.warn('note')}     ${file}, line ${line} cannot be read: cut off by a crash, or by an apply that is still writing\n`,
  )
  if (parts.length === 0) parts.push('The journal has no applies.\n')
  return `${parts.join('\n')}${notes.length > 0 ? `\n${notes.join('')}` : ''}`
}

function applyText(apply: PastApply, paint: Palette): string {
  const { begunAt, plan, node, exit, operations, by } = apply
  const { sudoUser } = by
  const user = sudoUser === undefined ? by.user : `${sudoUser} as ${by.user}`
  const said = `by ${user} (pid ${by.pid})`
  const parts = [
    inSeconds(begunAt),
    `plan ${plan}`,
    `node ${node}`,
    said,
    endText(apply),
    tally(operations.map(({ state }) => state)),
  ]
  const head = terminalSafe(parts.join('  '))
  return [
    `${exit === 0 ? paint.bold(head) : paint.warn(head)}\n`,
    kubeletText(apply),
    ...operations.map((operation) => operationText(operation, paint)),
  ].join('')
}

function endText({ begunAt, endedAt, exit, interrupted }: PastApply): string {
  if (endedAt === undefined) return 'no end recorded: killed, or still running'
  const took = Date.parse(endedAt) - Date.parse(begunAt)
  const time = Number.isNaN(took) || took < 0 ? '' : ` after ${formatDuration(took)}`
  return `exit ${exit}${interrupted ? ' (interrupted)' : ''}${time}`
}

function kubeletText({ kubelet }: PastApply): string {
  if (kubelet === undefined) return ''
  const { unit = '', stoppedAt = '', startedAt, downMs = 0, runs } = kubelet
  const end =
    startedAt === undefined
      ? 'no start recorded: systemd starts it, or has started it'
      : runs === true
        ? `started again after ${formatDuration(downMs)}`
        : `did not start again at ${inSeconds(startedAt)}`
  return `  ${terminalSafe(`${unit} was stopped at ${inSeconds(stoppedAt)}; ${end}`)}\n`
}

function operationText(operation: PastOperation, paint: Palette): string {
  const { state, elapsedMs, deleted } = operation
  const time = elapsedMs === undefined ? '' : `  ${formatDuration(elapsedMs)}`
  const gone = deleted === undefined ? '' : `  deleted ${count(deleted.files, 'file')}, ${byteText(deleted.bytes)}`
  const line = `  ${stateText(state, 11, paint)}  ${subject(operation)}${time}${gone}\n`
  if (state === 'done') return line
  const end =
    state === 'unfinished'
      ? { message: 'began, but no end is recorded: volctl plan shows what is left to do' }
      : operation
  return `${line}${whyText(end, INDENT, undefined)}`
}

const INDENT = ' '.repeat(15)
