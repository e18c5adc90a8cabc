import { ISCSI_RECORD } from './iscsi-disk.ts'

/** Names of the files that tell a driver which volume it is asked about (S14). */
export const STATE_FILES: ReadonlySet<string> = new Set(['vol_data.json', ISCSI_RECORD])
