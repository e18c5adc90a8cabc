import { JSON_LIMITS, type JsonLimits } from '../../trust/parse-json.ts'

/**
 * Limits of a plan file, for writing and for reading. An operation takes about 2.1 KB: 20,000 of them take 42 MB, and 300 MB
 * of memory to read; 76 MiB are 38,000 operations, the leftovers of 19,000 pods.
 */
export const PLAN_FILE_LIMITS: JsonLimits = { ...JSON_LIMITS, maxBytes: 76 * 1024 * 1024 }
