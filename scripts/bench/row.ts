import type { Ratios } from './measure.ts'

/** One demand, with everything needed to judge the figure. */
export interface Row {
  readonly name: string
  /** What it is measured against. */
  readonly peer: string
  readonly scene: string
  /** `atMost`: subject/peer; `none`: not one is allowed. */
  readonly demand: { readonly atMost: number } | { readonly none: true }
}

/** Users may have either; the demand holds for the executable. */
export interface Measured {
  readonly executable: Ratios
  readonly bundle?: Ratios
  /** A bare script that makes the same reads and calls, and nothing else (floor.cjs). */
  readonly floor?: Ratios
}

export type Result = Row &
  ({ readonly measured: Measured } | { readonly counted: number } | { readonly notRun: string })

/** Only `MISSED` makes the bench fail; a row that cannot run here says why. */
export function verdict(result: Result): 'met' | 'MISSED' | 'not run' {
  if ('notRun' in result) return 'not run'
  if ('counted' in result) return result.counted === 0 ? 'met' : 'MISSED'
  const { ratio } = result.measured.executable
  const { demand } = result
  return 'atMost' in demand && ratio <= demand.atMost ? 'met' : 'MISSED'
}

/** Cells of the table. */
export interface Cells {
  readonly name: string
  readonly demanded: string
  readonly executable: string
  readonly bundle: string
  readonly floor: string
  readonly raw: string
  readonly verdict: string
}

export function cellsOf(result: Result): Cells {
  const { name, peer, demand } = result
  const demanded = 'atMost' in demand ? `≤ ${demand.atMost}` : '0'
  const cells = { name: `${name} / ${peer}`, demanded, bundle: '', floor: '', raw: '', verdict: verdict(result) }
  if ('notRun' in result) return { ...cells, executable: result.notRun }
  if ('counted' in result) return { ...cells, executable: String(result.counted) }
  const { executable, bundle, floor } = result.measured
  return {
    ...cells,
    executable: ratioText(executable),
    bundle: bundle === undefined ? '' : ratioText(bundle),
    floor: floor === undefined ? '' : ratioText(floor),
    raw: rawText(executable, bundle),
  }
}

function ratioText({ ratio, least, most }: Ratios): string {
  const [middle, low, high] = [ratio, least, most].map((value) => value.toFixed(2))
  return `${middle} (${low} to ${high})`
}

function rawText({ subject, peer, unit, rounds, cpuRatio }: Ratios, bundle: Ratios | undefined): string {
  const medians = [subject, ...(bundle === undefined ? [] : [bundle.subject]), peer].map((value) => value.toFixed(0))
  const cpu = cpuRatio === undefined || !Number.isFinite(cpuRatio) ? '' : `, CPU ${cpuRatio.toFixed(2)}`
  return `${medians.join(' / ')} ${unit}, ${rounds} rounds${cpu}`
}

export function renderRow(result: Result): string {
  const { name, demanded, executable, bundle, floor, raw, verdict } = cellsOf(result)
  return [
    `${verdict}: ${name}`,
    `  demanded    ${demanded}`,
    `  executable  ${executable}`,
    ...(bundle === '' ? [] : [`  bundle      ${bundle}`]),
    ...(floor === '' ? [] : [`  bare script ${floor}`]),
    ...(raw === '' ? [] : [`  medians     ${raw}`]),
    `  scene       ${result.scene}`,
    '',
  ].join('\n')
}

/** The table of docs/dev/speed.md. */
export function markdownTable(results: readonly Result[]): string {
  const lines = results.map((result) => {
    const { name, demanded, executable, bundle, floor, raw, verdict } = cellsOf(result)
    return `| ${[name, demanded, executable, bundle, floor, raw, verdict].join(' | ')} |`
  })
  const head =
    '| what / against what | demanded | executable | npm package | bare script | medians: executable / npm / other | |'
  return [head, '|---|---|---|---|---|---|---|', ...lines].join('\n')
}
