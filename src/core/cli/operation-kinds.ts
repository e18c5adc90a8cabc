import { VolctlError } from '../errors/errors.ts'
import { didYouMean } from '../lang/near-names.ts'
import { OPERATION_GROUPS, OPERATION_KINDS, type OperationKind } from '../plan/plan.ts'

const GROUPS: Readonly<Record<string, readonly OperationKind[]>> = OPERATION_GROUPS

/** The kinds that `--only` or `--skip` names: kinds and groups, comma separated, in the plan's order, each once. */
export function parseOperationKinds(text: string, flag: string): OperationKind[] {
  const words = text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')
  const chosen = new Set(words.flatMap((word) => kindsOf(word, flag)))
  if (chosen.size === 0) throw badKind(`${flag}: names no kind of operation.`)
  return OPERATION_KINDS.filter((kind) => chosen.has(kind))
}

function kindsOf(word: string, flag: string): readonly OperationKind[] {
  if (Object.hasOwn(GROUPS, word)) return GROUPS[word] ?? []
  const kind = OPERATION_KINDS.find((known) => known.toLowerCase() === word.toLowerCase())
  if (kind === undefined) throw badKind(`${flag}: "${word}" is neither a kind of operation nor a group of them.`, word)
  return [kind]
}

function badKind(message: string, word = ''): VolctlError {
  const meant = didYouMean(word, [...Object.keys(GROUPS), ...OPERATION_KINDS])
  const groups = Object.keys(GROUPS).join(', ')
  return new VolctlError('Usage', message, {
    hint: `${meant}Groups are ${groups}; kinds are ${OPERATION_KINDS.join(', ')}.`,
  })
}
