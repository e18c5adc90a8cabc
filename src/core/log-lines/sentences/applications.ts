/** What applications say of their data in a volume: locked, full, damaged, slow. Error numbers stand in errors.ts. */
import { frame, row } from './sentence.ts'

export const APPLICATIONS = {
  DataDirectoryNotEmpty: row(
    'exists but is not empty | contains a lost+found directory | contains a dot-prefixed/invisible file | data directory has files in it | data directory … is unusable',
    'The application finds its data directory not empty: a new ext4 file system has lost+found in it, or data is there already.',
    'Let the application use a directory inside the volume: subPath of the mount, or for PostgreSQL PGDATA below it. Look first at what is there: nothing has to be deleted.',
  ),
  NearlyFull: row(
    'low disk watermark | high disk watermark | flood-stage watermark | flood stage disk watermark | is running low on disk space | nearfull osd | database space exceeded | alarm:nospace | disk_free_limit | disk resource limit alarm | free disk space is insufficient | forbidden/12/index read-only',
    'The program that writes to the volume counts it as nearly full, and writes less or nothing.',
    'df -h in the pod. Make the claim larger (allowVolumeExpansion of the StorageClass), or delete data through the program itself.',
    { unchecked: 'volctl does not measure how full a volume is' },
  ),
  DataLocked: row(
    'unable to lock ./ibdata1 | innodb … error: 11 | lock file … already exists | lock file … another instance | dbpathinuse … temporarily unavailable | mongod.lock … temporarily unavailable | failed to obtain node lock | failed to obtain node locks | lock held by current | pre-existing shared memory block | lock … resource temporarily unavailable | locked by other process | locked by another process | flocked by another process | held by another process | database is locked | already locked by | lockobtainfailedexception | unable to acquire lock on | failed to acquire lock on file | boltdb … timeout',
    'The application finds its data locked: another copy of it uses the volume, or its lock file was left there.',
    'volctl explain on the volume shows which pods have it. Only one may run: strategy Recreate, or ReadWriteOncePod. A lock file goes only when no copy runs on any node.',
  ),
  DrivesMissing: row(
    'drive not found | disk not found: | drive is faulty | drive is offline | insufficient number of drives online | insufficientwritequorum | insufficientreadquorum | storage resources are insufficient | drives to come online',
    'MinIO lacks drives: too few of its directories or volumes are there, or their servers do not answer.',
    'mc admin info shows which. In its pod: is the volume mounted (df), writable (ls -ln) and not full? Each pod has to reach the others by the names in the line.',
    { about: 'pod', unchecked: 'volctl does not look into the data of applications' },
  ),
  DataDirectoryMode: row(
    'data directory … has invalid permissions | permissions should be u=rwx | data directory … has group or world access',
    'PostgreSQL refuses its data directory, since the group or others may write it: mostly fsGroup has made it so at a mount.',
    'chmod 0700 of that directory in the pod. Then fsGroupChangePolicy: OnRootMismatch, or no fsGroup, or PGDATA one directory below the mount, which the start script sets right.',
    { about: 'pod' },
  ),
  CgroupUnread: row(
    '/sys/fs/cgroup … not writable',
    'The program would like to watch its memory through the control group, and may not: so it is in most pods.',
    'Nothing: no volume is concerned.',
    { harmless: true },
  ),
  DataAccessFailed: frame(
    'log dirs … have failed | failed log directory | stopping serving logs in dir | logdirfailurechannel | kafkastorageexception | error while flushing log | error while writing to checkpoint file | wiredtiger error | wiredtiger error message | wt_panic | wt_session.checkpoint | opening storage failed | failed engine | fatal exception while booting | could not fsync file | could not fdatasync file | could not flush dirty data | could not write to file | could not extend file | could not open file | could not close file | could not read block | failed to create check sector file | innodb: posix_fallocate | innodb: write to file | innodb: cannot open | innodb: operating system error | failed opening the rdb file | write error saving db | error writing to the aof file | fswriteerror | fsreaderror | disk failure policy | create wal error | save state and entries error | failed to allocate space when creating | failed to save db local state | unable to write to the backend | cant create database directory | cant open the append-only file | unable to use the drive',
    'An application could not read or write its data.',
    'The error behind it is the reason; if the line has none, it stands in the lines before: no space, an I/O error, a dead mount, rights. df -h and ls -ln in the pod, dmesg on {node}.',
    { unchecked: 'volctl does not look into the data of applications' },
  ),
} as const

/** What else such a line says is nearer to the cause. */
export const APPLICATIONS_IN_GENERAL = {
  DataDamaged: row(
    'corruptindexexception | translogcorruptedexception | corruptsstableexception | corruptrecordexception | codec footer mismatch | codec header mismatch | checksum mismatch | checksum failed | crc mismatch | checksum doesnt match | invalid page in block | page verification failed | read only * of * bytes | could not locate a valid checkpoint record | invalid checkpoint record | could not access status of transaction | database page corruption | log sequence number … is in the future | database disk image is malformed | file is not a database | read wal error: unexpected eof | read wal error | wal: max entry size limit exceeded | corruption in segment | is corrupted | is corrupt | data corruption | corrupted data | file truncated | invalid database | invalid freelist page | bad file format reading the append only file | short read or oom loading db | something is broken | unable to load database on disk | broken parts to remove | opening storage failed … unexpected end of json input | opening storage failed … unexpected eof | meta.json: unexpected end of json input | wrong crc checksum | unexpected file wiredtiger | crc mismatch … unexpected eof',
    'What the application finds in its volume is damaged: it was not written to its end, or came back changed.',
    "dmesg on {node}: errors of the disk, or a machine or disk that went away while it was written. Stop the application, copy the volume, then repair or restore by the application's own means.",
    { unchecked: 'volctl does not look into the data of applications' },
  ),
  StorageSlow: row(
    'sync duration of | slow fdatasync | took too long … execute | took too long, expected-duration | apply request took too long | failed to send out heartbeat on time | fsync is taking too long | fsync-ing the write ahead log | disk is busy | intended loop took | long semaphore wait | slow disk | disk is too slow | disk is slow | high disk latency | slow operation indications | slow ops | slow requests | slow request',
    'The storage answers, and too slowly for the program that writes to it.',
    'iostat -x on {node} (await, %util) while it lasts: a disk that is shared with others, a limit of IOPS at the cloud, a slow network. etcd, databases and Ceph want a disk with fast fsync for themselves.',
    { unchecked: 'volctl does not measure how fast a volume is' },
  ),
} as const
