import { expect, it } from 'vitest'
import { FromNode } from '../../src/core/cli/from-node.ts'

const ESC = String.fromCharCode(0x1b)

function through(isTerminal: boolean, ...pieces: readonly string[]): string {
  let written = ''
  const stream = new FromNode((text) => {
    written += text
  }, isTerminal)
  for (const piece of pieces) stream.take(Buffer.from(piece, 'latin1'))
  stream.end()
  return written
}

it.each([
  {
    name: 'lines and colours stay',
    pieces: [`${ESC}[1mbold${ESC}[22m\nplain`],
    shown: `${ESC}[1mbold${ESC}[22m\nplain`,
  },
  {
    name: 'a colour that comes in two pieces',
    pieces: [`${ESC}[3`, `1mred${ESC}[39m\n`],
    shown: `${ESC}[31mred${ESC}[39m\n`,
  },
  { name: 'a letter that comes in two pieces', pieces: ['\xc3', '\xa9\n'], shown: 'é\n' },
  { name: 'a title of the terminal', pieces: [`${ESC}]0;owned\x07\n`], shown: '\\x1b]0;owned\\x07\n' },
  { name: 'a cursor that moves', pieces: [`${ESC}[2J${ESC}[1;1H\n`], shown: '\\x1b[2J\\x1b[1;1H\n' },
])('a terminal: $name', ({ pieces, shown }) => expect(through(true, ...pieces)).toBe(shown))

it('a pipe gets everything as it is', () => expect(through(false, `${ESC}]0;x\x07`, 'y')).toBe(`${ESC}]0;x\x07y`))
