import { join } from 'node:path'

/** Folder of the ledger's SQL files; pass it to `migrate` as `{ name: 'ledger', path: ledgerMigrations }`. */
export const ledgerMigrations = join(import.meta.dirname, '../migrations')
