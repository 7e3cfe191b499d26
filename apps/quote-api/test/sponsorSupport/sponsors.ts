// A sponsor in the database of a running service: a key, a wallet linked to it, money on the wallet.
import { randomBytes } from 'node:crypto'
import { type Hex, Secret, type SqlDatabase } from '@causeway/core'
import { openAccount, transferId, writeTransfer } from '@causeway/ledger'
import { parsePeppers } from '../../src/access/keys/peppers.ts'
import { createAdministration } from '../../src/operate/administration.ts'

/** For `API_KEY_PEPPERS` of the service. */
export const pepperText = `v1:${'5a'.repeat(32)}`

export type TestSponsor = { readonly keyId: string; readonly apiKey: string; readonly wallet: Hex }

export async function createSponsor(database: SqlDatabase, balanceMicroUsd: bigint): Promise<TestSponsor> {
  const { keys } = createAdministration({
    config: { environment: 'local', webhooks: { allowPrivate: false } },
    database,
    peppers: parsePeppers(new Secret(pepperText)),
  })
  const { id, apiKey } = await keys.create({ actor: 'cli:test', label: 'sponsor of a test' })
  const wallet: Hex = `0x${randomBytes(20).toString('hex')}`
  await database.query('update api_key set wallet = $2, wallet_linked_at = clock_timestamp() where id = $1', [
    id,
    wallet,
  ])
  if (balanceMicroUsd > 0n) await topUp(database, wallet, balanceMicroUsd)
  return { keyId: id, apiKey, wallet }
}

/** Money on a wallet, once per wallet. */
async function topUp(database: SqlDatabase, wallet: Hex, amount: bigint): Promise<void> {
  await database.transaction(async (tx) => {
    await writeTransfer(tx, {
      id: transferId('adjustment', wallet),
      kind: 'posted',
      debitAccount: await openAccount(tx, { kind: 'adjustment', owner: 'test' }),
      creditAccount: await openAccount(tx, { kind: 'sponsor', owner: wallet }),
      amount,
      code: 'adjustment',
      actor: 'test',
    })
  })
}

/** What the ledger says of a wallet. */
export async function moneyOf(
  database: SqlDatabase,
  wallet: Hex,
): Promise<{ available: bigint; held: bigint }> {
  const [row] = await database.query<{ available: bigint; held: bigint }>(
    `select ledger_available(a) as available, a.debits_pending as held
     from account a where kind = 'sponsor' and owner = $1`,
    [wallet],
  )
  return row ?? { available: 0n, held: 0n }
}
