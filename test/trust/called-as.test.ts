import { afterEach, describe, expect, it } from 'vitest'
import { acceptCalledAs, asCalled, calledWhile, calledWords, programName } from '../../src/core/trust/called-as.ts'

const COMMANDS = ['apply', 'explain', 'plan']
const as = (name: string): readonly string[] => acceptCalledAs([`--internal-called-as=${name}`, 'plan'], COMMANDS)

afterEach(() => void as('volctl'))

it.each([
  { text: 'To remove it: volctl apply --orphans', becomes: 'To remove it: kubectl volctl apply --orphans' },
  { text: 'See volctl --help', becomes: 'See kubectl volctl --help' },
  { text: '(volctl plan)', becomes: '(kubectl volctl plan)' },
  { text: 'volctl leaves it, as volctl plans nothing', becomes: 'volctl leaves it, as volctl plans nothing' },
  { text: 'sleep 120; volctl apply', becomes: 'sleep 120; volctl apply' },
  { text: 'ssh node7 sudo volctl plan', becomes: 'ssh node7 sudo volctl plan' },
  {
    text: 'Stop the kubelet (systemctl stop k.service);\n  then: volctl apply',
    becomes: 'Stop the kubelet (systemctl stop k.service);\n  then: volctl apply',
  },
  { text: 'Look at the plan; then: volctl apply', becomes: 'Look at the plan; then: kubectl volctl apply' },
  { text: 'on node node7: volctl apply', becomes: 'on node node7: volctl apply' },
  { text: '/usr/bin/volctl plan', becomes: '/usr/bin/volctl plan' },
  { text: 'kubectl\n        volctl plan', becomes: 'kubectl\n        volctl plan' },
  { text: 'volctl on node7 plan', becomes: 'volctl on node7 plan' },
])('kubectl volctl: $text', ({ text, becomes }) => {
  expect(as('kubectl volctl')).toEqual(['plan'])
  expect(asCalled(text)).toBe(becomes)
  expect(asCalled(asCalled(text))).toBe(becomes)
})

describe('in a Pod', () => {
  it('a hint is what the person types on the workstation, once', () => {
    as('volctl on --context prod node7')
    expect(asCalled('See volctl --help')).toBe('See volctl --help')
    const text = asCalled('See volctl explain x')
    expect(text).toBe('See volctl on --context prod node7 explain x')
    expect(asCalled(text)).toBe(text)
  })

  it('the name is handed on to a volctl that this one starts', () => {
    as('volctl on node7')
    expect(acceptCalledAs([...calledWords(), 'plan'], COMMANDS)).toEqual(['plan'])
    expect(programName()).toBe('volctl on node7')
  })
})

it('a plan of another node is drawn in the words for that node, and nothing else is', () => {
  as('kubectl volctl')
  expect(calledWhile('kubectl volctl on node7', () => asCalled('volctl apply'))).toBe('kubectl volctl on node7 apply')
  expect(asCalled('volctl apply')).toBe('kubectl volctl apply')
})
