import { describe, expect, it } from 'vitest'
import { clusterAnswerOf } from '../../../src/core/answer/cluster-answer.ts'
import { clusterStatus } from '../../../src/core/cluster/status/cluster-status.ts'
import { PLAIN_SCREEN, type Screen } from '../../../src/core/views/screen.ts'
import { renderStatus } from '../../../src/core/views/status-view.ts'
import { UNICODE_SYMBOLS } from '../../../src/core/views/symbols.ts'
import { textWidth } from '../../../src/core/views/text-width.ts'
import { clusterOptions } from '../../helpers/cluster-builder.ts'
import { saidTwice } from '../../helpers/screens.ts'
import { SCENES } from './cluster-scenes.ts'

const SIZES: Readonly<Record<string, Screen>> = {
  '80x24': { ...PLAIN_SCREEN, symbols: UNICODE_SYMBOLS, width: 80, rows: 24 },
  '120x40': { ...PLAIN_SCREEN, symbols: UNICODE_SYMBOLS, width: 120, rows: 40 },
  'a pipe': PLAIN_SCREEN,
}

describe.each(Object.entries(SCENES))('the status of a cluster: %s', (name, state) => {
  const { status, plan } = clusterStatus(state, clusterOptions())
  const answer = clusterAnswerOf(plan, { applyCommand: 'volctl apply --cluster' })
  const drawn = (screen: Screen): string => renderStatus(status, screen, { all: false, plan, answer })

  it('is drawn as before', async () => {
    const screens = Object.entries(SIZES).map(([size, screen]) => `==== ${size}\n${drawn(screen)}`)
    const file = `./cluster-screens/status-${name.replaceAll(/\W+/g, '-')}.txt`
    await expect(screens.join('\n')).toMatchFileSnapshot(file)
  })

  it.each(['80x24', '120x40'])('fits on a terminal of %s', (size) => {
    const screen = SIZES[size] as Screen
    const text = drawn(screen)
    const lines = text.trimEnd().split('\n')
    // A command is never broken.
    expect(lines.filter((line) => textWidth(line) > (screen.width ?? 0) && !line.includes('volctl '))).toEqual([])
    expect(lines.length).toBeLessThan(screen.rows ?? 0)
    expect(saidTwice(text)).toEqual([])
  })
})

it('good volumes are not all there is to say where something needs a person', () => {
  const { status, plan } = clusterStatus(SCENES.healthy ?? expect.unreachable(), clusterOptions())
  const answer = clusterAnswerOf(plan)
  const lost = { ...answer, needs: [{ severity: 'warning', text: 'a claim is lost', wake: [], remedy: [] }] } as const
  const ends = [answer, lost].map((each) => renderStatus(status, PLAIN_SCREEN, { all: false, plan, answer: each }))
  expect(ends).toEqual([
    expect.stringContaining('1 volume: all are as they should be.'),
    expect.stringContaining('1 volume: 1 good.'),
  ])
})
