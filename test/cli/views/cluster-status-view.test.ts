import { describe, expect, it } from 'vitest'
import { clusterStatus } from '../../../src/core/cluster/status/cluster-status.ts'
import { renderClusterStatus } from '../../../src/core/views/cluster-status-view.ts'
import { PLAIN_SCREEN, type Screen } from '../../../src/core/views/screen.ts'
import { UNICODE_SYMBOLS } from '../../../src/core/views/symbols.ts'
import { textWidth } from '../../../src/core/views/text-width.ts'
import { clusterOptions } from '../../helpers/cluster-builder.ts'
import { SCENES } from './cluster-scenes.ts'

const SIZES: Readonly<Record<string, Screen>> = {
  '80x24': { ...PLAIN_SCREEN, symbols: UNICODE_SYMBOLS, width: 80, rows: 24 },
  '120x40': { ...PLAIN_SCREEN, symbols: UNICODE_SYMBOLS, width: 120, rows: 40 },
  'a pipe': PLAIN_SCREEN,
}

describe.each(Object.entries(SCENES))('the status of a cluster: %s', (name, state) => {
  const { status } = clusterStatus(state, clusterOptions())
  const drawn = (screen: Screen): string => renderClusterStatus(status, screen, false, '')

  it('is drawn as before', async () => {
    const screens = Object.entries(SIZES).map(([size, screen]) => `==== ${size}\n${drawn(screen)}`)
    const file = `./cluster-screens/status-${name.replaceAll(/\W+/g, '-')}.txt`
    await expect(screens.join('\n')).toMatchFileSnapshot(file)
  })

  it.each(['80x24', '120x40'])('fits on a terminal of %s', (size) => {
    const screen = SIZES[size] as Screen
    const lines = drawn(screen).trimEnd().split('\n')
    expect(lines.filter((line) => textWidth(line) > (screen.width ?? 0))).toEqual([])
    expect(lines.length).toBeLessThan(screen.rows ?? 0)
  })
})
