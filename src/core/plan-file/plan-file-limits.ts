import { JSON_LIMITS, type JsonLimits } from '../trust/parse-json.ts'

/**
 * What a plan file may be, when it is written as when it is read. An operation takes about 2.1 KB: 20,000 of them 42 MB, and
 * 300 MB of memory to be read; 76 MiB are 38,000, the leftovers of 19,000 pods.
 */
export const PLAN_FILE_LIMITS: JsonLimits = { ...JSON_LIMITS, maxBytes: 76 * 1024 * 1024 }
