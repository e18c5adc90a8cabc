import type { PairRatios } from './measure.ts'

/** One demand, with everything needed to judge the figure. */
export interface Row {
  readonly name: string
  /** What it is measured against. */
  readonly peer: string
  readonly scene: string
  readonly credential: string
  readonly output: string
  readonly cache: string
  /** `atMost`: subject/peer; `atLeast`: how many times faster the subject is, peer/subject. */
  readonly demand: { readonly atMost: number } | { readonly atLeast: number }
}

export type Result = Row & ({ readonly measured: PairRatios } | { readonly notRun: string })

/** Only `FAIL` makes the bench fail; a row that cannot run here says why. */
export function verdict(result: Result): 'pass' | 'FAIL' | 'not run' {
  if ('notRun' in result) return 'not run'
  const { ratio } = result.measured
  const met = 'atMost' in result.demand ? ratio <= result.demand.atMost : 1 / ratio >= result.demand.atLeast
  return met ? 'pass' : 'FAIL'
}

export function renderRow(result: Result): string {
  const { name, peer, scene, credential, output, cache, demand } = result
  const demanded = 'atMost' in demand ? `≤ ${demand.atMost} ×` : `≥ ${demand.atLeast} × faster than`
  return [
    `${verdict(result)}: ${name}`,
    `  demanded    ${demanded} ${peer}`,
    `  measured    ${measured(result)}`,
    `  scene       ${scene}`,
    `  credential  ${credential}`,
    `  output      ${output}`,
    `  cache       ${cache}`,
    '',
  ].join('\n')
}

function measured(result: Result): string {
  if ('notRun' in result) return `not run: ${result.notRun}`
  const { ratio, least, most, subjectMs, peerMs, pairs } = result.measured
  const faster = 'atLeast' in result.demand
  const shown = faster ? [1 / ratio, 1 / most, 1 / least] : [ratio, least, most]
  const [middle, low, high] = shown.map((value) => value.toFixed(2))
  const times = `medians ${subjectMs.toFixed(0)} ms and ${peerMs.toFixed(0)} ms`
  return `${middle} × (${low} to ${high} in ${pairs} pairs; ${times})`
}
