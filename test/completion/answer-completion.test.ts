import { expect, it } from 'vitest'
import { answerText } from '../../src/core/completion/answer-completion.ts'
import { typedFlags } from '../../src/core/completion/typed-flags.ts'

it('a value a line, with what it is after a tab, each once', () =>
  expect(answerText([{ value: 'ab', about: 'first' }, { value: 'ac' }, { value: 'b' }, { value: 'ab' }], 'a')).toBe(
    'ab\tfirst\nac\n',
  ))

it.each(['a\nb', 'a\tb', 'a\u001b[31m', 'a\u202e', ''])('%j is left out', (value) =>
  expect(answerText([{ value }], '')).toBe(''),
)

it('what it is must not be more than a line, nor long', () =>
  expect(
    answerText(
      [
        { value: 'a', about: 'x\ny' },
        { value: 'b', about: 'y'.repeat(100) },
      ],
      '',
    ),
  ).toBe(`a\nb\t${'y'.repeat(57)}...\n`))

it.each([
  { words: ['plan', '--kubeconfig', 'k', '--node=n'], flags: { kubeconfig: 'k', node: 'n' } },
  { words: ['plan', '--snapshot=a=b\nc'], flags: { snapshot: 'a=b\nc' } },
  { words: ['plan', '--snapshot', '', '--context'], flags: {} },
  { words: ['--constructor', 'x'], flags: {} },
])('flags of $words', ({ words, flags }) => expect(typedFlags(words)).toEqual(flags))
