// A sponsor in the database of a running service: a key, a wallet linked to it, money on the wallet.
import { randomBytes } from 'node:crypto'
import { type Hex, Secret, type SqlDatabase } from '@causeway/core'
import { createLedger, openAccount, transferId, writeTransfer } from '@causeway/ledger'
import { parsePeppers } from '../../src/access/keys/peppers.ts'
import { createAdministration } from '../../src/operate/administration.ts'

/** For `API_KEY_PEPPERS` of the service. */
export const pepperText = `v1:${'5a'.repeat(32)}`

export type TestSponsor = { readonly keyId: string; readonly apiKey: string; readonly wallet: Hex }

export async function createSponsor(database: SqlDatabase, balanceMicroUsd: bigint): Promise<TestSponsor> {
  const { keys } = createAdministration({
    config: { environment: 'local', configDirectory: 'configs', webhooks: { allowPrivate: false } },
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
export async function topUp(database: SqlDatabase, wallet: Hex, amount: bigint): Promise<void> {
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

/** Holds of a key's requests, by their ids: of each something is debited, unless it stays open. */
export async function holdFor(
  database: SqlDatabase,
  { keyId, wallet }: Pick<TestSponsor, 'keyId' | 'wallet'>,
  holds: readonly {
    readonly requestId: Hex
    readonly heldMicroUsd: bigint
    readonly debitMicroUsd?: bigint
  }[],
): Promise<void> {
  const ledger = createLedger()
  for (const { requestId, heldMicroUsd, debitMicroUsd } of holds) {
    const request = {
      requestId,
      sponsor: wallet,
      apiKeyId: keyId,
      user: wallet,
      recipient: wallet,
      requoteKey: requestId,
      originChainId: 8_453,
      destinationChainId: 10,
      components: ['execution'] as const,
      amountMicroUsd: heldMicroUsd,
      lifetimeSeconds: 3_600,
    }
    const outcome = await database.transaction((tx) => ledger.reserve(tx, request))
    if (outcome.status !== 'reserved') throw new Error(`nothing is held: ${outcome.status}`)
    if (debitMicroUsd === undefined) continue
    const debit = { requestId, amountMicroUsd: debitMicroUsd, evidence: {} }
    await database.transaction((tx) => ledger.post(tx, debit))
  }
}

/** Amounts of a wallet in the ledger. */
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
