import { createHash } from 'node:crypto'
import { z } from 'zod'
import {
  createLighterExchange,
  type LighterExchange,
  renderTransferInfo,
  startLighterNode,
} from '../standIns/lighter/index.ts'
import { lighterChainId, ownerlessAddress } from './familyPlans.ts'
import { openJournal } from './journal.ts'
import { lighterTransferFee } from './quotedFamilies.ts'
import { type FamilyStandIn, firstTimeMs, type StandInOptions } from './standIn.ts'

/** A transfer that the exchange took, or a deposit. */
const entrySchema = z.union([
  z.object({ transfer: z.object({ hash: z.string(), queuedAtMs: z.number().int(), info: z.string() }) }),
  z.object({ depositor: z.string(), units: z.string().regex(/^[0-9]+$/) }),
])

/** Opens the Lighter stand-in: the exchange's API over transfers of USDC, with checks of signatures and balances. */
export async function openLighter({
  port,
  depository,
  funding,
  journalFile,
  hashTransfer,
}: StandInOptions): Promise<FamilyStandIn> {
  const journal = openJournal(journalFile, entrySchema)
  const exchange = createLighterExchange({
    lighterChainId,
    ...(hashTransfer !== undefined && { hashTransfer: () => hashTransfer(lighterChainId) }),
    onTaken: (transfer) => journal.add({ transfer }),
  })
  exchange.transferFee = lighterTransferFee
  exchange.setAccount(depository, ownerlessAddress('lighter depository'))
  // The currency `0` is USDC in the perps part of an account.
  for (const { account, owner, amount } of funding?.lighter ?? [])
    exchange.setAccount(account, owner, { '0': BigInt(amount) })
  for (const entry of journal.kept) {
    if ('transfer' in entry) exchange.execute(entry.transfer)
    else listDeposit(exchange, depository, { ...entry, units: BigInt(entry.units) })
  }
  const node = await startLighterNode(port, exchange)
  node.setContract(ownerlessAddress('lighter contract'))
  return {
    url: node.url,
    stop: node.stop,
    async deposit(units, depositor) {
      const transactionId = depositIdOf(depositor)
      if (!exchange.transactions.has(transactionId)) {
        listDeposit(exchange, depository, { depositor, units })
        journal.add({ depositor, units: units.toString() })
      }
      return { transactionId }
    },
  }
}

const digestOf = (depositor: string): string =>
  createHash('sha512').update(`lighter ${depositor}`).digest('hex')

/** 40 bytes, as real ones have. */
const depositIdOf = (depositor: string): string => digestOf(depositor).slice(0, 80)

function listDeposit(
  exchange: LighterExchange,
  depository: string,
  { depositor, units }: { readonly depositor: string; readonly units: bigint },
): void {
  const account = BigInt(Number.parseInt(digestOf(depositor).slice(-8), 16))
  exchange.setAccount(account.toString(), ownerlessAddress(depositor))
  const queuedAtMs = BigInt(firstTimeMs)
  const info = renderTransferInfo({
    FromAccountIndex: account,
    ApiKeyIndex: 4n,
    ToAccountIndex: BigInt(depository),
    // USDC, from perps to perps.
    AssetIndex: 3n,
    FromRouteType: 0n,
    ToRouteType: 0n,
    Amount: units,
    USDCFee: 0n,
    Memo: new Array<number>(32).fill(0),
    ExpiredAt: queuedAtMs + 600_000n,
    Nonce: BigInt(exchange.transactions.size + 1),
  })
  const hash = depositIdOf(depositor)
  // Type 12 is a transfer, status 3 executed.
  exchange.transactions.set(hash, { hash, type: 12, status: 3, queuedAtMs, info })
}
