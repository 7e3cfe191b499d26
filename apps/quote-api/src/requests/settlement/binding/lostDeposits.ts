import type { Hex, SqlTx } from '@causeway/core'
import { bookLostDeposit } from '@causeway/ledger'
import { isLostDeposit } from '../../../jobs/bookedDeposits.ts'
import type { Job } from '../../../jobs/runJobs.ts'
import { findCurrency } from '../../../pricing/registry.ts'
import type { SettlementContext } from '../settlementContext.ts'

const intervalMs = 2_000
const depositsPerRun = 200

/**
 * Job that books a loss for each deposit that was paid for and then left its chain, and reverses the booking when the deposit
 * returns. `loss_turns` counts these bookings, so an odd number means that a loss is booked.
 */
export function createLostDeposits({
  database,
  chains,
  observe,
}: Pick<SettlementContext, 'database' | 'chains' | 'observe'>): Job {
  // Deposits in unlisted currencies are left out of later runs, so that they keep no other deposit from its
  // booking. Once the currency is configured again, the next start of the service books them.
  const unlisted = new Set<bigint>()
  return {
    name: 'lost-deposits',
    intervalMs,
    async run({ fence }) {
      await database.transaction(async (tx) => {
        await fence(tx)
        for (const deposit of await lockUnbooked(tx, [...unlisted])) {
          const { id, requestId, chainId, currency, amount } = deposit
          const chain = chains.get(chainId)?.chain
          const listedCurrency = chain && findCurrency(chain, currency)
          // Only listed currencies are paid for; this one has left the configuration since.
          if (listedCurrency === undefined) {
            unlisted.add(id)
            continue
          }
          const { address, symbol, name, decimals } = listedCurrency
          const asset = { chainId, address, symbol, name, decimals }
          const turn = deposit.turns + 1
          await bookLostDeposit(tx, { requestId, depositId: id, turn, asset, amount })
          await tx.query('update deposit_seen set loss_turns = $2 where id = $1', [id, turn])
          observe({ event: turn % 2 === 1 ? 'deposit_lost' : 'deposit_found', requestId })
        }
      })
    },
  }
}

type UnbookedDeposit = {
  readonly id: bigint
  readonly requestId: Hex
  readonly chainId: number
  readonly currency: string
  readonly amount: bigint
  readonly turns: number
}

/** Locks deposits whose booking differs from their present state. The first condition lets an index find them. */
async function lockUnbooked(tx: SqlTx, exceptIds: readonly bigint[]): Promise<readonly UnbookedDeposit[]> {
  const rows = await tx.query<{
    id: bigint
    request_id: Buffer
    chain_id: bigint
    currency: string
    amount: bigint
    loss_turns: number
  }>(
    `select id, request_id, chain_id, currency, amount, loss_turns from deposit_seen d
     where (state = 'orphaned' or loss_turns % 2 = 1) and (loss_turns % 2 = 1) <> ${isLostDeposit}
       and id <> all($1::bigint[])
     order by id limit ${depositsPerRun} for update`,
    [exceptIds],
  )
  return rows.map((row) => ({
    id: row.id,
    requestId: `0x${row.request_id.toString('hex')}`,
    chainId: Number(row.chain_id),
    currency: row.currency,
    amount: row.amount,
    turns: Number(row.loss_turns),
  }))
}
