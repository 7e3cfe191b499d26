import { type Finding, UnfitSettingsError } from '@causeway/core/config'
import { sqlState } from '../errors.ts'

const page = 'docs/operating/upgrade.md'

/** A start that refuses the schema, with one finding for the operator. Nothing was changed in the database. */
export class SchemaError extends UnfitSettingsError {
  constructor(observation: string, fix: string, options: { readonly cause?: unknown } = {}) {
    super([schemaFinding('stops', observation, fix)])
    this.name = new.target.name
    this.message = `The database cannot be used: ${observation}. ${fix}`
    if (options.cause !== undefined) this.cause = options.cause
  }
}

/** Finding about the tables of a database. Its setting is the variable that names the database. */
export function schemaFinding(severity: Finding['severity'], observation: string, fix: string): Finding {
  return { code: 'database-schema', severity, setting: 'DATABASE_URL', seen: observation, fix }
}

/** The database ran migrations other than this release's files, so its tables are unknown. */
export class SchemaRefusedError extends SchemaError {}

/** A migration could not be applied. */
export class MigrationFailedError extends SchemaError {}

export function changedMigration(file: string): SchemaRefusedError {
  return new SchemaRefusedError(
    `it ran another text of the migration ${file} than this release has`,
    `Put the file back as it was released, and start again; a change is a new migration. See ${page}.`,
  )
}

export function unknownMigration(file: string): SchemaRefusedError {
  return new SchemaRefusedError(
    `it ran the migration ${file}, which neither this release nor a later one has`,
    `Start the build that it came from, or restore a backup from before it. See ${page}.`,
  )
}

export function newerSchema(file: string): SchemaRefusedError {
  return new SchemaRefusedError(
    `a later release ran the migration ${file}, over which older ones must not run`,
    `Start that release again, or restore the backup from before the upgrade. See ${page}.`,
  )
}

export function otherSchema(differences: readonly string[]): SchemaRefusedError {
  const [first = '', ...more] = differences
  return new SchemaRefusedError(
    `its tables are not those that its migrations make: ${first}${more.length === 0 ? '' : `, and ${more.length} more`}`,
    `Make them so, or restore a backup and upgrade that. See ${page}.`,
  )
}

/** @param subject e.g. `the migration ledger/0001_ledger.sql`, whose text failed */
export function failedMigration(subject: string, text: string, error: unknown): MigrationFailedError {
  const state = sqlState(error)
  const message = error instanceof Error ? error.message : String(error)
  const line = lineOf(text, error)
  const fix = fixes[state ?? ''] ?? 'Mend what the message names, then start again.'
  return new MigrationFailedError(
    `${subject} failed${line === undefined ? '' : ` in line ${line}`}: ${message}${state === undefined ? '' : ` (${state})`}; nothing was changed`,
    `${fix} The release before runs on meanwhile. See ${page}.`,
    { cause: error },
  )
}

const fixes: Readonly<Record<string, string>> = {
  '42501': 'Let the user own the database and its tables, then start again.',
  '55P03': 'End what keeps the tables locked (select * from pg_stat_activity), then start again.',
}

/** Line of the text at which the server reports an error: its `position` counts characters from 1. */
function lineOf(text: string, error: unknown): number | undefined {
  const position = error instanceof Error && 'position' in error ? Number(error.position) : Number.NaN
  return Number.isInteger(position) ? text.slice(0, position - 1).split('\n').length : undefined
}
