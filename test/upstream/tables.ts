import { ACCESS } from './access.ts'
import { ATTACHING } from './attaching.ts'
import { BLOCK } from './block.ts'
import { CONTENTS } from './contents.ts'
import { CONTROLLER } from './controller.ts'
import { DEVICES } from './devices.ts'
import { GAPS } from './gaps.ts'
import { GROWING } from './growing.ts'
import { MOUNTING } from './mounting.ts'
import { NAMES } from './names.ts'
import { ORPHANS } from './orphans.ts'
import { PUBLISHING } from './publishing.ts'
import { RECONCILING } from './reconciling.ts'
import { RECONSTRUCTION } from './reconstruction.ts'
import { STAGING } from './staging.ts'
import { UNPUBLISHING } from './unpublishing.ts'
import type { Table } from './verdict.ts'

export const TABLES: readonly Table[] = [
  ...[NAMES, RECONSTRUCTION, ATTACHING, STAGING, PUBLISHING, UNPUBLISHING, BLOCK, GROWING],
  ...[RECONCILING, ORPHANS, CONTROLLER, MOUNTING],
  ...[CONTENTS, DEVICES, ACCESS, GAPS],
]
