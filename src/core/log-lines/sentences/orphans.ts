/** What the kubelet says of directories of pods that were deleted from the API. */
import { row, type Sentence } from './sentence.ts'

export const ORPHANS = {
  OrphanedPodWaits: row(
    'orphaned pod … volumes not yet removed',
    'The pod was deleted, and the kubelet is still taking its volumes down; until that is done the cgroup of the pod stays.',
    'Nothing for a minute. If the line repeats longer: volctl explain on the pod shows which volume does not come down.',
    { by: ['kubelet'], about: 'pod', codes: ['PodGone'], rules: ['R606'] },
  ),
  OrphanedPodSubPaths: {
    says: [
      'orphaned pod … volume subpaths are still present',
      'orphaned pod … volume-subpaths',
      'orphaned pod … failed to rmdir() subpath',
      'orphaned pod … subpath … device or resource busy',
    ],
    by: ['kubelet'],
    means: "The pod was deleted from the API, and sub-path mounts of it are left in the pod's directory.",
    why: "The kubelet unmounts sub-paths as part of their volume's teardown. If the volume's own directory is gone, the kubelet never comes to them, and repeats this line every 2 seconds.",
    next: 'volctl plan shows the sub-path mounts that are left. Do not remove the directory with rm -rf: the mounts lead to data of people.',
    volctl:
      'Unmounts leaked sub-paths by the mount table (UnmountVolume, reason LeakedSubPath), also while the kubelet runs.',
    codes: ['LeakedSubPath', 'OrphanPodDir'],
    rules: ['O17', 'R446', 'R615'],
    about: 'pod',
  },
  OrphanedPodFile: {
    says: [
      'orphaned pod … not a directory',
      'orphaned pod … not a directory occurred when trying to remove',
      'orphaned pod … volumes dir … directory not empty',
      'orphaned pod … volumes subdir',
      'volumes subdir was found after it was removed',
    ],
    by: ['kubelet'],
    means: "The pod was deleted from the API, and a plain file is left below volumes in the pod's directory.",
    why: 'The kubelet removes only empty directories there. A leftover vol_data.json, or a file that something wrote below a mount point, keeps the directory for ever.',
    next: "Look which file it is: volctl explain on the pod names it. Keep data that is not the kubelet's; the rest goes with volctl apply --orphans.",
    volctl:
      'Calls the driver where there is one, then removes the state file; any other file stays, and is reported (UnexpectedFile).',
    codes: ['OrphanPodDir', 'UnexpectedFile', 'DataUnderMountPoint'],
    rules: ['R611', 'S14', 'O6'],
    about: 'pod',
  },
  OrphanedPodBusy: {
    says: ['orphaned pod … device or resource busy', 'failed to remove orphaned pod … busy'],
    by: ['kubelet'],
    means: 'The pod was deleted from the API, and a directory of the pod is still a mount point.',
    why: 'Something is still mounted there: a volume that was never unmounted, a sub-path, or a foreign mount. A mount point cannot be removed.',
    next: 'volctl explain on the path says what is mounted there, whose it is, and what holds it open.',
    volctl:
      "Unmounts the pod's volumes and sub-paths; a foreign mount blocks the operation and is named (ForeignMount).",
    codes: ['PodGone', 'LeakedSubPath', 'ForeignMount'],
    rules: ['O14', 'O17', 'R606'],
    about: 'pod',
  },
  OrphanedPodDirectory: {
    says: [
      'orphaned pod … found, but error … when trying to remove',
      'orphaned pod … failed to rmdir()',
      'orphaned pod … failed to remove',
      'failed to remove orphaned pod',
      'orphaned pod … found, but error … during reading',
    ],
    by: ['kubelet'],
    means: "The pod was deleted from the API, and the kubelet cannot remove the pod's directory.",
    why: 'Something below it is mounted, is not empty, or cannot be read. The kubelet stops at the first error, and tries again every 2 seconds.',
    next: 'volctl explain on the pod shows what is left, and the command that removes it.',
    volctl:
      'Unmounts what is left; with --orphans also removes the directory, if only files that the kubelet itself makes are in it.',
    codes: ['OrphanPodDir', 'OrphanDirKept', 'UnexpectedFile'],
    rules: ['R609', 'R612', 'R613'],
    about: 'pod',
  },
  OrphanedPodVolumes: {
    says: [
      'orphaned pod … volume paths are still present',
      'orphaned pod … volumes are not cleaned up',
      'pod … found, but volumes are still mounted on disk',
    ],
    by: ['kubelet'],
    means:
      'The pod was deleted from the API, and volumes of the pod are still on this node: mounted, or as directories.',
    why: 'The kubelet forgot the volumes: it was restarted and could not reconstruct them, a state file is lost, or the driver was not there when the pod went.',
    next: 'volctl plan --orphans shows what would be unmounted and removed. Do not remove the directory with rm -rf: what is mounted in it would be deleted.',
    volctl:
      'Unmounts the volumes through their drivers, also while the kubelet runs; with --orphans removes the directory too.',
    codes: ['PodGone', 'OrphanPodDir', 'Settling'],
    rules: ['R606', 'R611', 'O17'],
    about: 'pod',
  },
} as const satisfies Readonly<Record<string, Sentence>>
