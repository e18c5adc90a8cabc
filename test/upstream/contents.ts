/** What volumes are filled with: emptyDir, configMap, secret, projected, their writer and owners (volume-plugins.md 11.3). */
import { by, byAll, instead, not, type Table } from './verdict.ts'

const EMPTY_DIR = 'reconcile/empty-dir'
const REAL = 'privileged/set-up/empty-dir'
const BYTES = 'desired/content-bytes'
const WRITER = 'host/write-atomically'
const ATOMIC = 'privileged/set-up/atomic'
const LIFE = by(REAL, 'is made, is there, and goes with its pod')
const PAGES = by(REAL, 'emptyDir of huge pages')
const UPDATES = by(WRITER, 'a second write')
const PATHS = byAll(
  by(
    'desired/atomic-content',
    'P27 path ',
    'P27 as long as a path may be',
    'P27 cleaned path',
    'P27 one leading dot is fine',
  ),
  by(BYTES, 'a path that escapes'),
)
const FILLED = by(ATOMIC, 'are made from nothing, are there, and go with their pod; no secret is said anywhere')
const OBJECTS = 'pkg/volume/secret, configmap, projected'

export const CONTENTS: Table = {
  'pkg/volume/emptydir/empty_dir_test.go': {
    TestPluginEmptyRootContext: {
      'volume and marker, there or not': by(
        EMPTY_DIR,
        'nothing',
        'the directory',
        'the marker',
        'directory and marker',
      ),
      'set-up and tear-down, no mount': LIFE,
    },
    TestPluginHugetlbfs: { 'one mount, and the tear-down': byAll(LIFE, PAGES) },
    TestSetupHugepages: {
      'with and without a size': by('plugins/huge-pages', 'the page size to mount with (P40)'),
      'mounted already, the right size, the wrong one': byAll(
        by('plugins/huge-pages', 'has to be the one of the medium, where that names one'),
        by(REAL, 'is not mounted over pages of another size'),
      ),
      'another medium': by(EMPTY_DIR, 'an unknown medium'),
      'no mounter': not('an artefact of how upstream is built'),
    },
    TestGetHugePagesMountOptions: {
      'containers, init containers, the pod': by('plugins/huge-pages', 'the page size to mount with (P40)'),
      'none, several: error': by('plugins/huge-pages', 'none', 'two sizes and plain HugePages'),
    },
    TestGetPageSize: {
      '2M, 2Mi, 1024M; none, no number': by('plugins/huge-pages', 'the page size of what is mounted (P41)'),
      'a path that is not mounted: error': instead(
        'P115: the mount table says that it is not mounted, and it is set up',
        by(EMPTY_DIR, 'nothing'),
      ),
    },
    TestCalculateEmptyDirMemorySize: {
      'the smallest of node, pod and volume': by(
        'plugins/tmpfs-options',
        'node $node, pod $pod, volume $volume: $size',
      ),
      'requests are no limits': by('plugins/tmpfs-options', 'requests are no limits'),
    },
    TestTmpfsMountOptions: {
      'no size, no option': byAll(
        by('plugins/tmpfs-options', 'the size of a tmpfs (P38)'),
        by(EMPTY_DIR, 'sizeLimit %s limits nothing (P38)'),
      ),
      'size, noswap where the kernel has it': byAll(
        by(REAL, 'in memory with sizeLimit "$sizeLimit" it has $size (P38, P39)'),
        by('plugins/tmpfs-options', 'kernel %s can keep a tmpfs out of swap: %s (P39)'),
      ),
    },
    TestPluginBackCompat: {
      'a volume without a source': not('the API server makes an emptyDir of a volume that names no source'),
    },
  },
  'pkg/volume/util/atomic_writer_test.go': {
    TestValidatePath: { 'limits, absolute, "..", empty': PATHS },
    TestValidatePayload: { 'one bad path; paths are cleaned': PATHS },
    TestPathsToRemove: {
      'what is not in the new payload, directories shared with it stay': by(
        WRITER,
        'one less',
        'one less in a directory that another file keeps',
        'a directory less',
        'all others',
      ),
    },
    TestWriteOnce: {
      'plain, nested, dotted, with modes': by(WRITER, 'one write'),
      'unclean and bad paths': PATHS,
      bytes: by(WRITER, 'bytes, and nothing at all'),
    },
    TestUpdate: {
      'changed, added, removed: a new generation': UPDATES,
      'the same: none': by(WRITER, 'the same'),
    },
    TestMultipleUpdates: { 'several in a row': by(WRITER, 'many writes, one after the other') },
    TestCreateUserVisibleFiles: {
      'one link for each top-level name': by(WRITER, 'files of a directory, whose link is made once', 'directories'),
      'unclean names': PATHS,
    },
    TestSetPerms: {
      'before anything is published': by(ATOMIC, 'P31, P53: a group reads what is its own'),
      'its error fails the write': by(
        'apply/mounts/set-ownership',
        'fail the operation, or are said where the plugin ignores them',
        'of single entries fail nothing, and are counted (P31)',
      ),
    },
    TestWriteAgainAfterUnexpectedExit: {
      'links are missing, the content is current': byAll(
        by(
          WRITER,
          'links that somebody removed are made again, and nothing is written (TestWriteAgainAfterUnexpectedExit)',
        ),
        by(ATOMIC, 'P28, P29: what a crash left is cleared away, and what is current stays'),
      ),
    },
  },
  [OBJECTS]: {
    TestPlugin: { 'files and the wrapped directory; nothing after the tear-down': FILLED },
    TestPluginReboot: {
      'the marker is there, the data is not': by(ATOMIC, 'P48: after a boot the memory is filled again'),
    },
    TestPluginOptional: { 'no object, and an empty generation': by(ATOMIC, 'bad input: %s') },
    TestPluginOptionalKeys: { 'no key': by(BYTES, 'no key, optional') },
    TestInvalidPathSecret: { 'error, and nothing is left': by(ATOMIC, 'bad input: %s') },
    TestInvalidPathProjected: { 'error, and nothing is left': by(BYTES, 'a path that escapes', 'a path below a file') },
    TestInvalidConfigMapSetup: {
      'no object: error, and nothing is left': by(
        ATOMIC,
        'an object that goes meanwhile fails its volume, of which nothing is left',
        'bad input: %s',
      ),
    },
  },
  'pkg/volume/projected/projected_test.go': {
    'TestCollectDataWith*': {
      'modes, items, directories, missing keys': by(BYTES, 'P46-P48, P51, P52: TestCollectDataWith*'),
      'tokens: 0600 for a user, audience, expiration': byAll(
        by(BYTES, 'P53: service account tokens'),
        by('api/volume-content', 'and tokens are made for it (P53)'),
      ),
      'bundles by name and signer': by(BYTES, 'P55: cluster trust bundles'),
      'certificates: their paths': instead(
        'P56: a certificate of the pod is asked for by the kubelet alone, and blocks a volume that has none yet',
        by(BYTES, 'a certificate'),
        by('desired/atomic-content', 'P53, P55, P56 what only the kubelet can write'),
      ),
    },
  },
  'pkg/volume/volume_linux_test.go': {
    TestProgressTracking: {
      'events while it lasts': instead(
        'P32: volctl writes no events; a terminal shows what runs, and for how long',
        by('e2e/interruptions', 'yes does it, with a line for each running operation, in colour'),
      ),
    },
  },
  'pkg/volume/util/nested_volumes_test.go': {
    TestGetNestedMountpoints: {
      'neighbours, several mounts, init containers': by(BYTES, 'P26: TestGetNestedMountpoints'),
      'a path that leaves: error': by(BYTES, 'refuses a path that leaves the container'),
    },
  },
}
