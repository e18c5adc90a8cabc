/** A plan that a volctl on another machine has printed as JSON. */
import { VolctlError } from '../errors/errors.ts'
import { ShapeError } from '../json/shape.ts'
import type { Plan } from '../plan/plan.ts'
import { wholePlan } from '../plan/whole-plan.ts'
import { PLAN_FILE_LIMITS } from '../plan-file/plan-file-limits.ts'
import { parseJson } from '../trust/parse-json.ts'

/** What is held of an answer at once. */
export const MAX_ANSWER = PLAN_FILE_LIMITS.maxBytes

/** Collects an answer. @throws VolctlError AnswerCutOff for one that is too long */
export class Gathered {
  readonly #pieces: Buffer[] = []
  #length = 0
  readonly #most: number

  constructor(most = MAX_ANSWER) {
    this.#most = most
  }

  take(bytes: Buffer): void {
    this.#length += bytes.length
    if (this.#length > this.#most)
      throw new VolctlError('AnswerCutOff', `the answer is longer than ${this.#most} bytes`)
    this.#pieces.push(bytes)
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#pieces)
  }
}

/** @throws VolctlError AnswerCutOff for anything that is no plan */
export function planFromNode(bytes: Buffer, node: string): Plan {
  try {
    return wholePlan(parseJson(bytes, PLAN_FILE_LIMITS), '')
  } catch (cause) {
    const why = cause instanceof ShapeError ? cause.message : 'not JSON'
    throw new VolctlError('AnswerCutOff', `the answer from ${node} is no plan: ${why}`, {
      cause,
      hint: 'Check that the image has a volctl of this version: --image before the name of the node.',
    })
  }
}
