/** The answer of `volctl doctor` on a screen, in the parts of every answer; -v and `-o wide` list each check below them. */

import { alike, count, present, tally } from '../base/text.ts'
import { CHECK_STATES, type Check, type Doctor } from '../explain/doctor/diagnose.ts'
import { type CommandContext, typed } from '../plan/commands.ts'
import type { Answer, Need } from './answer/answer.ts'
import { renderAnswer } from './answer-view.ts'
import { type Screen, wrapped } from './screen.ts'

/** @param isVerbose each check, as with -o wide */
export function renderDoctor(doctor: Doctor, screen: Screen, context: CommandContext, isVerbose = false): string {
  const all = isVerbose || screen.wide
  return renderAnswer(doctorAnswer(doctor, context), screen, {
    unfolded: all,
    more: [all && doctor.checks.map((each) => checkLine(each, screen)).join('')],
  })
}

function doctorAnswer(doctor: Doctor, context: CommandContext): Answer {
  const { node, rootDir, checks, works } = doctor
  const wrong = checks.filter(({ state, next }) => next !== undefined && state !== 'ok')
  const unknown = checks.filter(({ state, next }) => state === 'unknown' && next === undefined)
  const states = checks.map(({ state }) => state)
  return {
    headline: `${node === undefined ? 'this host' : `${node} (${rootDir})`}: ${sentence(doctor)}`,
    doubts: [],
    incomplete: false,
    parts: [],
    needs: wrong.toSorted((a, b) => rankOf(a) - rankOf(b)).map(needOf),
    notes: alike(unknown, ({ message }) => message).map(
      (same) => `not known: ${same.map(nameOf).join(', ')}: ${same[0].message}`,
    ),
    counts: `${count(checks.length, 'check')}: ${tally(states, CHECK_STATES)} (-o wide shows all)`,
    next: [
      typed(
        works.plan
          ? { argv: ['volctl', 'plan'], why: 'what is wrong with the volumes' }
          : { first: 'do that', argv: ['volctl', 'doctor'], why: 'checks again' },
        context,
      ),
    ],
  }
}

function sentence({ works, source }: Doctor): string {
  if (!works.plan)
    return source === 'snapshot' ? 'no plan can be made from this snapshot' : 'volctl plan cannot work here'
  if (works.apply === undefined) return 'a plan can be made from this snapshot'
  return works.apply ? 'volctl plan and apply can work here' : 'volctl plan can work here, volctl apply cannot'
}

function needOf(check: Check): Need {
  const { state, message, next } = check
  const severity = state === 'failed' ? 'error' : 'warning'
  return { severity, text: `${nameOf(check)}: ${message}`, blocks: [], remedy: present(next) }
}

function nameOf({ title, about }: Check): string {
  return present(title, about).join(' ')
}

/** What to mend first: without root much else fails; then what keeps plan from working, then apply, then the worst. */
function rankOf({ id, prevents, state }: Check): number {
  if (id === 'Root') return 0
  return prevents === 'plan' ? 1 : prevents === 'apply' ? 2 : 3 + CHECK_STATES.indexOf(state)
}

function checkLine(check: Check, { paint, symbols, width }: Screen): string {
  const { state, message } = check
  const { good, bad, warn, unknown } = symbols
  const sign = { failed: bad, unknown, warning: warn, ok: good }[state]
  const colour = state === 'failed' ? paint.bad : state === 'ok' ? paint.good : paint.warn
  return wrapped(`  ${colour(sign)} `, `${nameOf(check)}: ${message}`, width)
}
