import { load } from 'js-yaml'
import { describe, expect, it } from 'vitest'
import { terminalSafe, terminalSafeJson } from '../../../src/core/messages/terminal-safe.ts'
import { jsonPieces, toYaml } from '../../../src/core/views/structured.ts'

it.each([
  ['colour', '\u001b[31mred', '\\x1b[31mred'],
  ['title', '\u001b]0;x\u0007', '\\x1b]0;x\\x07'],
  ['C1 control sequence introducer', '\u009b2J', '\\x9b2J'],
  ['right-to-left override', 'a\u202eb', 'a\\u202eb'],
  ['zero-width', 'a\u200bb', 'a\\u200bb'],
  ['newline and tab', 'a\nb\tc\r', 'a\\nb\\tc\\r'],
  ['tag', 'a\u{e0001}b', 'a\\u{e0001}b'],
  ['half a character', 'a\ud83d', 'a\\ud83d'],
  ['letters of any script stay', 'größe-数据', 'größe-数据'],
])('%s', (_, text, safe) => expect(terminalSafe(text)).toBe(safe))

describe('no character of these is shown as it is', () => {
  it.each<[what: string, first: number, last?: number]>([
    ['C0', 0x00, 0x1f],
    ['DEL and C1', 0x7f, 0x9f],
    ['blanks that are no space', 0xa0],
    ['soft hyphen', 0xad],
    ['grapheme joiner', 0x34f],
    ['Hangul fillers', 0x115f, 0x1160],
    ['Hangul filler', 0x3164],
    ['Mongolian variation selectors and vowel separator', 0x180b, 0x180f],
    ['zero width and direction marks', 0x200b, 0x200f],
    ['line ends and directions', 0x2028, 0x202e],
    ['joiners, isolates, deprecated shapers', 0x2060, 0x206f],
    ['Braille without dots', 0x2800],
    ['lone surrogates', 0xd800, 0xdfff],
    ['private use', 0xe000, 0xf8ff],
    ['annotation, place of an object', 0xfff9, 0xfffc],
    ['none at all', 0xfffe, 0xffff],
    ['Khitan filler', 0x16fe4],
    ['shorthand formats', 0x1bca0, 0x1bca3],
    ['null notehead', 0x1d159],
    ['tags, variation selectors, and their reserve', 0xe0000, 0xe0fff],
    ['private use beyond', 0xf0000, 0xf0010],
  ])('%s', (_, first, last = first) => {
    for (let point = first; point <= last; point++) {
      const char = String.fromCodePoint(point)
      expect(terminalSafe(`a${char}b`)).toMatch(/^a\\(?:[ntr]|x[0-9a-f]{2}|u[0-9a-f]{4}|u\{[0-9a-f]{5,6}\})b$/)
      const json = terminalSafeJson(JSON.stringify(char))
      expect([JSON.parse(json), json]).toEqual([char, expect.stringMatching(/^"\\[\\a-z0-9]+"$/)])
    }
  })

  it('and all others are', () => {
    const plain = 'pod-1 größe 数据 עברית עַרַבִית العربية हिन्दी ภาษาไทย 한국어 \u{1f600} ½ ﷺ \ufffd'
    expect(terminalSafe(plain)).toBe(plain)
    expect(terminalSafeJson(plain)).toBe(plain)
  })
})

const inJson = (value: unknown): string => [...jsonPieces(value)].join('')

it('what is beyond the first plane is two escapes in JSON, and one in YAML', async () => {
  const value = { '\u202e': ['a\u{e0001}b', 'a\u{e0001}\nb', 'plain', 'two\nlines', '"\u2060\\'] }
  expect(inJson(value['\u202e'][0])).toBe('"a\\udb40\\udc01b"\n')
  const yaml = await toYaml(value)
  expect(yaml).toBe(
    [
      String.raw`"\u202e":`,
      String.raw`  - "a\U000e0001b"`,
      String.raw`  - "a\U000e0001\nb"`,
      '  - plain',
      '  - |-\n    two\n    lines',
      String.raw`  - "\"\u2060\\"`,
      '',
    ].join('\n'),
  )
  expect(load(yaml)).toEqual(value)
})
