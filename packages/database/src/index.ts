export { backupDatabase, restoreDatabase } from './backup.ts'
export { createDatabase, type Database, type DatabaseOptions } from './createDatabase.ts'
export {
  type ElectionOptions,
  type Elections,
  type Fence,
  type Leadership,
  startElections,
} from './election.ts'
export { findEmbeddedPostgres } from './embedded/findEmbeddedPostgres.ts'
export { canListen, freeLoopbackPort } from './embedded/freeLoopbackPort.ts'
export {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from './embedded/startEmbeddedPostgres.ts'
export {
  DatabaseDiskFullError,
  DatabaseOverloadedError,
  DatabaseStartingError,
  sqlState,
  whileStarting,
} from './errors.ts'
export { type ExaminedDatabase, examineDatabase } from './examineDatabase.ts'
export { type ListenOptions, startListening } from './listen.ts'
export { migrate } from './migrate.ts'
export { describeSchema } from './migrations/describeSchema.ts'
export { MigrationFailedError, SchemaRefusedError } from './migrations/migrationErrors.ts'
export {
  type MigrationDirectory,
  migrationChecksum,
  migrationFileName,
  olderReleasesLine,
} from './migrations/migrationFiles.ts'
export { type MigratedOptions, openMigrated } from './openMigrated.ts'
export { startTestDatabase, type TestDatabase } from './startTestDatabase.ts'
export { startTestPostgres } from './startTestPostgres.ts'
